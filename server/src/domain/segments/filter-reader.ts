import { isId } from '../ids.ts';
import {
  maxFilterDepth,
  maxFilters,
  maxFilterSegments,
  maxFilterTextBytes,
  maxFilterDays,
  maxFilterValues,
} from '../limits/segments.ts';
import { findUnstorable, unstorable } from '../storable-text.ts';
import { parseIsoTime } from '../timing/iso-time.ts';
import type { FilterTime } from '../timing/iso-time.ts';
import { unknownCase } from '../unknown-case.ts';
import { readActionFilter } from './action-reader.ts';
import type { ActionReading } from './action-reader.ts';
import { FilterFault, FilterMembers, quote, toText } from './filter-members.ts';
import type { FilterFaultCode } from './filter-members.ts';
import { expandSegmentFilter } from './filter.ts';
import type {
  GroupFilter,
  SegmentFilter,
  SegmentReference,
  AttributeFilter,
  AttributeTest,
  FlagTest,
  NumberTest,
  TextTest,
  TimeTest,
  FilterTrees,
} from './filter.ts';

export type SegmentFilterFault = { code: FilterFaultCode; reason: string };

export type ParsedSegmentFilter = { filter: GroupFilter; unknownFields: string[] } | { fault: SegmentFilterFault };

type Walk = { filters: number; segments: number; unknownFields: string[] };

const groupMembers = ['filter_type', 'filter_operator', 'filters', 'negate'];
const referenceMembers = ['filter_type', 'id', 'name', 'negate'];
const filterTypes = ['user_attributes', 'actions', 'custom_segments', 'nested_filters'] as const;
const unavailableFilterTypes: readonly unknown[] = ['psychographic_event'];
const maxUnknownFields = 20;

/**
 * Parses `included_filters` or `excluded_filters` (fact 2.3). Limits: 10 levels of groups, the tree itself being the
 * first; 100 filters, including groups; 20 references to segments. An unsupported option is rejected by name, never
 * ignored. Unknown fields are returned, at most 20, for the warning (decision D5).
 */
export function parseSegmentFilter(tree: unknown): ParsedSegmentFilter {
  const walk: Walk = { filters: 0, segments: 0, unknownFields: [] };
  try {
    const members = new FilterMembers(tree, '');
    if (members.get('filter_type') !== undefined) members.choice('filter_type', ['nested_filters']);
    const filter = readGroup(members, { walk, depth: 1 });
    // The tree is stored as received, including unknown fields.
    const place = findUnstorable(tree);
    if (place !== undefined) throw new FilterFault('invalid', `${place || 'the tree'} ${unstorable}`);
    return { filter, unknownFields: walk.unknownFields };
  } catch (error) {
    if (error instanceof FilterFault) return { fault: { code: error.code, reason: error.message } };
    throw error;
  }
}

type Place = { walk: Walk; depth: number };

function readGroup(members: FilterMembers, { walk, depth }: Place): GroupFilter {
  // This check comes first, so that a tree that refers to itself ends here.
  if (depth > maxFilterDepth)
    throw new FilterFault('too-deep', `${members.path} is more than ${maxFilterDepth} levels deep`);
  noteUnknown(members, { walk, known: groupMembers });
  const operator = members.choice('filter_operator', ['and', 'or']);
  const filters = members.get('filters');
  // "All of nothing" would match every user.
  if (!Array.isArray(filters) || filters.length === 0)
    throw members.fault('filters', 'must be a list of at least one filter');
  countFilters(walk, filters.length);
  return {
    kind: 'group',
    operator,
    negate: members.flag('negate'),
    filters: Array.from(filters as unknown[], (filter, index) =>
      readFilter(new FilterMembers(filter, `${members.pathOf('filters')}[${index}]`), { walk, depth: depth + 1 }),
    ),
  };
}

function readFilter(members: FilterMembers, place: Place): SegmentFilter {
  const type = members.get('filter_type');
  if (unavailableFilterTypes.includes(type))
    throw new FilterFault(
      'unavailable',
      `${members.pathOf('filter_type')} ${quote(type)} is not available in this service`,
    );
  const known = members.choice('filter_type', filterTypes);
  switch (known) {
    case 'nested_filters':
      return readGroup(members, place);
    case 'custom_segments':
      return readReference(members, place.walk);
    case 'user_attributes':
      noteUnknown(members, { walk: place.walk, known: attributeMembers });
      return readAttributeFilter(members);
    case 'actions':
      return readActionFilter(members, readingOf(place.walk));
    default:
      return unknownCase(known);
  }
}

