import { FilterFault, quote, toText } from './filter-members.ts';
import type { FilterMembers } from './filter-members.ts';
import { parseIsoTime } from './iso-time.ts';
import type { FilterTime } from './iso-time.ts';
import type { AttributeFilter, AttributeTest, FlagTest, NumberTest, TextTest, TimeTest } from './segment-filter.ts';
import { maxFilterDays, maxFilterTextBytes, maxFilterValues } from './limits.ts';
import { unknownCase } from '../unknown-case.ts';

/** Members of a filter of type `user_attributes` (fact 2.3). `category` is a label of the sender's own. */
export const attributeMembers = [
  ...['filter_type', 'name', 'data_type', 'operator', 'value', 'value1', 'negate', 'case_sensitive', 'category'],
  ...['value_type', 'extract_type', 'radius', 'array_filter_type', 'is_dynamic_value', 'dynamic_attribute_type'],
];

const maxName = 256;
const dataTypes = ['string', 'double', 'bool', 'datetime', 'array_string', 'array_double'] as const;
const unavailableTypes: readonly unknown[] = ['geopoint', 'object', 'array_object'];

/** The operators of texts and what they test; the sources spell one of them in two ways. */
const textOperators = { in: 'in', is: 'in', contains: 'contains', exists: 'exists' } as const;
const stringOperators = {
  ...textOperators,
  containsInTheFollowing: 'contains',
  startsWithInTheFollowing: 'startsWith',
  startWithInTheFollowing: 'startsWith',
  endsWithInTheFollowing: 'endsWith',
} as const;
const listOperators = { ...textOperators, startsWith: 'startsWith', endsWith: 'endsWith' } as const;
const numberOperators = ['in', 'lessThan', 'greaterThan', 'between', 'exists'] as const;
const timeOperators = [
  ...(['on', 'between', 'before', 'after', 'inTheLast', 'inTheNext', 'today', 'is', 'in', 'exists'] as const),
];

/**
 * Reads a filter of type `user_attributes` (fact 2.3). An option that would change who matches, and cannot here, is
 * refused; `case_sensitive` and `array_filter_type` may accompany types they do not apply to.
 *
 * @throws FilterFault
 */
export function readAttributeFilter(members: FilterMembers): AttributeFilter {
  for (const name of ['extract_type', 'radius', 'dynamic_attribute_type']) members.refuseUnavailable(name);
  if (members.flag('is_dynamic_value')) members.refuseUnavailable('is_dynamic_value');
  if (members.get('category') !== undefined) members.text('category', maxFilterTextBytes);
  const name = readName(members);
  return { kind: 'attribute', name, negate: members.flag('negate'), ...readTest(members) };
}

/** As it is stored: names are not normalised. */
function readName(members: FilterMembers): string {
  members.text('name', maxName * 4);
  const name = members.get('name') as string;
  if (name === '') throw members.fault('name', 'must not be empty');
  if (name.length <= maxName) return name;
  throw new FilterFault('too-long', `${members.pathOf('name')} must have at most ${maxName} characters`);
}

function readTest(members: FilterMembers): AttributeTest {
  if (unavailableTypes.includes(members.get('data_type')))
    throw new FilterFault(
      'unavailable',
      `${members.pathOf('data_type')} ${quote(members.get('data_type'))} is not available in this service`,
    );
  const dataType = members.choice('data_type', dataTypes);
  const quantifier =
    members.get('array_filter_type') === undefined
      ? 'any_of'
      : members.choice('array_filter_type', ['any_of', 'all_of']);
  const isCaseSensitive = members.flag('case_sensitive');
  if (members.get('operator') !== 'between') members.refuse('value1', 'belongs to the operator between');
  const valueType =
    members.get('value_type') === undefined
      ? undefined
      : members.choice('value_type', ['absolute', 'relative_past', 'relative_future']);
  if (dataType !== 'datetime' && (valueType ?? 'absolute') !== 'absolute')
    throw members.fault('value_type', 'belongs to the data type datetime');
  switch (dataType) {
    case 'string':
      return { dataType, test: readTextTest(members, { operators: stringOperators, isCaseSensitive }) };
    case 'array_string':
      return { dataType, quantifier, test: readTextTest(members, { operators: listOperators, isCaseSensitive }) };
    case 'double':
      return { dataType, test: readNumberTest(members) };
    case 'array_double':
      return { dataType, quantifier, test: readNumberTest(members) };
    case 'bool':
      return { dataType, test: readFlagTest(members) };
    case 'datetime':
      return { dataType, test: readTimeTest(members, valueType) };
    default:
      return unknownCase(dataType);
  }
}

type TextOperators = { operators: Record<string, TextTest['operator']>; isCaseSensitive: boolean };

