import type { AttributeNode } from './filter-tree.ts';

/** The kinds of value fields. */
export type ValueKind = 'none' | 'texts' | 'numbers' | 'number' | 'range' | 'flag' | 'days' | 'time' | 'times' | 'span';

export type Operator = { operator: string; words: string; without: string; kind: ValueKind };

export const dataTypes = {
  string: 'Text',
  double: 'Number',
  bool: 'Yes or no',
  datetime: 'Date',
  array_string: 'List of texts',
  array_double: 'List of numbers',
} as const;

const exists: Operator = { operator: 'exists', words: 'has a value', without: 'has no value', kind: 'none' };
const texts = (operator: string, words: string, without: string): Operator => ({
  operator,
  words,
  without,
  kind: 'texts',
});
const numbers: readonly Operator[] = [
  { operator: 'in', words: 'equals', without: 'does not equal', kind: 'numbers' },
  { operator: 'greaterThan', words: 'is more than', without: 'is not more than', kind: 'number' },
  { operator: 'lessThan', words: 'is less than', without: 'is not less than', kind: 'number' },
  { operator: 'between', words: 'is between', without: 'is not between', kind: 'range' },
  exists,
];

/** The operators that the server accepts for each data type, each with its opposite (`negate`). */
const operators: Record<string, readonly Operator[]> = {
  string: [
    texts('in', 'is', 'is not'),
    texts('contains', 'contains', 'does not contain'),
    texts('startsWithInTheFollowing', 'starts with', 'does not start with'),
    texts('endsWithInTheFollowing', 'ends with', 'does not end with'),
    exists,
  ],
  double: numbers,
  bool: [{ operator: 'is', words: 'is', without: 'is not', kind: 'flag' }, exists],
  datetime: [
    { operator: 'inTheLast', words: 'in the last', without: 'not in the last', kind: 'days' },
    { operator: 'inTheNext', words: 'in the next', without: 'not in the next', kind: 'days' },
    { operator: 'today', words: 'is today', without: 'is not today', kind: 'none' },
    { operator: 'on', words: 'is on', without: 'is not on', kind: 'time' },
    { operator: 'before', words: 'is before', without: 'is not before', kind: 'time' },
    { operator: 'after', words: 'is after', without: 'is not after', kind: 'time' },
    { operator: 'between', words: 'is between', without: 'is not between', kind: 'span' },
    { operator: 'in', words: 'is one of', without: 'is none of', kind: 'times' },
    exists,
  ],
  array_string: [
    texts('in', 'is', 'is not'),
    texts('contains', 'contains', 'does not contain'),
    texts('startsWith', 'starts with', 'does not start with'),
    texts('endsWith', 'ends with', 'does not end with'),
    exists,
  ],
  array_double: numbers,
};

/** The contract has two spellings of some operators. */
const spellings: Record<string, string> = {
  containsInTheFollowing: 'contains',
  startWithInTheFollowing: 'startsWithInTheFollowing',
};

export function operatorsOf(dataType: string): readonly Operator[] {
  return operators[dataType] ?? operators.string!;
}

export function operatorOf({ data_type: dataType, operator }: AttributeNode): Operator {
  const all = operatorsOf(dataType);
  const spelled = spellings[operator] ?? (dataType !== 'bool' && operator === 'is' ? 'in' : operator);
  return all.find((one) => one.operator === spelled) ?? all[0]!;
}

const negated = '!';

/** The choices of operators, with their opposites last. */
export function operatorChoices(dataType: string): { value: string; label: string }[] {
  const all = operatorsOf(dataType);
  return [
    ...all.map(({ operator, words }) => ({ value: operator, label: words })),
    ...all.map(({ operator, without }) => ({ value: negated + operator, label: without })),
  ];
}

export function choiceOf(node: AttributeNode): string {
  return `${node.negate === true ? negated : ''}${operatorOf(node).operator}`;
}

/** Returns the condition with another operator. Values of the same kind stay. */
export function withOperator(node: AttributeNode, choice: string): AttributeNode {
  const operator = choice.replace(negated, '');
  const { negate: _negate, ...rest } = node;
  const next = { ...rest, operator, ...(choice.startsWith(negated) ? { negate: true } : {}) };
  return operatorOf(next).kind === operatorOf(node).kind ? next : withoutValues(next);
}

/** Returns the condition with another data type, which has other operators. */
export function withDataType(node: AttributeNode, dataType: string): AttributeNode {
  if (dataType === node.data_type) return node;
  const { case_sensitive: _case, array_filter_type: _quantifier, ...rest } = node;
  return withoutValues({ ...rest, data_type: dataType, operator: operatorsOf(dataType)[0]!.operator });
}

function withoutValues({ value: _value, value1: _value1, value_type: _type, ...rest }: AttributeNode): AttributeNode {
  return rest;
}

export function isList(dataType: string): boolean {
  return dataType.startsWith('array_');
}
