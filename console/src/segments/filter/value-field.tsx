import { ActionIcon, Group, NativeSelect, NumberInput, TagsInput, Text, TextInput, Tooltip } from '@mantine/core';
import { IconLetterCase } from '@tabler/icons-react';
import { useState } from 'react';
import { useKnownAttributes, useSuggestedValues } from './attributes.ts';
import type { AttributeNode } from './filter-tree.ts';
import { operatorOf } from './operators.ts';

type ValueFieldProps = {
  node: AttributeNode;
  /** The end of the accessible name: "of condition 2.1". */
  of: string;
  onChanged: (node: AttributeNode) => void;
};

/** The value of a condition, by the kind of its operator. */
export function ValueField(props: ValueFieldProps) {
  const { node, of, onChanged } = props;
  switch (operatorOf(node).kind) {
    case 'none':
      return null;
    case 'texts':
      return <Texts {...props} />;
    case 'numbers':
      return <Numbers {...props} />;
    case 'number':
      return <OneNumber {...props} member="value" label={`Value ${of}`} />;
    case 'range':
      return (
        <Group gap={6} wrap="nowrap">
          <OneNumber {...props} member="value" label={`Lower value ${of}`} />
          <Text size="sm">and</Text>
          <OneNumber {...props} member="value1" label={`Upper value ${of}`} />
        </Group>
      );
    case 'flag':
      return (
        <NativeSelect
          aria-label={`Value ${of}`}
          w={110}
          value={node.value === undefined ? '' : String(node.value)}
          data={[
            { value: '', label: 'Choose' },
            { value: 'true', label: 'yes' },
            { value: 'false', label: 'no' },
          ]}
          onChange={({ currentTarget: { value } }) =>
            onChanged({ ...node, value: value === '' ? undefined : value === 'true' })
          }
        />
      );
    case 'days':
      return (
        <Group gap={6} wrap="nowrap">
          <OneNumber {...props} member="value" label={`Days ${of}`} isDays />
          <Text size="sm">days</Text>
        </Group>
      );
    case 'time':
      return <Time {...props} />;
    case 'times':
      return <Dates {...props} />;
    case 'span':
      return <Time {...props} isSpan />;
  }
}

function listOf(value: unknown): string[] {
  if (value === undefined) return [];
  return (Array.isArray(value) ? value : [value]).map(String);
}

function Texts({ node, of, onChanged }: ValueFieldProps) {
  const [typed, setTyped] = useState('');
  const attribute = useKnownAttributes().find(({ name }) => name === node.name);
  const suggested = useSuggestedValues(attribute, typed);
  const chosen = listOf(node.value);
  const isExact = node.case_sensitive === true;
  return (
    <Group gap={4} wrap="nowrap" align="flex-start" flex="2 1 165px">
      <TagsInput
        flex={1}
        aria-label={`Values ${of}`}
        placeholder={chosen.length === 0 ? 'Type and press Enter' : ''}
        value={chosen}
        data={suggested.filter((value) => !chosen.includes(value))}
        searchValue={typed}
        onSearchChange={setTyped}
        onChange={(values) => onChanged({ ...node, value: values.length === 0 ? undefined : values })}
        acceptValueOnBlur
        maxTags={1000}
        limit={20}
      />
      <Tooltip label={isExact ? 'Case matters' : 'Case does not matter'}>
        <ActionIcon
          size={36}
          variant={isExact ? 'filled' : 'default'}
          aria-label={`Match case ${of}`}
          aria-pressed={isExact}
          onClick={() => {
            const { case_sensitive: _present, ...rest } = node;
            onChanged(isExact ? rest : { ...rest, case_sensitive: true });
          }}
        >
          <IconLetterCase size={18} stroke={1.6} aria-hidden />
        </ActionIcon>
      </Tooltip>
    </Group>
  );
}

function Numbers({ node, of, onChanged }: ValueFieldProps) {
  const attribute = useKnownAttributes().find(({ name }) => name === node.name);
  const chosen = listOf(node.value);
  return (
    <TagsInput
      flex="2 1 150px"
      aria-label={`Values ${of}`}
      placeholder={chosen.length === 0 ? 'Type and press Enter' : ''}
      value={chosen}
      data={(attribute?.values ?? []).filter((value) => isNumber(value) && !chosen.includes(value))}
      onChange={(values) => {
        const numbers = values.filter(isNumber).map(Number);
        onChanged({ ...node, value: numbers.length === 0 ? undefined : numbers });
      }}
      acceptValueOnBlur
      splitChars={[',', ' ']}
      limit={20}
    />
  );
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && Number.isFinite(Number(text));
}

type OneNumberProps = ValueFieldProps & { member: 'value' | 'value1'; label: string; isDays?: boolean };

function OneNumber({ node, onChanged, member, label, isDays = false }: OneNumberProps) {
  const value = node[member];
  return (
    <NumberInput
      aria-label={label}
      w={isDays ? 90 : 130}
      {...(isDays ? { min: 1, max: 36_500, allowDecimal: false, allowNegative: false } : {})}
      value={typeof value === 'number' ? value : ''}
      onChange={(next) => onChanged({ ...node, [member]: typeof next === 'number' ? next : undefined })}
    />
  );
}

const timeKinds = [
  { value: 'absolute', label: 'the date' },
  { value: 'relative_past', label: 'days ago' },
  { value: 'relative_future', label: 'days from today' },
];

function Time({ node, of, onChanged, isSpan = false }: ValueFieldProps & { isSpan?: boolean }) {
  const kind = node.value_type ?? 'absolute';
  const isRelative = kind !== 'absolute';
  const field = (member: 'value' | 'value1', label: string) =>
    isRelative ? (
      <OneNumber node={node} of={of} onChanged={onChanged} member={member} label={label} isDays />
    ) : (
      <DateField label={label} value={node[member]} onChanged={(value) => onChanged({ ...node, [member]: value })} />
    );
  const kindSelect = (
    <NativeSelect
      aria-label={`Kind of date ${of}`}
      w={150}
      value={kind}
      data={timeKinds}
      onChange={({ currentTarget: { value } }) => {
        const { value: _value, value1: _value1, value_type: _type, ...rest } = node;
        onChanged(value === 'absolute' ? rest : { ...rest, value_type: value });
      }}
    />
  );
  return (
    <Group gap={6}>
      {!isRelative && kindSelect}
      {field('value', isSpan ? `First date ${of}` : `Date ${of}`)}
      {isSpan && <Text size="sm">and</Text>}
      {isSpan && field('value1', `Last date ${of}`)}
      {isRelative && kindSelect}
    </Group>
  );
}

const day = /^\d{4}-\d{2}-\d{2}$/;

/** A date. A value to the second, from another client, is shown as it was stored. */
function DateField({ label, value, onChanged }: { label: string; value: unknown; onChanged: (next?: string) => void }) {
  const text = typeof value === 'string' ? value : '';
  return (
    <TextInput
      type={text === '' || day.test(text) ? 'date' : 'text'}
      aria-label={label}
      w={160}
      value={text}
      onChange={({ currentTarget: { value: next } }) => onChanged(next === '' ? undefined : next)}
    />
  );
}

function Dates({ node, of, onChanged }: ValueFieldProps) {
  return (
    <TagsInput
      flex="2 1 150px"
      aria-label={`Dates ${of}`}
      placeholder="YYYY-MM-DD"
      value={listOf(node.value)}
      onChange={(values) => onChanged({ ...node, value: values.length === 0 ? undefined : values })}
      acceptValueOnBlur
      splitChars={[',', ' ']}
    />
  );
}
