import { maxFilterDepth, maxFilterDays, maxFilters } from '../limits/segments.ts';
import { maxTriggerCount } from '../limits/campaigns.ts';
import { maxEventNameCharacters } from '../limits/users.ts';
import { FilterFault } from './filter-members.ts';
import type { FilterMembers } from './filter-members.ts';
import type { ActionFilter, ActionSpan, AttributeFilter, GroupFilter, SegmentFilter } from './filter.ts';

/** Members of a filter of type `actions` (fact 2.3). */
export const actionMembers = [
  ...['filter_type', 'action_name', 'executed', 'execution', 'attributes', 'primary_time_range'],
  ...['aggregation_attributes', 'project_name'],
];
const spanMembers = ['type', 'value', 'value1', 'value_type', 'period_unit'];
const executionMembers = ['type', 'count'];
const groupMembers = ['filter_operator', 'filters', 'category', 'negate', 'filter_type'];

/** How the parts of a tree are read; the walk counts and notes over the whole tree. */
export type ActionReading = {
  noteUnknown: (members: FilterMembers, known: readonly string[]) => void;
  countFilters: (filters: number) => void;
  readAttribute: (members: FilterMembers) => AttributeFilter;
  readTime: (members: FilterMembers, operator: 'on' | 'between' | 'before' | 'after') => ActionSpan;
};

/**
 * Parses a filter of type `actions` (fact 2.3): users who did something, this often, in this time. Options that would
 * change which users match, and are not supported here, are rejected by name. @throws FilterFault
 */
export function readActionFilter(members: FilterMembers, reading: ActionReading): ActionFilter {
  reading.noteUnknown(members, [...actionMembers, 'negate']);
  for (const name of ['aggregation_attributes', 'project_name'])
    if (!isEmpty(members.get(name))) members.refuseUnavailable(name);
  const eventName = readEventName(members);
  const attributes = members.get('attributes');
  return {
    kind: 'action',
    negate: members.flag('negate'),
    eventName,
    ...readExecution(members, reading),
    during: readSpan(members, reading),
    attributes: hasConditions(attributes) ? readEventAttributes(members.inner('attributes'), reading) : undefined,
  };
}

/** Reads an event name as it is stored: names are not normalised. */
export function readEventName(members: FilterMembers): string {
  members.text('action_name', maxEventNameCharacters * 4);
  const name = members.get('action_name') as string;
  if (name === '' || name.length > maxEventNameCharacters)
    throw members.fault('action_name', `must have 1 to ${maxEventNameCharacters} characters`);
  return name;
}

/** Reads `executed` and `execution`; without both, the event must have happened at least once. */
function readExecution(
  members: FilterMembers,
  { noteUnknown }: ActionReading,
): Pick<ActionFilter, 'compared' | 'count'> {
  const executed = members.get('executed') === undefined || members.flag('executed');
  if (isEmpty(members.get('execution')))
    return executed ? { compared: 'atleast', count: 1 } : { compared: 'exactly', count: 0 };
  const execution = members.inner('execution');
  noteUnknown(execution, executionMembers);
  const type = execution.get('type');
  if (type === 'firstTime' || type === 'lastTime')
    throw new FilterFault('unavailable', `${execution.pathOf('type')} "${type}" is not available in this service`);
  const compared = execution.choice('type', ['atleast', 'exactly', 'atmost']);
  const count = readWhole(execution, { name: 'count', min: 0, max: maxTriggerCount });
  if (!executed && (compared !== 'exactly' || count !== 0))
    throw members.fault('executed', 'must be true, or execution exactly 0');
  // "At least 0 times" would match every user.
  if (compared === 'atleast' && count === 0) throw execution.fault('count', 'must be at least 1 with the type atleast');
  return { compared, count };
}

const unitMilliseconds = {
  hours: 3_600_000,
  days: 86_400_000,
  weeks: 7 * 86_400_000,
  months: 30 * 86_400_000,
} as const;

/** Reads `primary_time_range`; without it, any stored event counts. */
function readSpan(members: FilterMembers, { noteUnknown, readTime }: ActionReading): ActionSpan | undefined {
  if (isEmpty(members.get('primary_time_range'))) return undefined;
  const range = members.inner('primary_time_range');
  noteUnknown(range, spanMembers);
  const type = range.choice('type', ['inTheLast', 'between', 'on', 'before', 'after']);
  if (type !== 'inTheLast') {
    range.refuse('period_unit', 'belongs to the type inTheLast');
    if (type !== 'between') range.refuse('value1', 'belongs to the type between');
    return readTime(range, type);
  }
  range.refuse('value1', 'belongs to the type between');
  if (range.get('value_type') !== undefined) range.choice('value_type', ['relative_past']);
  const unit = range.get('period_unit') === undefined ? 'days' : range.choice('period_unit', unitNames);
  const max = Math.floor((maxFilterDays * 86_400_000) / unitMilliseconds[unit]);
  const value = readWhole(range, { name: 'value', min: 1, max });
  return { operator: 'inTheLast', value, unit, milliseconds: value * unitMilliseconds[unit] };
}

const unitNames = ['hours', 'days', 'weeks', 'months'] as const;

function readWhole(members: FilterMembers, { name, min, max }: { name: string; min: number; max: number }): number {
  const value = members.get(name);
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
  throw members.fault(name, value === undefined ? 'is required' : `must be a whole number from ${min} to ${max}`);
}

/** Reads the attributes that an event must have: a tree of attribute filters. Its root is a level of its own. */
export function readEventAttributes(
  members: FilterMembers,
  reading: Pick<ActionReading, 'noteUnknown' | 'countFilters' | 'readAttribute'>,
  depth = 1,
): GroupFilter {
  if (depth > maxFilterDepth)
    throw new FilterFault('too-deep', `${members.path} is more than ${maxFilterDepth} levels deep`);
  reading.noteUnknown(members, groupMembers);
  const operator = members.choice('filter_operator', ['and', 'or']);
  const filters = members.get('filters');
  if (!Array.isArray(filters) || filters.length === 0)
    throw members.fault('filters', 'must be a list of at least one filter');
  if (filters.length > maxFilters) throw new FilterFault('too-long', `there must be at most ${maxFilters} filters`);
  reading.countFilters(filters.length);
  return {
    kind: 'group',
    operator,
    negate: members.flag('negate'),
    filters: members.list('filters').map((inner): SegmentFilter => {
      if (inner.get('filters') !== undefined) return readEventAttributes(inner, reading, depth + 1);
      return reading.readAttribute(inner);
    }),
  };
}

/** Clients send a tree without filters for "any attributes". */
function hasConditions(attributes: unknown): boolean {
  const { filters } = (attributes ?? {}) as { filters?: unknown };
  return !isEmpty(attributes) && !(Array.isArray(filters) && filters.length === 0);
}

export function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