function readTextTest(members: FilterMembers, { operators, isCaseSensitive }: TextOperators): TextTest {
  const operator = operators[members.choice('operator', Object.keys(operators))]!;
  if (operator === 'exists') return withoutValue(members, operator);
  const values = readValues(members).map((value) => {
    const text = toText(value, { path: members.pathOf('value'), maxBytes: maxFilterTextBytes });
    // Every text contains the empty text: a slip that would match every user.
    if (text === '' && operator !== 'in') throw members.fault('value', 'must not be empty');
    return text;
  });
  return { operator, values, isCaseSensitive };
}

function readNumberTest(members: FilterMembers): NumberTest {
  const operator = members.choice('operator', numberOperators);
  const toNumber = (name: string, value = members.get(name)): number => {
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    throw members.fault(name, value === undefined ? 'is required' : 'must be a finite number');
  };
  switch (operator) {
    case 'exists':
      return withoutValue(members, operator);
    case 'in':
      return { operator, values: readValues(members).map((value) => toNumber('value', value)) };
    case 'between': {
      const [lower, upper] = [toNumber('value'), toNumber('value1')];
      if (upper < lower) throw members.fault('value1', 'must not be below value');
      return { operator, lower, upper };
    }
    default:
      return { operator, value: toNumber('value') };
  }
}

function readFlagTest(members: FilterMembers): FlagTest {
  const operator = members.choice('operator', ['is', 'exists']);
  if (operator === 'exists') return withoutValue(members, operator);
  if (members.get('value') === undefined) throw members.fault('value', 'is required');
  return { operator, value: members.flag('value') };
}

function readTimeTest(members: FilterMembers, valueType: string | undefined): TimeTest {
  const operator = members.choice('operator', timeOperators);
  switch (operator) {
    case 'exists':
    case 'today':
      return withoutValue(members, operator);
    case 'inTheLast':
    case 'inTheNext': {
      const direction = operator === 'inTheLast' ? 'relative_past' : 'relative_future';
      if (valueType !== undefined && valueType !== direction)
        throw members.fault('value_type', `must be ${direction} with the operator ${operator}`);
      return { operator, days: toDays(members.get('value'), { members, name: 'value', fewest: 1 }) };
    }
    case 'is':
    case 'in':
      return { operator: 'in', values: readValues(members).map((value) => readTime(value, { members, valueType })) };
    case 'between':
      return readTimesBetween(members, valueType);
    default:
      return { operator, value: readTime(members.get('value'), { members, valueType }) };
  }
}

/**
 * Relative bounds are accepted in either order, because both are natural: "3 to 10 days ago" and "10 to 3 days ago".
 */
function readTimesBetween(members: FilterMembers, valueType: string | undefined): TimeTest {
  const lower = readTime(members.get('value'), { members, valueType });
  const upper = readTime(members.get('value1'), { members, valueType, name: 'value1' });
  if (lower.kind === 'relative' && upper.kind === 'relative') {
    return lower.days <= upper.days
      ? { operator: 'between', lower, upper }
      : { operator: 'between', lower: upper, upper: lower };
  }
  if (startOf(upper) < startOf(lower)) throw members.fault('value1', 'must not be before value');
  return { operator: 'between', lower, upper };
}

function startOf(time: FilterTime): number {
  return time.kind === 'instant' ? time.at.getTime() : time.kind === 'day' ? time.startsAt.getTime() : time.days;
}

type TimeMember = { members: FilterMembers; valueType: string | undefined; name?: 'value' | 'value1' };

function readTime(value: unknown, { members, valueType, name = 'value' }: TimeMember): FilterTime {
  if (valueType === 'relative_past' || valueType === 'relative_future') {
    const days = toDays(value, { members, name, fewest: 0 });
    return { kind: 'relative', days: valueType === 'relative_past' && days > 0 ? -days : days };
  }
  const time = typeof value === 'string' ? parseIsoTime(value) : undefined;
  if (time !== undefined) return time;
  throw members.fault(name, value === undefined ? 'is required' : 'must be an ISO 8601 date or time');
}

function toDays(
  value: unknown,
  { members, name, fewest }: { members: FilterMembers; name: string; fewest: number },
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= fewest && value <= maxFilterDays)
    return value === 0 ? 0 : value;
  const reason = `must be a whole number of days from ${fewest} to ${maxFilterDays}`;
  throw members.fault(name, value === undefined ? 'is required' : reason);
}

/** One value, or a list of at least one. */
function readValues(members: FilterMembers): unknown[] {
  const value = members.get('value');
  if (value === undefined) throw members.fault('value', 'is required');
  if (!Array.isArray(value)) return [value];
  if (value.length === 0) throw members.fault('value', 'must hold at least one value');
  if (value.length > maxFilterValues)
    throw new FilterFault('too-long', `${members.pathOf('value')} must hold at most ${maxFilterValues} values`);
  return value;
}

function withoutValue<Operator extends string>(members: FilterMembers, operator: Operator): { operator: Operator } {
  members.refuse('value', `must be absent with the operator ${operator}`);
  return { operator };
}
