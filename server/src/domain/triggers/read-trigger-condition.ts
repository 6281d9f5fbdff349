import type { RequestReader } from '../request-reader/request-reader.ts';
import { maxTriggerDelayDays } from './limits.ts';
import { readEventFilters } from './read-event-filters.ts';
import type { EventFilterKind, EventFilters } from './read-event-filters.ts';
import type { TriggerCondition, TriggerDelay } from './trigger-condition.ts';

export type ReadTrigger = { condition: TriggerCondition | undefined; unknownFields: string[] };

const maxName = 256;
const granularities = { MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 } as const;

/** `trigger_condition` (fact 6.2). Undefined if anything is wrong; the faults of the part say what. */
export function readTriggerCondition(part: RequestReader): ReadTrigger {
  part.requires('included_filters');
  const primary = readFilters(part, 'included_filters', 'primary');
  const secondary = readFilters(part, 'secondary_included_filters', 'secondary');
  part.refuse('intelligent_delay_optimization');
  const delay = readDelay(part);
  if (secondary && delay?.milliseconds === 0 && delay.attribute === undefined)
    part.invalid('secondary_included_filters', 'needs trigger_delay_type DELAY: what happens until then is looked at');
  const unknownFields = [...(primary?.unknownFields ?? []), ...(secondary?.unknownFields ?? [])];
  if (!primary || !delay) return { condition: undefined, unknownFields };
  const events = primary.filters.map(({ eventName, attributes }) => ({ eventName, attributes }));
  const { operator, filters } = secondary ?? {};
  return { condition: { events, secondary: operator && filters && { operator, filters }, delay }, unknownFields };
}

/** Reads what was stored as it was sent; it was accepted by the same reader, so a fault is a surprise. */
export function readStoredTrigger(part: RequestReader): TriggerCondition {
  const { condition } = readTriggerCondition(part);
  if (!condition) throw new Error(`a stored trigger cannot be read: ${JSON.stringify(part.faults)}`);
  return condition;
}

type FilterName = 'included_filters' | 'secondary_included_filters';

function readFilters(part: RequestReader, name: FilterName, kind: EventFilterKind): EventFilters | undefined {
  const sent = part.get(name);
  if (sent === undefined) return undefined;
  const read = readEventFilters(sent, kind);
  if ('fault' in read) {
    part.invalid(name, `is no usable filter: ${read.fault}`);
    return undefined;
  }
  return { ...read, unknownFields: read.unknownFields.map((path) => `${part.pathOf(name)}.${path}`) };
}

function readDelay(part: RequestReader): TriggerDelay | undefined {
  part.requires('trigger_delay_type');
  // INTELLIGENT_DELAY is documented by name only, and refused (decision 0047).
  const type = part.choice('trigger_delay_type', ['ASAP', 'DELAY']);
  const relation = part.choice('trigger_relation', ['BEFORE', 'AFTER']) ?? 'AFTER';
  const attribute = part.text('trigger_attr', maxName);
  if (relation === 'BEFORE' && attribute === undefined) part.invalid('trigger_relation', 'needs trigger_attr');
  if (type === undefined) return undefined;
  if (type === 'ASAP') {
    for (const name of ['trigger_delay_value', 'trigger_delay_granularity'] as const)
      if (part.get(name) !== undefined) part.invalid(name, 'needs trigger_delay_type DELAY');
    if (relation === 'BEFORE') part.invalid('trigger_relation', 'needs trigger_delay_type DELAY');
    return { milliseconds: 0, relation: 'AFTER', attribute };
  }
  const milliseconds = readMilliseconds(part);
  return milliseconds === undefined ? undefined : { milliseconds, relation, attribute };
}

function readMilliseconds(part: RequestReader): number | undefined {
  part.requires('trigger_delay_granularity');
  const unit = part.choice('trigger_delay_granularity', ['MINUTES', 'HOURS', 'DAYS']);
  part.requires('trigger_delay_value');
  const unitMilliseconds = granularities[unit ?? 'DAYS'];
  const maximum = Math.floor((maxTriggerDelayDays * 86_400_000) / unitMilliseconds);
  const value = part.integer('trigger_delay_value', { minimum: 1, maximum });
  return unit === undefined || value === undefined ? undefined : value * unitMilliseconds;
}
