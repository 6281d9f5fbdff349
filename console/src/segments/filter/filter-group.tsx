import { ActionIcon, Button, Group, NativeSelect, Stack, Text } from '@mantine/core';
import { IconFolderPlus, IconPlus, IconTrash, IconUsersGroup } from '@tabler/icons-react';
import { AttributeRow, SegmentRow } from './condition-row.tsx';
import styles from './filter-group.module.css';
import { isGroup, newCondition, newGroup } from './filter-tree.ts';
import type { FilterGroup, FilterNode } from './filter-tree.ts';

type GroupProps = {
  group: FilterGroup;
  /** Whom it is about, before the choice: "People who match". */
  lead: string;
  /** What one of its conditions is called. */
  noun: 'condition' | 'exception';
  /** "" for the tree itself, "2." within its second condition. */
  place: string;
  /** What is wrong, by the server's path of the node: `filters[0].filters[1]`. */
  faults: Readonly<Record<string, string>>;
  path: string;
  onChanged: (group: FilterGroup) => void;
};

/** The server takes ten groups within each other; nobody reads as many. */
const maxShownDepth = 4;

const operators = {
  and: 'all of these',
  or: 'at least one of these',
  'not-or': 'none of these',
  'not-and': 'not all of these',
} as const;

/** Conditions that hold together, and groups of such within them. */
export function FilterGroupFields({ group, lead, noun, place, faults, path, onChanged }: GroupProps) {
  const { filters } = group;
  const depth = place.split('.').length;
  const replace = (index: number, node: FilterNode) => onChanged({ ...group, filters: filters.with(index, node) });
  const add = (node: FilterNode) => onChanged({ ...group, filters: [...filters, node] });
  const remove = (index: number) => {
    const left = filters.filter((_node, other) => other !== index);
    onChanged({ ...group, filters: left.length === 0 ? [newCondition()] : left });
  };
  const groupName = noun === 'condition' ? 'group' : 'group of exceptions';
  // Where it is clear, a button says what it does and no more.
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
          data={Object.entries(operators).map(([value, label]) => ({ value, label }))}
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
          // Conditions have no names of their own; what is typed stands in them, not in the fields.
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
          return node.filter_type === 'custom_segments' ? (
            <SegmentRow key={key} {...row} node={node} onChanged={(next) => replace(index, next)} />
          ) : (
            <AttributeRow key={key} {...row} node={node} onChanged={(next) => replace(index, next)} />
          );
        })}
      </Stack>
      <Group gap="xs">
        <AddButton label="Add condition" of={of} icon={IconPlus} onClick={() => add(newCondition())} />
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
