import type { CountFilter } from '../events/triggers.ts';
import type { SegmentFilter } from '../segments/filter.ts';

/**
 * A journey is a graph of steps through which each person passes alone. It has no circle: a person passes a step at most once
 * in an entry, so (journey, entry, step) identifies everything that the step does (decision 0096).
 */
export type JourneyGraph = {
  entry: JourneyEntry;
  /** Where an entry begins. */
  firstStep: string;
  /** By id, at most `maxJourneySteps`. */
  steps: ReadonlyMap<string, JourneyStep>;
  /** An event of the person that ends the entry as converted, wherever the person is. */
  goal: readonly EventFilter[] | undefined;
  /** An event of the person that ends the entry without conversion. */
  exitEvents: readonly EventFilter[] | undefined;
  /** People enter again: never, if that many milliseconds have passed since they entered last, or always. */
  reentry: Reentry;
};

/** An event by its name and attributes. */
export type EventFilter = Pick<CountFilter, 'eventName' | 'attributes'>;

/** `event`: any of these events of the person. `api`: only the enter route. Both kinds can be entered by the route. */
export type JourneyEntry = { kind: 'event'; events: readonly EventFilter[]; acceptsApps: boolean } | { kind: 'api' };

/** `always`: also while an earlier entry of the person is inside, up to `atATime` of them. */
export type Reentry = { kind: 'never' } | { kind: 'after'; milliseconds: number } | { kind: 'always'; atATime: number };

/** `next`, and every other target, is the id of a step, or null where the entry ends. */
export type JourneyStep = { id: string; name: string | undefined } & StepKind;

export type StepKind =
  /** Waits from the moment when the person comes to the step. */
  | { kind: 'wait'; milliseconds: number; next: Target }
  /**
   * Waits for the next moment, at or after the arrival, that is on one of these weekdays (1 Monday … 7 Sunday) and at this
   * minute of the day in the person's time zone, else the workspace's.
   */
  | { kind: 'wait_until_time'; minuteOfDay: number; weekdays: readonly number[]; next: Target }
  /** Waits for an event of the person that happens after the arrival; leaves by `timeoutNext` when the time has passed. */
  | { kind: 'wait_for_event'; events: readonly EventFilter[]; milliseconds: number; next: Target; timeoutNext: Target }
  /** What the person's attributes, segments and events say at this moment. */
  | { kind: 'branch'; condition: BranchCondition; next: Target; elseNext: Target }
  /** Fixed shares: the same person of the same entry takes the same way, decided by a hash. Percents add up to 100. */
  | { kind: 'split'; ways: readonly { percent: number; next: Target }[] }
  /**
   * Sends the step's own campaign to the person. `late`: what happens when the step is reached more than
   * `CARILLON_LATE_SEND_MINUTES` after its time.
   */
  | { kind: 'send'; late: 'send' | 'skip' | 'exit'; next: Target }
  /** Sets and removes attributes of the person; null removes. */
  | { kind: 'update'; attributes: Readonly<Record<string, unknown>>; next: Target }
  /** Ends the entry. */
  | { kind: 'exit' };

export type Target = string | null;

export type BranchCondition =
  /** A filter of users: attributes, segments, and what users did (as in filter segments, fact 2.3). */
  | { kind: 'user'; filter: SegmentFilter }
  /** Events of the person since the entry. */
  | { kind: 'events'; operator: 'and' | 'or'; filters: readonly CountFilter[] }
  /** What is known of the message of an earlier send step: accepted by a provider, shown, clicked. */
  | { kind: 'message'; step: string; outcome: 'accepted' | 'shown' | 'clicked' };

/** By which edge a person left a step: the name that history and figures show. */
export type Edge = 'next' | 'event' | 'timeout' | 'yes' | 'no' | 'late' | 'end' | `way ${number}`;

/** Why an entry ended. */
export const journeyEndReasons = [
  'COMPLETED',
  'GOAL',
  'EXIT_EVENT',
  'LATE',
  'STOPPED',
  'STEP_REMOVED',
  'MERGED',
] as const;
export type JourneyEndReason = (typeof journeyEndReasons)[number];

export const journeyStates = ['DRAFT', 'ACTIVE', 'PAUSED', 'STOPPED'] as const;
export type JourneyState = (typeof journeyStates)[number];
