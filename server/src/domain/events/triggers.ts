import { maxTriggerAheadDays } from '../limits/campaigns.ts';
import { timeRanges } from '../segments/filter.ts';
import type {
  GroupFilter,
  AttributeFilter,
  FlagTest,
  NumberTest,
  SegmentFilter,
  TextTest,
  TimeTest,
} from '../segments/filter.ts';
import { unknownCase } from '../unknown-case.ts';
import { storedNameOf } from '../users/standard-attributes.ts';
import { readEventTime } from './events.ts';

/** A filter for an event by its name and attributes. The tree holds only attribute filters and groups of them. */
type EventFilter = { eventName: string; attributes: GroupFilter | undefined };

/** How often such an event must happen between the event that started the campaign and the due time of the message. */
export type CountFilter = EventFilter & { compared: 'atleast' | 'exactly' | 'atmost'; count: number };

/** How often events must happen: all filters, or one of them. */
export type CountCondition = { operator: 'and' | 'or'; filters: readonly CountFilter[] };

/** When a message is due: this long before or after the event, or before or after the time in an attribute. */
export type TriggerDelay = {
  milliseconds: number;
  relation: 'BEFORE' | 'AFTER';
  /** An attribute of the event, or of its user if the event has none of this name. Undefined: the event's own time counts. */
  attribute: string | undefined;
};

/** `trigger_condition` (fact 6.2): which event starts a campaign, when it sends, and what must be true at that time. */
export type TriggerCondition = {
  /** Any of them starts the campaign. */
  events: EventFilter[];
  secondary: CountCondition | undefined;
  delay: TriggerDelay;
  /** Events that apps report with the public key start the campaign too. */
  acceptsApps?: true | undefined;
};

/** Returns each event name once. */
export function eventNamesOf({ events }: TriggerCondition): string[] {
  return [...new Set(events.map(({ eventName }) => eventName))];
}

type EventAttributes = Readonly<Record<string, unknown>>;

export type HappenedEvent = { name: string; attributes: EventAttributes; occurredAt: Date };

/** True if an event starts the campaign. `at`: when it was received; relative dates count from then. */
export function startsCampaign({ events }: TriggerCondition, event: HappenedEvent, at: Date): boolean {
  return events.some((filter) => passesEventFilter(filter, event, at));
}

/** True if an event has the name and attributes that a filter asks for. `at`: relative dates count from then. */
export function passesEventFilter({ eventName, attributes }: EventFilter, event: HappenedEvent, at: Date): boolean {
  return eventName === event.name && (attributes === undefined || matchAttributes(attributes, event.attributes, at));
}

/** `NO_TIME`: the attribute is absent or not a time. `TOO_FAR`: the time lies further ahead than a trigger may wait. */
export type Due = { at: Date } | { reason: 'NO_TIME' } | { reason: 'TOO_FAR' };

const aheadMilliseconds = maxTriggerAheadDays * 86_400_000;

/** Decides when the message of an event is due. */
export function decideDue(
  { milliseconds, relation, attribute }: TriggerDelay,
  { event, user, now }: { event: HappenedEvent; user: EventAttributes; now: Date },
): Due {
  const base =
    attribute === undefined
      ? event.occurredAt
      : readAttributeTime(own(event.attributes, attribute) ?? own(user, storedNameOf(attribute)));
  if (!base) return { reason: 'NO_TIME' };
  const at = new Date(base.getTime() + (relation === 'BEFORE' ? -milliseconds : milliseconds));
  return at.getTime() - now.getTime() > aheadMilliseconds ? { reason: 'TOO_FAR' } : { at };
}

function own(attributes: EventAttributes, name: string): unknown {
  return Object.hasOwn(attributes, name) ? attributes[name] : undefined;
}

/**
 * True if the secondary condition holds at the due time. `events` are those of the user after the event that started the
 * campaign, up to the due time.
 */
export function isSecondaryMet(
  { secondary }: TriggerCondition,
  { events, at }: { events: readonly HappenedEvent[]; at: Date },
): boolean {
  return !secondary || passesCounts(secondary, { events, at });
}

