import { ActionIcon, Autocomplete, Group, NativeSelect, Select, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { consoleClient } from '../../console.ts';
import { useWorkspace } from '../../shell/workspace.ts';
import { useKnownAttributes } from './attributes.ts';
import type { AttributeNode, SegmentNode } from './filter-tree.ts';
import { choiceOf, dataTypes, isList, operatorChoices, withDataType, withOperator } from './operators.ts';
import { ValueField } from './value-field.tsx';

type RowProps<Node> = {
  node: Node;
  /** Names it by its place: "condition 2.1". */
  called: string;
  /** What the server says is wrong with it. */
  fault: string | undefined;
  onChanged: (node: Node) => void;
  onRemoved: () => void;
};

/** One condition on an attribute: what, how it is compared, and with what. */
export function AttributeRow({ node, called, fault, onChanged, onRemoved }: RowProps<AttributeNode>) {
  const known = useKnownAttributes();
  const of = `of ${called}`;
  const choose = (name: string) => {
    const type = known.find((attribute) => attribute.name === name)?.type;
    const named = { ...node, name };
    onChanged(type === undefined ? named : withDataType(named, type));
  };
  return (
    <Row called={called} fault={fault} onRemoved={onRemoved}>
      <Autocomplete
        aria-label={`Attribute ${of}`}
        placeholder="Attribute"
        flex="1 1 150px"
        maw={260}
        value={node.name}
        data={known.map(({ name }) => name)}
        limit={50}
        onChange={choose}
        maxLength={256}
      />
      <NativeSelect
        aria-label={`Type ${of}`}
        flex="0 1 108px"
        value={node.data_type}
        data={Object.entries(dataTypes).map(([value, label]) => ({ value, label }))}
        onChange={({ currentTarget: { value } }) => onChanged(withDataType(node, value))}
      />
      {isList(node.data_type) && (
        <NativeSelect
          aria-label={`Items ${of}`}
          flex="0 1 108px"
          value={node.array_filter_type ?? 'any_of'}
          data={[
            { value: 'any_of', label: 'any item' },
            { value: 'all_of', label: 'each item' },
          ]}
          onChange={({ currentTarget: { value } }) => onChanged({ ...node, array_filter_type: value })}
        />
      )}
      <NativeSelect
        aria-label={`Comparison ${of}`}
        flex="0 1 140px"
        value={choiceOf(node)}
        data={operatorChoices(node.data_type)}
        onChange={({ currentTarget: { value } }) => onChanged(withOperator(node, value))}
      />
      <ValueField node={node} of={of} onChanged={onChanged} />
    </Row>
  );
}

/** One condition on another segment. */
export function SegmentRow({ node, called, fault, onChanged, onRemoved }: RowProps<SegmentNode>) {
  const { id: workspaceId } = useWorkspace();
  const of = `of ${called}`;
  const { data } = useQuery({
    queryKey: ['segments', workspaceId],
    queryFn: () => consoleClient.segments.list(workspaceId),
  });
  const shown = (data?.segments ?? []).filter(({ id, state }) => id === node.id || state !== 'ARCHIVED');
  return (
    <Row called={called} fault={fault} onRemoved={onRemoved}>
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
    </Row>
  );
}

type FrameProps = { called: string; fault: string | undefined; onRemoved: () => void; children: React.ReactNode };

function Row({ called, fault, onRemoved, children }: FrameProps) {
  return (
    <div role="group" aria-label={`${called.charAt(0).toUpperCase()}${called.slice(1)}`}>
      <Group gap={6} wrap="nowrap" align="flex-start">
        <Group gap={6} flex={1} align="flex-start">
          {children}
        </Group>
        <ActionIcon variant="subtle" color="gray" size={36} aria-label={`Remove ${called}`} onClick={onRemoved}>
          <IconTrash size={16} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Group>
      {fault !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)" mt={4}>
          {fault}
        </Text>
      )}
    </div>
  );
}
