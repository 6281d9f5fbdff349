import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import {
  anyObject,
  checked,
  mapped,
  membersOf,
  part,
  parts,
  readWith,
  required,
  requiredText,
  text,
  whole,
  withDescription,
  word,
} from '../../fields/combinators.ts';
import type { Part } from '../../fields/combinators.ts';
import { readMembers, schemaOf } from '../../fields/field.ts';
import type { Field, Fields, Infer, RequiredField } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { readEventFilters } from '../campaign-document/trigger.ts';
import type { EventFilterKind } from '../campaign-document/trigger.ts';
import { maxJourneyAttributes, maxJourneyWaitDays, maxSplitWays } from '../limits/journeys.ts';
import { parseSegmentFilter } from '../segments/filter-reader.ts';
import { attributesFault } from '../users/user-attributes.ts';
import { stepMessage } from './step-campaigns.ts';
import type { BranchCondition, EventFilter, JourneyStep, StepKind, Target } from './graph.ts';

const maxIdCharacters = 64;
const maxStepNameCharacters = 100;
const units = { MINUTES: 60_000, HOURS: 3_600_000, DAYS: 86_400_000 } as const;
const day = 86_400_000;
const allWeekdays = [1, 2, 3, 4, 5, 6, 7];

/** The id of a step. Ids stand in stored history and in edges of figures, so they are plain. */
export const stepId = checked(requiredText({ max: maxIdCharacters, description: 'Letters, digits, - and _' }), {
  is: (id) => /^[A-Za-z0-9_-]+$/.test(id),
  reason: 'must have only letters, digits, - and _',
});

/** A target may be null, but not absent: a forgotten edge would end the journey without notice. */
const target: RequiredField<Target> = {
  isRequired: true,
  read(reader, name) {
    const value = Object.hasOwn(reader.members, name) ? reader.members[name] : undefined;
    if (value === null || (typeof value === 'string' && value !== '')) return value;
    reader.invalid(name, 'must be the id of a step, or null where the journey ends');
    return undefined;
  },
  schema: Type.Union([Type.String(), Type.Null()], { description: 'Id of the following step; null: the journey ends' }),
};

const durationMembers = {
  value: required(whole(1, maxJourneyWaitDays * 1_440)),
  unit: required(word(Object.keys(units) as (keyof typeof units)[], 'MINUTES, HOURS or DAYS')),
};

/** A time span, as milliseconds. */
export const duration: Field<number> = checked(
  mapped(
    part(durationMembers, { title: 'JourneyDuration', description: `At most ${maxJourneyWaitDays} days` }),
    // A part with a fault reads without that member; the fault is noted already.
    ({ value, unit }) => (value ?? 1) * units[unit ?? 'MINUTES'],
  ),
  { is: (span) => span <= maxJourneyWaitDays * day, reason: `must be at most ${maxJourneyWaitDays} days` },
);

type Filters = Exclude<ReturnType<typeof readEventFilters>, { fault: string }>;

function eventFilters(kind: EventFilterKind, description: string): Field<Filters> {
  return readWith(withDescription(anyObject, description), (reader, name) => {
    const sent = reader.get(name);
    if (sent === undefined) return undefined;
    const read = readEventFilters(sent, kind);
    const fault = 'fault' in read ? read.fault : unknownFault(read.unknownFields);
    if (fault === undefined) return read as Filters;
    reader.invalid(name, `is not a usable filter: ${fault}`);
    return undefined;
  });
}

function unknownFault(unknown: readonly string[]): string | undefined {
  return unknown.length === 0 ? undefined : `${unknown[0]} is not a member of filters`;
}

/** Filters of type `actions`, of which an event must pass one. */
export const events: Field<EventFilter[]> = mapped(
  eventFilters('primary', 'Filters of type `actions`, as in the trigger of a campaign: any of these events'),
  ({ filters }) => filters.map(({ eventName, attributes }) => ({ eventName, attributes })),
);

