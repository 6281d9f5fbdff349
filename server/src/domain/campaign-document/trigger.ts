import type { TriggerCondition, TriggerDelay, CountFilter } from '../events/triggers.ts';
import { maxFilters } from '../limits/segments.ts';
import { maxTriggerDelayDays, maxTriggerCount, maxTriggerFilters } from '../limits/campaigns.ts';
import {
  anyObject,
  flag,
  optional,
  partOrEmpty,
  refused,
  required,
  text,
  whole,
  withDescription,
  word,
} from '../../fields/combinators.ts';
import type { ReadMember } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { actionMembers, isEmpty, readEventAttributes, readEventName } from '../segments/action-reader.ts';
import { FilterFault, FilterMembers, quote } from '../segments/filter-members.ts';
import { attributeMembers, readAttributeFilter } from '../segments/filter-reader.ts';
import { findUnstorable, unstorable } from '../storable-text.ts';

export type ReadTrigger = { condition: TriggerCondition | undefined; unknownFields: string[] };

const maxName = 256;
const granularities = { MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 } as const;
type Granularity = keyof typeof granularities;

const members = {
  included_filters: withDescription(anyObject, 'Filters of type `actions`: the events that start the campaign'),
  secondary_included_filters: withDescription(
    anyObject,
    'Filters of type `actions`: conditions that must hold from the event to the due time',
  ),
  // INTELLIGENT_DELAY is documented by name only, and rejected (decision 0047).
  trigger_delay_type: optional(required(word(['ASAP', 'DELAY'], 'ASAP or DELAY'))),
  trigger_delay_value: whole(1, maxTriggerDelayDays * 1_440, 'With DELAY; at most 30 days'),
  trigger_delay_granularity: word(Object.keys(granularities) as Granularity[], 'MINUTES, HOURS or DAYS'),
  trigger_relation: word(['BEFORE', 'AFTER'], 'AFTER (default), or BEFORE with trigger_attr'),
  trigger_attr: text({
    max: maxName,
    description: 'A time attribute of the event, or else of the user; default: the time of the event',
  }),
  intelligent_delay_optimization: refused(anyObject),
  from_apps: flag('Events that apps report through /v1/app/events start the campaign too. Absent: false'),
};
type ReadMemberOfTrigger = ReadMember<typeof members>;

/** `trigger_condition` (fact 6.2). If it is invalid, the condition is undefined and the part has the faults. */
export const triggerCondition = partOrEmpty(members, {
  title: 'CampaignTrigger',
  description: 'For an EVENT_TRIGGERED campaign',
  read: readTriggerCondition,
});

function readTriggerCondition(part: RequestReader, read: ReadMemberOfTrigger): ReadTrigger {
  part.requires('included_filters');
  const primary = readFilters(part, 'included_filters', 'primary');
  const secondary = readFilters(part, 'secondary_included_filters', 'secondary');
  read('intelligent_delay_optimization');
  const delay = readDelay(part, read);
  const acceptsApps = read('from_apps') === true ? (true as const) : undefined;
  if (secondary && delay?.milliseconds === 0 && delay.attribute === undefined)
    part.invalid('secondary_included_filters', 'needs trigger_delay_type DELAY: what happens until then is looked at');
  const unknownFields = [...(primary?.unknownFields ?? []), ...(secondary?.unknownFields ?? [])];
  if (!primary || !delay) return { condition: undefined, unknownFields };
  const events = primary.filters.map(({ eventName, attributes }) => ({ eventName, attributes }));
  const { operator, filters } = secondary ?? {};
  return {
    condition: { events, secondary: operator && filters && { operator, filters }, delay, acceptsApps },
    unknownFields,
  };
}

/** Reads a condition that was stored as it was sent. The same reader accepted it before, so a fault throws an error. */
export function readStoredTrigger(part: RequestReader): TriggerCondition {
  const { condition } = triggerCondition.readIn(part);
  if (!condition) throw new Error(`a stored trigger cannot be read: ${JSON.stringify(part.faults)}`);
  return condition;
}

type FilterName = 'included_filters' | 'secondary_included_filters';

function readFilters(part: RequestReader, name: FilterName, kind: EventFilterKind): EventFilters | undefined {
  const sent = part.get(name);
  if (sent === undefined) return undefined;
  const read = readEventFilters(sent, kind);
  if ('fault' in read) {
    part.invalid(name, `is not a usable filter: ${read.fault}`);
    return undefined;
  }
  return { ...read, unknownFields: read.unknownFields.map((path) => `${part.pathOf(name)}.${path}`) };
}

function readDelay(part: RequestReader, read: ReadMemberOfTrigger): TriggerDelay | undefined {
  const type = read('trigger_delay_type');
  const relation = read('trigger_relation') ?? 'AFTER';
  const attribute = read('trigger_attr');
  if (relation === 'BEFORE' && attribute === undefined) part.invalid('trigger_relation', 'needs trigger_attr');
  if (type === undefined) return undefined;
  if (type === 'ASAP') {
    for (const name of ['trigger_delay_value', 'trigger_delay_granularity'] as const)
      if (part.get(name) !== undefined) part.invalid(name, 'needs trigger_delay_type DELAY');
    if (relation === 'BEFORE') part.invalid('trigger_relation', 'needs trigger_delay_type DELAY');
    return { milliseconds: 0, relation: 'AFTER', attribute };
  }
  const milliseconds = readMilliseconds(part, read);
  return milliseconds === undefined ? undefined : { milliseconds, relation, attribute };
}

function readMilliseconds(part: RequestReader, read: ReadMemberOfTrigger): number | undefined {
  part.requires('trigger_delay_granularity');
  const unit = read('trigger_delay_granularity');
  part.requires('trigger_delay_value');
  const unitMilliseconds = granularities[unit ?? 'DAYS'];
  const maximum = Math.floor((maxTriggerDelayDays * 86_400_000) / unitMilliseconds);
  const value = part.integer('trigger_delay_value', { minimum: 1, maximum });
  return unit === undefined || value === undefined ? undefined : value * unitMilliseconds;
}

/** The filters of a tree, each with how often the event must happen; `compared` and `count` as they were sent. */
type EventFilters = { operator: 'and' | 'or'; filters: CountFilter[]; unknownFields: string[] };

/** `primary`: the one event that was received. `secondary`: the counted events of a time span. */
export type EventFilterKind = 'primary' | 'secondary';

type Walk = { kind: EventFilterKind; unknownFields: string[]; filters: number };

const treeMembers = ['filter_type', 'filter_operator', 'filters'];
/**
 * Reads `included_filters` or `secondary_included_filters` of a trigger (fact 6.2): a list of filters of type `actions`
 * (fact 2.3). Members that would change the audience and are not supported here are rejected by name.
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
      : readEventAttributes(members.inner('attributes'), {
          noteUnknown: (inner, known) => walk.unknownFields.push(...inner.unknown(known)),
          countFilters: (filters) => countFilters(walk, filters),
          readAttribute(inner) {
            walk.unknownFields.push(...inner.unknown(attributeMembers));
            return readAttributeFilter(inner);
          },
        }),
    ...readCount(members, walk.kind),
  };
}

function countFilters(walk: Walk, filters: number): void {
  walk.filters += filters;
  if (walk.filters > maxFilters) throw new FilterFault('too-long', `there must be at most ${maxFilters} filters`);
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
