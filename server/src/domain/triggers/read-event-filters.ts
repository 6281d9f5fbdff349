import { FilterFault, FilterMembers, quote } from '../segments/filter-members.ts';
import { attributeMembers, readAttributeFilter } from '../segments/read-attribute-filter.ts';
import type { GroupFilter, SegmentFilter } from '../segments/segment-filter.ts';
import { findUnstorable, unstorable } from '../storable-text.ts';
import { maxEventNameCharacters } from '../events/limits.ts';
import { maxFilterDepth, maxFilters } from '../segments/limits.ts';
import { maxTriggerCount, maxTriggerFilters } from './limits.ts';
import type { CountFilter } from './trigger-condition.ts';

/** The filters of a tree, each with how often the event is to happen; `compared` and `count` as they were sent. */
export type EventFilters = { operator: 'and' | 'or'; filters: CountFilter[]; unknownFields: string[] };

/** `primary`: one event, which is here now. `secondary`: those of a span, counted. */
export type EventFilterKind = 'primary' | 'secondary';

type Walk = { kind: EventFilterKind; unknownFields: string[]; filters: number };

const treeMembers = ['filter_type', 'filter_operator', 'filters'];
const actionMembers = [
  ...['filter_type', 'action_name', 'executed', 'execution', 'attributes', 'primary_time_range'],
  ...['aggregation_attributes', 'project_name'],
];
const groupMembers = ['filter_operator', 'filters', 'category', 'negate', 'filter_type'];

/**
 * Reads `included_filters` or `secondary_included_filters` of a trigger (fact 6.2): a list of filters of type `actions`
 * (fact 2.3). What would change who gets it and cannot here is refused by name.
 */
export function readEventFilters(tree: unknown, kind: EventFilterKind): EventFilters | { fault: string } {
  const walk: Walk = { kind, unknownFields: [], filters: 0 };
  try {
    const members = new FilterMembers(tree, '');
    const operator = members.choice('filter_operator', ['and', 'or']);
    const sent = members.get('filters');
    if (!Array.isArray(sent) || sent.length === 0)
      throw members.fault('filters', 'must be a list of at least one filter');
    if (sent.length > maxTriggerFilters)
      throw members.fault('filters', `must hold at most ${maxTriggerFilters} filters`);
    if (kind === 'primary' && operator === 'and' && sent.length > 1)
      throw members.fault('filter_operator', 'must be or: one event is never several');
    walk.unknownFields.push(...members.unknown(treeMembers));
    const filters = Array.from(sent as unknown[], (item, index) =>
      readAction(new FilterMembers(item, `filters[${index}]`), walk),
    );
    const place = findUnstorable(tree);
    if (place !== undefined) throw new FilterFault('invalid', `${place || 'the tree'} ${unstorable}`);
    return { operator, filters, unknownFields: walk.unknownFields };
  } catch (error) {
    if (error instanceof FilterFault) return { fault: error.message };
    throw error;
  }
}

function readAction(members: FilterMembers, walk: Walk): CountFilter {
  const type = members.get('filter_type');
  if (type !== 'actions')
    throw members.fault(
      'filter_type',
      `must be actions, not ${quote(type)}: filters of users are in segmentation_details`,
    );
  walk.unknownFields.push(...members.unknown(actionMembers));
  members.refuse('aggregation_attributes', 'is not available in this version');
  members.refuse('project_name', 'is not available in this version');
  members.refuse('primary_time_range', 'must be absent: the time is that of the trigger');
  const eventName = readEventName(members);
  const attributes = members.get('attributes');
  return {
    eventName,
    attributes: isEmpty(attributes)
      ? undefined
      : readGroup(new FilterMembers(attributes, members.pathOf('attributes')), { walk, depth: 1 }),
    ...readCount(members, walk.kind),
  };
}

/** As it is stored: names are not normalised. */
function readEventName(members: FilterMembers): string {
  members.text('action_name', maxEventNameCharacters * 4);
  const name = members.get('action_name') as string;
  if (name === '' || name.length > maxEventNameCharacters)
    throw members.fault('action_name', `must have 1 to ${maxEventNameCharacters} characters`);
  return name;
}

function readCount(members: FilterMembers, kind: EventFilterKind): Pick<CountFilter, 'compared' | 'count'> {
  const executed = members.get('executed') === undefined || members.flag('executed');
  const sent = members.get('execution');
  const execution = isEmpty(sent) ? undefined : new FilterMembers(sent, members.pathOf('execution'));
  const compared = execution?.choice('type', ['atleast', 'exactly', 'atmost']) ?? (executed ? 'atleast' : 'exactly');
  const count = execution ? readNumber(execution) : executed ? 1 : 0;
  if (kind === 'primary' && (!executed || count !== 1 || compared === 'atmost'))
    throw members.fault('execution', 'must be atleast 1: an event starts the campaign each time it happens');
  if (!executed && (compared !== 'exactly' || count !== 0))
    throw members.fault('executed', 'must be true, or execution exactly 0');
  return { compared, count };
}

function readNumber(execution: FilterMembers): number {
  const value = execution.get('count');
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTriggerCount) return value;
  throw execution.fault('count', `must be a whole number from 0 to ${maxTriggerCount}`);
}

type Place = { walk: Walk; depth: number };

function readGroup(members: FilterMembers, { walk, depth }: Place): GroupFilter {
  if (depth > maxFilterDepth)
    throw new FilterFault('too-deep', `${members.path} is more than ${maxFilterDepth} levels deep`);
  walk.unknownFields.push(...members.unknown(groupMembers));
  const operator = members.choice('filter_operator', ['and', 'or']);
  const filters = members.get('filters');
  if (!Array.isArray(filters) || filters.length === 0)
    throw members.fault('filters', 'must be a list of at least one filter');
  walk.filters += filters.length;
  if (walk.filters > maxFilters) throw new FilterFault('too-long', `there must be at most ${maxFilters} filters`);
  return {
    kind: 'group',
    operator,
    negate: members.flag('negate'),
    filters: Array.from(filters as unknown[], (item, index): SegmentFilter => {
      const inner = new FilterMembers(item, `${members.pathOf('filters')}[${index}]`);
      if (inner.get('filters') !== undefined) return readGroup(inner, { walk, depth: depth + 1 });
      walk.unknownFields.push(...inner.unknown(attributeMembers));
      return readAttributeFilter(inner);
    }),
  };
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (typeof value === 'object' && value !== null && Object.keys(value).length === 0);
}