const conditionMembers = {
  user: {
    type: required(word(['user'])),
    included_filters: required(
      withDescription(
        readWith<Extract<BranchCondition, { kind: 'user' }>['filter']>(anyObject, (reader, name) => {
          const sent = reader.get(name);
          if (sent === undefined) return undefined;
          const parsed = parseSegmentFilter(sent);
          const fault = 'fault' in parsed ? parsed.fault.reason : unknownFault(parsed.unknownFields);
          if ('filter' in parsed && fault === undefined) return parsed.filter;
          reader.invalid(name, `is not a usable filter: ${fault}`);
          return undefined;
        }),
        'Filters of users, as in filter segments: attributes, segments, and what users did',
      ),
    ),
  },
  events: {
    type: required(word(['events'])),
    included_filters: required(
      eventFilters('secondary', 'Filters of type `actions`: events of the person since the entry'),
    ),
  },
  message: {
    type: required(word(['message'])),
    step: required(text({ description: 'Id of an earlier step of type send' })),
    outcome: required(
      word(['accepted', 'shown', 'clicked'], 'accepted by a push service, shown on a device, or clicked'),
    ),
  },
};
type ConditionType = keyof typeof conditionMembers;

const condition: Field<BranchCondition> = {
  read(reader, name) {
    const found = reader.findPart(name);
    if (!found) return undefined;
    const type = readType(found, conditionMembers);
    if (type === undefined) return undefined;
    refuseUnknown(found, conditionMembers[type]);
    return readCondition(type, found);
  },
  schema: Type.Union(variants('JourneyCondition', conditionMembers)),
};

function readCondition(type: ConditionType, found: RequestReader): BranchCondition | undefined {
  if (type === 'user') {
    const { included_filters: filter } = readMembers(found, conditionMembers.user);
    return filter && { kind: 'user', filter };
  }
  if (type === 'events') {
    const { included_filters: read } = readMembers(found, conditionMembers.events);
    return read && { kind: 'events', operator: read.operator, filters: read.filters };
  }
  const { step, outcome } = readMembers(found, conditionMembers.message);
  return step !== undefined && outcome !== undefined ? { kind: 'message', step, outcome } : undefined;
}

const wayMembers = { percent: required(whole(1, 100)), next: target };
const way: Part<Infer<typeof wayMembers>> = part(wayMembers, { title: 'JourneyWay' });

const time = checked(text({ max: 5, description: 'HH:MM in the time zone of the person, else of the workspace' }), {
  is: (sent) => /^([01]\d|2[0-3]):[0-5]\d$/.test(sent),
  reason: 'must be a time of the day such as 09:30',
});

const weekdays: Field<number[]> = readWith(
  {
    ...anyObject,
    schema: Type.Array(Type.Integer({ minimum: 1, maximum: 7 }), {
      description: '1 is Monday, 7 is Sunday; default: every day',
    }),
  },
  (reader, name) => {
    const sent = reader.list(name, allWeekdays.length);
    const known = allWeekdays.filter((weekday) => sent.includes(weekday));
    if (known.length === sent.length) return known.length === 0 ? undefined : known;
    reader.invalid(name, 'must hold different numbers from 1 (Monday) to 7 (Sunday)');
    return undefined;
  },
);

const own = {
  id: stepId,
  name: text({ max: maxStepNameCharacters, description: 'Shown in figures and in the names of messages' }),
};

/** The members of each type of step, besides `type`. */
export const stepMembers = {
  wait: { ...own, duration: required(duration), next: target },
  wait_until_time: { ...own, time: required(time), weekdays, next: target },
  wait_for_event: {
    ...own,
    included_filters: required(events),
    timeout: required(duration),
    next: target,
    timeout_next: target,
  },
  branch: { ...own, condition: required(condition), next: target, else_next: target },
  split: { ...own, ways: required(parts(way, { max: maxSplitWays, description: 'Percents add up to 100' })) },
  send: {
    ...own,
    message: required(stepMessage),
    late: word(
      ['send', 'skip', 'exit'],
      'If the step is reached too late, after an outage: send all the same (default), skip the message, or end the journey',
    ),
    next: target,
  },
  update: {
    ...own,
    attributes: required(
      withDescription(membersOf, `Attributes of the person, at most ${maxJourneyAttributes}; null removes`),
    ),
    next: target,
  },
  exit: own,
};
export type StepType = keyof typeof stepMembers;
const stepTypes = Object.keys(stepMembers) as StepType[];

export const stepSchema: TSchema = Type.Union(
  variants(
    'JourneyStep',
    Object.fromEntries(stepTypes.map((type) => [type, { type: required(word([type])), ...stepMembers[type] }])),
  ),
);

export type StepRules = {
  /** Vendor prefixes that names of attributes may not have. */
  prefixes: readonly string[];
};

