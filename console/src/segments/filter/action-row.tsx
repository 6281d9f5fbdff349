import { Autocomplete, Button, Group, NativeSelect, NumberInput, Stack, Text } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { ConditionFrame, ConditionOn } from './attribute-row.tsx';
import type { RowProps } from './attribute-row.tsx';
import { useEventNames } from './attributes.ts';
import styles from './filter-group.module.css';
import { isGroup, newCondition } from './filter-tree.ts';
import type { ActionNode, AttributeNode, FilterGroup, TimeRange } from './filter-tree.ts';
import { ValueField } from './value-field.tsx';

/** Types of event attributes that the server accepts. */
const eventTypes = ['string', 'double', 'bool', 'datetime'];

/** A condition on what users did: the event, how often, when, and with which attributes. */
export function ActionRow({ node, called, fault, onChanged, onRemoved }: RowProps<ActionNode>) {
  const names = useEventNames();
  const of = `of ${called}`;
  return (
    <ConditionFrame called={called} fault={fault} onRemoved={onRemoved}>
      <NativeSelect
        aria-label={`Did or did not ${of}`}
        flex="0 1 110px"
        value={node.executed ? 'did' : 'not'}
        data={[
          { value: 'did', label: 'did' },
          { value: 'not', label: 'did not do' },
        ]}
        onChange={({ currentTarget: { value } }) => onChanged(withExecuted(node, value === 'did'))}
      />
      <Autocomplete
        aria-label={`Event ${of}`}
        placeholder="Event"
        flex="1 1 150px"
        maw={260}
        value={node.action_name}
        data={names}
        limit={50}
        maxLength={256}
        onChange={(action_name) => onChanged({ ...node, action_name })}
      />
      {node.executed && <Times node={node} of={of} onChanged={onChanged} />}
      <When node={node} of={of} onChanged={onChanged} />
      <With node={node} called={called} onChanged={onChanged} />
    </ConditionFrame>
  );
}

function withExecuted(node: ActionNode, executed: boolean): ActionNode {
  return { ...node, executed, execution: executed ? { type: 'atleast', count: 1 } : { type: 'exactly', count: 0 } };
}

type PartProps = { node: ActionNode; of: string; onChanged: (node: ActionNode) => void };

function Times({ node, of, onChanged }: PartProps) {
  const { type, count } = node.execution ?? { type: 'atleast', count: 1 };
  return (
    <Group gap={6} wrap="nowrap">
      <NativeSelect
        aria-label={`How often ${of}`}
        w={110}
        value={type}
        data={[
          { value: 'atleast', label: 'at least' },
          { value: 'exactly', label: 'exactly' },
          { value: 'atmost', label: 'at most' },
        ]}
        onChange={({ currentTarget: { value } }) => onChanged({ ...node, execution: { type: value, count } })}
      />
      <NumberInput
        aria-label={`Times ${of}`}
        w={72}
        min={type === 'atleast' ? 1 : 0}
        max={1_000}
        allowDecimal={false}
        allowNegative={false}
        value={count ?? ''}
        onChange={(next) =>
          onChanged({ ...node, execution: { type, count: typeof next === 'number' ? next : undefined } })
        }
      />
      <Text size="sm">{count === 1 ? 'time' : 'times'}</Text>
    </Group>
  );
}

const whens = [
  { value: 'inTheLast', label: 'in the last' },
  { value: 'any', label: 'at any time' },
  { value: 'after', label: 'after' },
  { value: 'before', label: 'before' },
  { value: 'on', label: 'on' },
  { value: 'between', label: 'between' },
];

function When({ node, of, onChanged }: PartProps) {
  const range = node.primary_time_range;
  const change = (next: TimeRange | undefined) => {
    const { primary_time_range: _present, ...rest } = node;
    onChanged(next === undefined ? rest : { ...rest, primary_time_range: next });
  };
  return (
    <Group gap={6}>
      <NativeSelect
        aria-label={`When ${of}`}
        w={130}
        value={range?.type ?? 'any'}
        data={whens}
        onChange={({ currentTarget: { value } }) => change(newRange(value))}
      />
      {range?.type === 'inTheLast' && <Last range={range} of={of} onChanged={change} />}
      {range !== undefined && range.type !== 'inTheLast' && (
        <ValueField
          node={asDate(range)}
          of={of}
          onChanged={({ value, value1, value_type }) =>
            change({
              type: range.type,
              value,
              ...(value1 !== undefined && { value1 }),
              ...(value_type !== undefined && { value_type }),
            })
          }
        />
      )}
    </Group>
  );
}

function newRange(type: string): TimeRange | undefined {
  if (type === 'any') return undefined;
  return type === 'inTheLast' ? { type, value: 7, period_unit: 'days' } : { type };
}

/** A time range in the form of a condition on a date, whose fields it has. */
function asDate({ type, period_unit: _unit, ...values }: TimeRange): AttributeNode {
  return { filter_type: 'user_attributes', name: '', data_type: 'datetime', operator: type, ...values };
}

type LastProps = { range: TimeRange; of: string; onChanged: (range: TimeRange) => void };

function Last({ range, of, onChanged }: LastProps) {
  return (
    <Group gap={6} wrap="nowrap">
      <NumberInput
        aria-label={`Length of time ${of}`}
        w={72}
        min={1}
        allowDecimal={false}
        allowNegative={false}
        value={typeof range.value === 'number' ? range.value : ''}
        onChange={(next) => onChanged({ ...range, value: typeof next === 'number' ? next : undefined })}
      />
      <NativeSelect
        aria-label={`Unit of time ${of}`}
        w={100}
        value={range.period_unit ?? 'days'}
        data={['hours', 'days', 'weeks', 'months']}
        onChange={({ currentTarget: { value } }) => onChanged({ ...range, period_unit: value })}
      />
    </Group>
  );
}

/** The attributes that the event must have. Trees of another client that have nested groups stay as they are. */
function With({
  node,
  called,
  onChanged,
}: {
  node: ActionNode;
  called: string;
  onChanged: (node: ActionNode) => void;
}) {
  const { attributes, ...rest } = node;
  const filters = attributes?.filters ?? [];
  const change = (next: FilterGroup['filters']) =>
    onChanged(
      next.length === 0 ? rest : { ...rest, attributes: { filter_operator: 'and', ...attributes, filters: next } },
    );
  return (
    <Stack gap="xs" w="100%" className={filters.length > 0 ? styles.group! : ''}>
      {filters.map((condition, index) =>
        isGroup(condition) || condition.filter_type !== 'user_attributes' ? (
          <Text key={index} size="sm">
            A group of attributes, which this screen does not edit.
          </Text>
        ) : (
          <ConditionOn
            key={index}
            node={condition}
            called={`attribute ${index + 1} of ${called}`}
            fault={undefined}
            known={[]}
            types={eventTypes}
            onChanged={(next) => change(filters.with(index, next))}
            onRemoved={() => change(filters.filter((_one, other) => other !== index))}
          />
        ),
      )}
      <Button
        size="compact-xs"
        variant="subtle"
        w="fit-content"
        aria-label={`Add attribute to ${called}`}
        leftSection={<IconPlus size={12} aria-hidden />}
        onClick={() => change([...filters, newCondition()])}
      >
        Add attribute
      </Button>
    </Stack>
  );
}
