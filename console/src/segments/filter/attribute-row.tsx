import { ActionIcon, Autocomplete, Group, NativeSelect, Text } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import type { KnownAttribute } from '../../api/generated/segment-answers.ts';
import { useKnownAttributes } from './attributes.ts';
import type { AttributeNode } from './filter-tree.ts';
import { choiceOf, dataTypes, isList, operatorChoices, withDataType, withOperator } from './operators.ts';
import { ValueField } from './value-field.tsx';

export type RowProps<Node> = {
  node: Node;
  /** The condition's number: "condition 2.1". */
  called: string;
  /** The server's message about the condition. */
  fault: string | undefined;
  onChanged: (node: Node) => void;
  onRemoved: () => void;
};

/** A condition on an attribute of users: attribute, operator and value. */
export function AttributeRow(props: RowProps<AttributeNode>) {
  return <ConditionOn {...props} known={useKnownAttributes()} types={Object.keys(dataTypes)} />;
}

type ConditionOnProps = RowProps<AttributeNode> & {
  known: readonly KnownAttribute[];
  /** The data types that the server accepts. */
  types: readonly string[];
};

/** A condition on one of these attributes. */
export function ConditionOn({ node, called, fault, onChanged, onRemoved, known, types }: ConditionOnProps) {
  const of = `of ${called}`;
  const choose = (name: string) => {
    const type = known.find((attribute) => attribute.name === name)?.type;
    const named = { ...node, name };
    onChanged(type === undefined ? named : withDataType(named, type));
  };
  return (
    <ConditionFrame called={called} fault={fault} onRemoved={onRemoved}>
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
        data={types.map((type) => ({ value: type, label: dataTypes[type as keyof typeof dataTypes] }))}
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
    </ConditionFrame>
  );
}

type FrameProps = { called: string; fault: string | undefined; onRemoved: () => void; children: React.ReactNode };

/** A row of the builder, with the button that removes it and its fault. */
export function ConditionFrame({ called, fault, onRemoved, children }: FrameProps) {
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