/** True if events happened as often as filters ask for. */
export function passesCounts(
  { operator, filters }: CountCondition,
  { events, at }: { events: readonly HappenedEvent[]; at: Date },
): boolean {
  const holds = (filter: CountFilter): boolean =>
    isCount(filter, events.filter((event) => passesEventFilter(filter, event, at)).length);
  return operator === 'and' ? filters.every(holds) : filters.some(holds);
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

type Attributes = Readonly<Record<string, unknown>>;

/**
 * True if attributes pass a filter tree, with the same meaning as user filters in the database (segment-filter.ts). It runs
 * in memory, because a statement for each event would cost ingestion too much. References to segments are not supported.
 */
export function matchAttributes(filter: SegmentFilter, attributes: Attributes, at: Date): boolean {
  return filter.negate !== passesUnnegated(filter, attributes, at);
}

function passesUnnegated(filter: SegmentFilter, attributes: Attributes, at: Date): boolean {
  switch (filter.kind) {
    case 'group':
      return filter.operator === 'and'
        ? filter.filters.every((one) => matchAttributes(one, attributes, at))
        : filter.filters.some((one) => matchAttributes(one, attributes, at));
    case 'attribute': {
      const value = Object.hasOwn(attributes, filter.name) ? attributes[filter.name] : undefined;
      return passes(filter, value, at);
    }
    case 'segment':
      throw new Error('events are in no segment');
    case 'action':
      throw new Error('an event holds no other events');
    default:
      return unknownCase(filter);
  }
}

function passes(filter: AttributeFilter, value: unknown, at: Date): boolean {
  switch (filter.dataType) {
    case 'string':
      return passesText(filter.test, value);
    case 'double':
      return passesNumber(filter.test, value);
    case 'bool':
      return passesFlag(filter.test, value);
    case 'datetime':
      return passesTime(filter.test, value, at);
    case 'array_string':
      return passesList(filter.quantifier, value, (item) => passesText(filter.test, item));
    case 'array_double':
      return passesList(filter.quantifier, value, (item) => passesNumber(filter.test, item));
    default:
      return unknownCase(filter);
  }
}

function passesList(quantifier: 'any_of' | 'all_of', value: unknown, isPassed: (item: unknown) => boolean): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return quantifier === 'any_of' ? value.some(isPassed) : value.every(isPassed);
}

function passesText(test: TextTest, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (test.operator === 'exists') return true;
  const fold = (text: string): string => (test.isCaseSensitive ? text.normalize() : text.normalize().toUpperCase());
  const text = fold(value);
  return test.values.some((wanted) => holdsText(test.operator, text, fold(wanted)));
}

function holdsText(operator: Exclude<TextTest['operator'], 'exists'>, text: string, wanted: string): boolean {
  switch (operator) {
    case 'in':
      return text === wanted;
    case 'contains':
      return text.includes(wanted);
    case 'startsWith':
      return text.startsWith(wanted);
    case 'endsWith':
      return text.endsWith(wanted);
    default:
      return unknownCase(operator);
  }
}

function passesNumber(test: NumberTest, value: unknown): boolean {
  if (typeof value !== 'number') return false;
  switch (test.operator) {
    case 'exists':
      return true;
    case 'in':
      return test.values.includes(value);
    case 'lessThan':
      return value < test.value;
    case 'greaterThan':
      return value > test.value;
    case 'between':
      return test.lower <= value && value <= test.upper;
    default:
      return unknownCase(test);
  }
}

function passesFlag(test: FlagTest, value: unknown): boolean {
  return typeof value === 'boolean' && (test.operator === 'exists' || value === test.value);
}

function passesTime(test: TimeTest, value: unknown, at: Date): boolean {
  const time = readAttributeTime(value)?.getTime();
  return time !== undefined && timeRanges(test, at).some(({ from, until }) => from <= time && time < until);
}

// The years 1 to 9999, as in user filters.
const [firstSecond, endSecond] = [-62_135_596_800, 253_402_300_800];

/** Reads a time as attributes hold it: ISO 8601, or seconds since 1970 as a number. */
export function readAttributeTime(value: unknown): Date | undefined {
  if (typeof value === 'number')
    return value >= firstSecond && value < endSecond ? new Date(Math.round(value * 1000)) : undefined;
  return typeof value === 'string' && value.includes('-') ? readEventTime(value) : undefined;
}

export const triggerStates = ['WAITING', 'HELD', 'SENT', 'DROPPED'] as const;

/** The trigger that an event of a user started, as it is reported. */
export type ToldTrigger = {
  eventName: string;
  occurredAt: Date;
  receivedAt: Date;
  /** Null: the event has no time to count from. */
  dueAt: Date | null;
  state: (typeof triggerStates)[number];
  reason: DropReason | null;
  runId: string | null;
};

const drops: Record<DropReason, string> = {
  LATE: 'was found too late to be sent',
  CONDITION: 'was not sent: what had to be true by then was not',
  AUDIENCE: 'was not sent: the person was not in the audience by then',
  CAMPAIGN_OVER: 'was not sent: the campaign was over by then',
  NO_TIME: 'was not sent: the attribute that is to say when says no time',
  TOO_FAR: 'was not sent: the attribute that is to say when names a time too far ahead',
};

/** Describes a trigger in one sentence. */
export function describeTrigger({ eventName, occurredAt, dueAt, state, reason, runId }: ToldTrigger): string {
  const event = `"${eventName}" at ${occurredAt.toISOString()}`;
  switch (state) {
    case 'WAITING':
      return `${event} is due at ${dueAt!.toISOString()}.`;
    case 'HELD':
      return `${event} was due at ${dueAt!.toISOString()} and waits for the end of the pause.`;
    case 'SENT':
      return `${event} is in run ${runId}.`;
    case 'DROPPED':
      return `${event} ${drops[reason!]}.`;
    default:
      return unknownCase(state);
  }
}

/**
 * Why a trigger sends nothing. It was found too late; the condition at the due time was false, or its user was not in the
 * audience; its campaign was over; the attribute holds no time, or one too far ahead.
 */
export const dropReasons = ['LATE', 'CONDITION', 'AUDIENCE', 'CAMPAIGN_OVER', 'NO_TIME', 'TOO_FAR'] as const;
export type DropReason = (typeof dropReasons)[number];
