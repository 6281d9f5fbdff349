import { Checkbox, Stack, ActionIcon, Button, Group, NativeSelect, Text, Select } from '@mantine/core';
import { IconBolt, IconFolderPlus, IconPlus, IconTrash, IconUsersGroup } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../../console.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import styles from './filter-group.module.css';
import { ActionRow } from './action-row.tsx';
import { AttributeRow, ConditionFrame } from './attribute-row.tsx';
import type { RowProps } from './attribute-row.tsx';
import { newAction, newGroup, isGroup, newCondition } from './filter-tree.ts';
import type { BuiltTrees, FilterFault, FilterGroup, FilterNode, SegmentNode } from './filter-tree.ts';

type FilterEditorProps = {
  trees: BuiltTrees;
  /** The fault to show at its condition. */
  fault: FilterFault | undefined;
  onChanged: (trees: BuiltTrees) => void;
};

/** Edits the filters that include users and those that exclude some of them. */
export function FilterEditor({ trees, fault, onChanged }: FilterEditorProps) {
  const { included, excluded } = trees;
  const faultsOf = (field: FilterFault['field']) =>
    fault !== undefined && fault.field === field ? { [fault.path]: fault.words } : {};
  return (
    <Stack gap="lg">
      <FilterGroupFields
        group={included}
        lead="People who match"
        noun="condition"
        place=""
        path=""
        faults={faultsOf('included_filters')}
        onChanged={(next) => onChanged({ ...trees, included: next })}
      />
      <Checkbox
        label="Exclude people"
        checked={excluded !== undefined}
        onChange={({ currentTarget: { checked } }) =>
          onChanged({ ...trees, excluded: checked ? newGroup() : undefined })
        }
      />
      {excluded !== undefined && (
        <FilterGroupFields
          group={excluded}
          lead="Except people who match"
          noun="exception"
          place=""
          path=""
          faults={faultsOf('excluded_filters')}
          onChanged={(next) => onChanged({ ...trees, excluded: next })}
        />
      )}
    </Stack>
  );
}

type GroupProps = {
  group: FilterGroup;
  /** The label before the operator: "People who match". */
  lead: string;
  /** The name of a condition. */
  noun: 'condition' | 'exception';
  /** The prefix of the conditions' numbers: "" for the tree, "2." within its second condition. */
  place: string;
  /** Faults by the server's path of the node: `filters[0].filters[1]`. */
  faults: Readonly<Record<string, string>>;
  path: string;
  onChanged: (group: FilterGroup) => void;
};

/** The server accepts ten nested groups, but so many are not readable. */
const maxShownDepth = 4;

const groupOperators = {
  and: 'all of these',
  or: 'at least one of these',
  'not-or': 'none of these',
  'not-and': 'not all of these',
} as const;

