import { createHash } from 'node:crypto';
import { Temporal } from 'temporal-polyfill';
import { addDays, localDate, toInstant } from '../timing/local-time.ts';
import { unknownCase } from '../unknown-case.ts';
import type { Edge, JourneyEndReason, JourneyStep, Target } from './graph.ts';

/** A person at a step, at one moment. */
export type AtStep = {
  entryId: string;
  arrivedAt: Date;
  now: Date;
  /** The event that ended the wait at this step. */
  eventAt: Date | null;
  /** The entry is continued later than sends allow, counted from when it was due. */
  isLate: boolean;
  facts: StepFacts;
};

/** What the engine reads for a step before it is decided. */
export type StepFacts = {
  /** Of a branch: true if its condition is met. */
  isMet?: boolean;
  /** Of `wait_until_time`: the zone of the person, else the workspace's. */
  timeZone?: string;
};

/** What a person does next at a step. */
export type StepDecision =
  /** Waits at the step. */
  | { kind: 'stay'; until: Date }
  /** Leaves the step, for another one or, where there is none, the journey. */
  | { kind: 'leave'; edge: Edge; to: Target }
  /** Leaves the journey at this step. */
  | { kind: 'end'; edge: Edge; reason: JourneyEndReason };

/**
 * Decides what a person does at a step. It depends on the arrival and the moment alone, not on when a wait was stored: a repeat
 * after a crash gives the same result.
 */
export function decideStep(step: JourneyStep, at: AtStep): StepDecision {
  switch (step.kind) {
    case 'wait':
      return waitUntil(new Date(at.arrivedAt.getTime() + step.milliseconds), { at, edge: 'next', to: step.next });
    case 'wait_until_time':
      return waitUntil(nextLocalTime(step, at), { at, edge: 'next', to: step.next });
    case 'wait_for_event': {
      if (at.eventAt !== null) return { kind: 'leave', edge: 'event', to: step.next };
      const timeout = new Date(at.arrivedAt.getTime() + step.milliseconds);
      return waitUntil(timeout, { at, edge: 'timeout', to: step.timeoutNext });
    }
    case 'branch':
      return requireFact(at.facts.isMet)
        ? { kind: 'leave', edge: 'yes', to: step.next }
        : { kind: 'leave', edge: 'no', to: step.elseNext };
    case 'split': {
      const way = wayOf({ entryId: at.entryId, step: step.id, percents: step.ways.map(({ percent }) => percent) });
      return { kind: 'leave', edge: `way ${way + 1}`, to: step.ways[way]!.next };
    }
    case 'send':
      if (at.isLate && step.late === 'exit') return { kind: 'end', edge: 'late', reason: 'LATE' };
      return { kind: 'leave', edge: at.isLate && step.late === 'skip' ? 'late' : 'next', to: step.next };
    case 'update':
      return { kind: 'leave', edge: 'next', to: step.next };
    case 'exit':
      return { kind: 'end', edge: 'end', reason: 'COMPLETED' };
    default:
      return unknownCase(step);
  }
}

function waitUntil(until: Date, { at, edge, to }: { at: AtStep; edge: Edge; to: Target }): StepDecision {
  return until <= at.now ? { kind: 'leave', edge, to } : { kind: 'stay', until };
}

function requireFact<Fact>(fact: Fact | undefined): Fact {
  if (fact === undefined) throw new Error('a step is decided before its facts are read');
  return fact;
}

type LocalTimeOfDay = { minuteOfDay: number; weekdays: readonly number[] };

/** Returns the first moment, at or after the arrival, on one of the weekdays and at the minute of the person's day. */
function nextLocalTime({ minuteOfDay, weekdays }: LocalTimeOfDay, { arrivedAt, facts }: AtStep): Date {
  const timeZone = requireFact(facts.timeZone);
  const two = (part: number): string => String(part).padStart(2, '0');
  const time = `${two(Math.floor(minuteOfDay / 60))}:${two(minuteOfDay % 60)}`;
  const today = localDate(arrivedAt, timeZone);
  // Today's time may have passed, so the same weekday may be a week ahead.
  for (let days = 0; days <= 7; days += 1) {
    const date = addDays(today, days);
    if (!weekdays.includes(Temporal.PlainDate.from(date).dayOfWeek)) continue;
    const instant = toInstant({ date, time, timeZone });
    if (instant >= arrivedAt) return instant;
  }
  throw new Error('a step waits for no weekday');
}

/** Returns the index of the way that an entry takes at a split: the same one whenever it is asked. */
export function wayOf(split: { entryId: string; step: string; percents: readonly number[] }): number {
  const digest = createHash('sha256')
    .update(JSON.stringify([split.entryId, split.step]), 'utf8')
    .digest();
  const share = (digest.readUInt32BE(0) / 2 ** 32) * 100;
  let sum = 0;
  for (const [index, percent] of split.percents.entries()) {
    sum += percent;
    if (share < sum) return index;
  }
  return split.percents.length - 1;
}