/** Reads one step. Every fault is noted with the reader. @returns undefined for a step with a fault in its own members */
export function readStep(reader: RequestReader, rules: StepRules): JourneyStep | undefined {
  const before = reader.faults.length;
  const type = readType(reader, stepMembers);
  if (type === undefined) {
    stepId.read(reader, 'id');
    return undefined;
  }
  refuseUnknown(reader, { type: anyObject, ...stepMembers[type] });
  const { id, name } = readMembers(reader, own);
  const kind = readKind(type, { reader, rules });
  return reader.faults.length === before && id !== undefined && kind ? { id, name, ...kind } : undefined;
}

type Reading = { reader: RequestReader; rules: StepRules };

/** The members of all types; a step without faults has those that its type requires. */
type ReadMembers = {
  duration: number;
  timeout: number;
  time: string | undefined;
  weekdays: number[] | undefined;
  included_filters: EventFilter[];
  condition: BranchCondition;
  ways: Partial<Way>[] | undefined;
  late: 'send' | 'skip' | 'exit' | undefined;
  attributes: Record<string, unknown>;
  next: Target;
  timeout_next: Target;
  else_next: Target;
};

/** A step whose members have no fault has them all; the caller looks at the faults. */
function readKind(type: StepType, { reader, rules }: Reading): StepKind {
  const members = readMembers(reader, stepMembers[type] as Fields) as ReadMembers;
  const { next } = members;
  switch (type) {
    case 'wait':
      return { kind: type, milliseconds: members.duration, next };
    case 'wait_until_time':
      return { kind: type, minuteOfDay: minuteOf(members.time), weekdays: members.weekdays ?? allWeekdays, next };
    case 'wait_for_event': {
      const { included_filters: filters, timeout, timeout_next: timeoutNext } = members;
      return { kind: type, events: filters, milliseconds: timeout, next, timeoutNext };
    }
    case 'branch':
      return { kind: type, condition: members.condition, next, elseNext: members.else_next };
    case 'split':
      return { kind: type, ways: readWays(reader, members.ways) };
    case 'send':
      return { kind: type, late: members.late ?? 'send', next };
    case 'update':
      checkAttributes(reader, { attributes: members.attributes, rules });
      return { kind: type, attributes: members.attributes, next };
    case 'exit':
      return { kind: type };
  }
}

function minuteOf(sent: string | undefined): number {
  const [hours = 0, minutes = 0] = (sent ?? '').split(':').map(Number);
  return hours * 60 + minutes;
}

type Way = { percent: number; next: Target };

function readWays(reader: RequestReader, ways: Partial<Way>[] | undefined): Way[] {
  if (ways === undefined) return [];
  if (ways.length < 2) reader.invalid('ways', `must be a list of 2 to ${maxSplitWays} ways`);
  const sum = ways.reduce((all, { percent = 0 }) => all + percent, 0);
  if (sum !== 100) reader.invalid('ways', `must have percents that add up to 100, not ${sum}`);
  return ways as Way[];
}

type Update = { attributes: Record<string, unknown> | undefined; rules: StepRules };

function checkAttributes(reader: RequestReader, { attributes, rules }: Update): void {
  if (attributes === undefined) return;
  const names = Object.keys(attributes);
  if (names.length > maxJourneyAttributes)
    reader.invalid('attributes', `must have at most ${maxJourneyAttributes} members`);
  const fault = attributesFault(attributes, rules.prefixes);
  if (fault) reader.invalid('attributes', `"${fault.attribute.slice(0, 50)}" ${fault.reason}`);
}

function readType<Type extends string>(reader: RequestReader, types: Record<Type, unknown>): Type | undefined {
  const type = reader.get('type');
  const names = Object.keys(types) as Type[];
  const found = names.find((name) => name === type);
  if (found === undefined) reader.invalid('type', `must be one of ${names.join(', ')}`);
  return found;
}

/** Notes members that the object does not have: a misspelled one would be left out without notice. */
export function refuseUnknown(reader: RequestReader, known: Fields): void {
  for (const name of reader.names())
    if (!Object.hasOwn(known, name)) reader.invalid(name.slice(0, 50), 'is not a member of this object');
}

function variants(title: string, types: Record<string, Fields>): TSchema[] {
  return Object.entries(types).map(([type, members]) => schemaOf(members, { title: `${title}_${type}` }));
}