/** The parts of action filters that are read like those of other filters. */
function readingOf(walk: Walk): ActionReading {
  return {
    noteUnknown: (members, known) => noteUnknown(members, { walk, known }),
    countFilters: (filters) => countFilters(walk, filters),
    readAttribute(members) {
      noteUnknown(members, { walk, known: attributeMembers });
      if (members.get('filter_type') !== undefined) members.choice('filter_type', ['user_attributes']);
      const filter = readAttributeFilter(members);
      // A cluster evaluates no list inside the look-up of an event.
      if ('quantifier' in filter)
        throw new FilterFault(
          'unavailable',
          `${members.pathOf('data_type')} ${quote(filter.dataType)} is not available for attributes of events`,
        );
      return filter;
    },
    readTime(members, operator) {
      const valueType =
        members.get('value_type') === undefined
          ? undefined
          : members.choice('value_type', ['absolute', 'relative_past']);
      if (operator === 'between')
        return readTimesBetween(members, valueType) as Extract<TimeTest, { operator: 'between' }>;
      return { operator, value: readTime(members.get('value'), { members, valueType }) };
    },
  };
}

function countFilters(walk: Walk, filters: number): void {
  walk.filters += filters;
  if (walk.filters > maxFilters) throw new FilterFault('too-long', `there must be at most ${maxFilters} filters`);
}

/** Only the id is used; the name is a label (fact 2.3). */
function readReference(members: FilterMembers, walk: Walk): SegmentReference {
  noteUnknown(members, { walk, known: referenceMembers });
  walk.segments += 1;
  if (walk.segments > maxFilterSegments)
    throw new FilterFault('too-many-segments', `there must be at most ${maxFilterSegments} segments`);
  if (members.get('name') !== undefined) members.text('name', maxFilterTextBytes);
  const id = members.text('id', maxFilterTextBytes);
  if (!isId(id)) throw members.fault('id', 'must be the id of a segment');
  return { kind: 'segment', id, negate: members.flag('negate') };
}

function noteUnknown(members: FilterMembers, { walk, known }: { walk: Walk; known: readonly string[] }): void {
  walk.unknownFields.push(...members.unknown(known).slice(0, maxUnknownFields - walk.unknownFields.length));
}

/** Members of a filter of type `user_attributes` (fact 2.3). `category` is the sender's own label. */
export const attributeMembers = [
  ...['filter_type', 'name', 'data_type', 'operator', 'value', 'value1', 'negate', 'case_sensitive', 'category'],
  ...['value_type', 'extract_type', 'radius', 'array_filter_type', 'is_dynamic_value', 'dynamic_attribute_type'],
];

const maxName = 256;
const dataTypes = ['string', 'double', 'bool', 'datetime', 'array_string', 'array_double'] as const;
const unavailableDataTypes: readonly unknown[] = ['geopoint', 'object', 'array_object'];

/** The operators for texts and their tests; the sources spell one of them in two ways. */
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
 * Parses a filter of type `user_attributes` (fact 2.3). An option that would change which users match, but is not
 * supported here, is rejected. `case_sensitive` and `array_filter_type` may accompany types to which they do not apply.
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

/** Returns the name as it is stored: names are not normalised. */
function readName(members: FilterMembers): string {
  members.text('name', maxName * 4);
  const name = members.get('name') as string;
  if (name === '') throw members.fault('name', 'must not be empty');
  if (name.length <= maxName) return name;
  throw new FilterFault('too-long', `${members.pathOf('name')} must have at most ${maxName} characters`);
}

function readTest(members: FilterMembers): AttributeTest {
  if (unavailableDataTypes.includes(members.get('data_type')))
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
    // Every text contains the empty text, so this mistake would match every user.
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

/** Relative bounds are accepted in either order, because both are natural: "3 to 10 days ago" and "10 to 3 days ago". */
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

export type StoredFilters = { includedFilters: unknown; excludedFilters: unknown };

/** Parses the trees of a stored filter segment. The same parser accepted them, so a fault is unexpected. */
export function parseStoredFilters({ includedFilters, excludedFilters }: StoredFilters): FilterTrees {
  return {
    included: parseStored(includedFilters),
    excluded: excludedFilters === null ? undefined : parseStored(excludedFilters),
  };
}

/**
 * Returns a stored filter segment as the database evaluates it, with references to filter segments replaced by their
 * trees.
 *
 * @param referenced every segment that it refers to, directly or not
 * @throws SegmentExpansionError
 */
export function expandStoredFilters(
  segment: StoredFilters,
  referenced: readonly (StoredFilters & { id: string; kind: string })[],
): { included: SegmentFilter; excluded: SegmentFilter | undefined } {
  const treesOf = new Map(
    referenced.filter(({ kind }) => kind === 'FILTER').map((other) => [other.id, parseStoredFilters(other)]),
  );
  const { included, excluded } = parseStoredFilters(segment);
  return {
    included: expandSegmentFilter(included, treesOf),
    excluded: excluded && expandSegmentFilter(excluded, treesOf),
  };
}

function parseStored(tree: unknown): GroupFilter {
  const parsed = parseSegmentFilter(tree);
  if ('fault' in parsed) throw new Error(`a stored filter cannot be read: ${parsed.fault.reason}`);
  return parsed.filter;
}
