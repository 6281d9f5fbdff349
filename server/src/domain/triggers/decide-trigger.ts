import { matchAttributes, readAttributeTime } from './match-attributes.ts';
import { maxTriggerAheadDays } from './limits.ts';
import type { CountFilter, EventFilter, TriggerCondition, TriggerDelay } from './trigger-condition.ts';
import { unknownCase } from '../unknown-case.ts';

type Attributes = Readonly<Record<string, unknown>>;

export type HappenedEvent = { name: string; attributes: Attributes; occurredAt: Date };

/** Whether an event starts the campaign; `at`: when it was received, from which relative dates count. */
export function startsCampaign({ events }: TriggerCondition, event: HappenedEvent, at: Date): boolean {
  return events.some((filter) => isMeant(filter, event, at));
}

function isMeant({ eventName, attributes }: EventFilter, event: HappenedEvent, at: Date): boolean {
  return eventName === event.name && (attributes === undefined || matchAttributes(attributes, event.attributes, at));
}

/** `NO_TIME`: the attribute is absent or says no time. `TOO_FAR`: it lies further ahead than a trigger is kept waiting. */
export type Due = { at: Date } | { reason: 'NO_TIME' } | { reason: 'TOO_FAR' };

const aheadMilliseconds = maxTriggerAheadDays * 86_400_000;

/** When the message of an event is due. */
export function decideDue(
  { milliseconds, relation, attribute }: TriggerDelay,
  { event, user, now }: { event: HappenedEvent; user: Attributes; now: Date },
): Due {
  const base =
    attribute === undefined
      ? event.occurredAt
      : readAttributeTime(own(event.attributes, attribute) ?? own(user, attribute));
  if (!base) return { reason: 'NO_TIME' };
  const at = new Date(base.getTime() + (relation === 'BEFORE' ? -milliseconds : milliseconds));
  return at.getTime() - now.getTime() > aheadMilliseconds ? { reason: 'TOO_FAR' } : { at };
}

function own(attributes: Attributes, name: string): unknown {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/**
 * Whether what must be true at the due time is: `events` are what the user did after the event that started it, up to
 * then.
 */
export function isSecondaryMet(
  { secondary }: TriggerCondition,
  { events, at }: { events: readonly HappenedEvent[]; at: Date },
): boolean {
  if (!secondary) return true;
  const holds = (filter: CountFilter): boolean =>
    isCount(filter, events.filter((event) => isMeant(filter, event, at)).length);
  return secondary.operator === 'and' ? secondary.filters.every(holds) : secondary.filters.some(holds);
}

function isCount({ compared, count }: CountFilter, found: number): boolean {
  switch (compared) {
    case 'atleast':
      return found >= count;
    case 'exactly':
      return found === count;
    case 'atmost':
      return found <= count;
    default:
      return unknownCase(compared);
  }
}