/** A group of conditions and nested groups. */
function FilterGroupFields({ group, lead, noun, place, faults, path, onChanged }: GroupProps) {
  const { filters } = group;
  const depth = place.split('.').length;
  const replace = (index: number, node: FilterNode) => onChanged({ ...group, filters: filters.with(index, node) });
  const add = (node: FilterNode) => onChanged({ ...group, filters: [...filters, node] });
  const remove = (index: number) => {
    const left = filters.filter((_node, other) => other !== index);
    onChanged({ ...group, filters: left.length === 0 ? [newCondition()] : left });
  };
  const groupName = noun === 'condition' ? 'group' : 'group of exceptions';
  // The labels are short if the context is clear.
  const of =
    place === '' ? (noun === 'condition' ? '' : ' to the exceptions') : ` in ${groupName} ${place.slice(0, -1)}`;
  return (
    <Stack gap="sm">
      <Group gap={6}>
        <Text size="sm">{lead}</Text>
        <NativeSelect
          aria-label={place === '' ? lead : `${lead}${of}`}
          size="xs"
          w={190}
          value={`${group.negate === true ? 'not-' : ''}${group.filter_operator}`}
          data={Object.entries(groupOperators).map(([value, label]) => ({ value, label }))}
          onChange={({ currentTarget: { value } }) => {
            const { negate: _present, ...rest } = group;
            const operator = value.endsWith('and') ? 'and' : 'or';
            onChanged({ ...rest, filter_operator: operator, ...(value.startsWith('not-') ? { negate: true } : {}) });
          }}
        />
      </Group>
      <Stack gap="sm" className={styles.group}>
        {filters.map((node, index) => {
          const number = `${place}${index + 1}`;
          const ownPath = `${path}filters[${index}]`;
          // Conditions have no stable id. The typed values are in the tree, not in the fields.
          const key = `${number} ${isGroup(node) ? 'group' : node.filter_type}`;
          if (isGroup(node))
            return (
              <Group key={key} gap={6} wrap="nowrap" align="flex-start" className={styles.nested}>
                <div style={{ flex: 1, minWidth: 0 }}>
                  <FilterGroupFields
                    group={node}
                    lead="match"
                    noun={noun}
                    place={`${number}.`}
                    faults={faults}
                    path={`${ownPath}.`}
                    onChanged={(next) => replace(index, next)}
                  />
                </div>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  size={36}
                  aria-label={`Remove ${groupName} ${number}`}
                  onClick={() => remove(index)}
                >
                  <IconTrash size={16} stroke={1.6} aria-hidden />
                </ActionIcon>
              </Group>
            );
          const row = { called: `${noun} ${number}`, fault: faults[ownPath], onRemoved: () => remove(index) };
          if (node.filter_type === 'custom_segments')
            return <SegmentRow key={key} {...row} node={node} onChanged={(next) => replace(index, next)} />;
          if (node.filter_type === 'actions')
            return <ActionRow key={key} {...row} node={node} onChanged={(next) => replace(index, next)} />;
          return <AttributeRow key={key} {...row} node={node} onChanged={(next) => replace(index, next)} />;
        })}
      </Stack>
      <Group gap="xs">
        <AddButton label="Add condition" of={of} icon={IconPlus} onClick={() => add(newCondition())} />
        <AddButton label="Add event" of={of} icon={IconBolt} onClick={() => add(newAction())} />
        <AddButton
          label="Add segment"
          of={of}
          icon={IconUsersGroup}
          onClick={() => add({ filter_type: 'custom_segments', id: '' })}
        />
        {depth < maxShownDepth && (
          <AddButton
            label="Add group"
            of={of}
            icon={IconFolderPlus}
            onClick={() => add({ ...newGroup(), filter_type: 'nested_filters' })}
          />
        )}
      </Group>
    </Stack>
  );
}

type AddButtonProps = { label: string; of: string; icon: typeof IconPlus; onClick: () => void };

function AddButton({ label, of, icon: Icon, onClick }: AddButtonProps) {
  return (
    <Button
      size="compact-sm"
      variant="default"
      aria-label={`${label}${of}`}
      leftSection={<Icon size={14} stroke={1.6} aria-hidden />}
      onClick={onClick}
    >
      {label}
    </Button>
  );
}

/** A condition on another segment. */
function SegmentRow({ node, called, fault, onChanged, onRemoved }: RowProps<SegmentNode>) {
  const { id: workspaceId } = useWorkspace();
  const of = `of ${called}`;
  const { data } = useQuery({
    queryKey: ['segments', workspaceId],
    queryFn: () => consoleClient.segments.list(workspaceId),
  });
  const shown = (data?.segments ?? []).filter(({ id, state }) => id === node.id || state !== 'ARCHIVED');
  return (
    <ConditionFrame called={called} fault={fault} onRemoved={onRemoved}>
      <NativeSelect
        aria-label={`Comparison ${of}`}
        flex="0 1 180px"
        value={node.negate === true ? 'out' : 'in'}
        data={[
          { value: 'in', label: 'is in the segment' },
          { value: 'out', label: 'is not in the segment' },
        ]}
        onChange={({ currentTarget: { value } }) => {
          const { negate: _present, ...rest } = node;
          onChanged(value === 'out' ? { ...rest, negate: true } : rest);
        }}
      />
      <Select
        aria-label={`Segment ${of}`}
        placeholder="Choose a segment"
        flex="1 1 180px"
        searchable
        nothingFoundMessage="No matching segments"
        value={node.id === '' ? null : node.id}
        data={shown.map(({ id, name }) => ({ value: id, label: name }))}
        onChange={(id) => {
          const name = shown.find((segment) => segment.id === id)?.name;
          onChanged({ ...node, id: id ?? '', ...(name === undefined ? {} : { name }) });
        }}
      />
    </ConditionFrame>
  );
}
