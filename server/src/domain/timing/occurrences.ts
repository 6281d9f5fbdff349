import { Temporal } from 'temporal-polyfill';
import { unknownCase } from '../unknown-case.ts';
import { calendarDates } from './calendar.ts';
import { inFirstZone, inhabitedZones, isInUserZone, localSendOf } from './local-send.ts';
import { addDays, localDate, toInstant, comesTwice, localTime, offsetAt } from './local-time.ts';
import type { PassedPolicy, Timing } from './timing.ts';

/**
 * Returns the next instants at which a campaign is due, strictly after `after`, at most `count`. Preview and firing
 * both use this, so that they agree. A campaign in its users' zones is due when the first zone is.
 */
export function nextOccurrences(given: Timing, { after, count }: { after: Date; count: number }): Date[] {
  const timing = inFirstZone(given);
  switch (timing.kind) {
    case 'soon':
    case 'triggered':
      return [];
    case 'later':
      return timing.at > after ? [timing.at] : [];
    case 'periodic':
      return occurrencesOf(periodicDates(timing, after), { timing, after, count });
    case 'calendar': {
      // Starts before its day: a clock change may move a send past midnight, as below.
      const span = { firstDate: timing.firstDate, from: addDays(localDate(after, timing.timeZone), -2) };
      return occurrencesOf(calendarDates(timing.rule, { ...span, until: timing.endDate }), { timing, after, count });
    }
    default:
      return unknownCase(timing);
  }
}

type Periodic = Extract<Timing, { kind: 'periodic' }>;

/** Dates are YYYY-MM-DD, so they compare as text; the step is at least a day, so this ends at `endDate`. */
function* periodicDates(timing: Periodic, after: Date): Generator<string> {
  let date = firstDateNear(timing, after);
  for (; date <= timing.endDate; date = addDays(date, timing.repeatAfterDays)) yield date;
}

type Asked = { timing: { time: string; timeZone: string }; after: Date; count: number };

function occurrencesOf(dates: Iterable<string>, { timing, after, count }: Asked): Date[] {
  const occurrences: Date[] = [];
  if (count < 1) return occurrences;
  const { time, timeZone } = timing;
  for (const date of dates) {
    const occurrence = toInstant({ date, time, timeZone });
    // A day that a zone skips (Apia, 2011-12-30) moves to the next day, which has its own send; only one of the two is
    // kept.
    if (occurrence > (occurrences.at(-1) ?? after)) occurrences.push(occurrence);
    if (occurrences.length === count) return occurrences;
  }
  return occurrences;
}

/**
 * Returns a date of the series shortly before `after`, to avoid iterating over years of past sends. It is one step
 * early, because a clock change may move a send past midnight (Scoresbysund skips 23:30 once a year).
 */
function firstDateNear(timing: Periodic, after: Date): string {
  const today = localDate(after, timing.timeZone);
  const days = Temporal.PlainDate.from(timing.firstDate).until(Temporal.PlainDate.from(today), {
    largestUnit: 'day',
  }).days;
  const steps = Math.max(0, Math.floor(days / timing.repeatAfterDays) - 1);
  return addDays(timing.firstDate, steps * timing.repeatAfterDays);
}

export type DueOccurrence = { kind: 'send'; occurrence: Date } | { kind: 'missed'; occurrence: Date; reason: string };

export type DueQuestion = {
  /** The occurrence that is due. */
  dueAt: Date;
  now: Date;
  lateMinutes: number;
  /** Maximum number of occurrences decided at once; the rest are still due and are decided next. */
  limit: number;
};

/**
 * Decides which due occurrences are sent or missed, and which is next (decision D37, fault F14). The last one is sent
 * if it is not too late. All others are missed, so that an outage is followed by one send, not a burst.
 */
export function decideDueOccurrences(
  timing: Timing,
  { dueAt, now, lateMinutes, limit }: DueQuestion,
): { occurrences: DueOccurrence[]; nextAt: Date | undefined } {
  const due = [dueAt];
  let nextAt = occurrenceAfter(timing, dueAt);
  for (; nextAt && nextAt <= now && due.length < limit; nextAt = occurrenceAfter(timing, nextAt)) due.push(nextAt);
  const isLastHere = nextAt === undefined || nextAt > now;
  const occurrences = due.map((occurrence, index): DueOccurrence => {
    if (!isLastHere || index < due.length - 1)
      return { kind: 'missed', occurrence, reason: 'a later moment had come before this one could be sent' };
    const reason = whyTooLate({ occurrence, now, lateMinutes });
    return reason === undefined ? { kind: 'send', occurrence } : { kind: 'missed', occurrence, reason };
  });
  return { occurrences, nextAt };
}

function occurrenceAfter(timing: Timing, occurrence: Date): Date | undefined {
  return nextOccurrences(timing, { after: occurrence, count: 1 })[0];
}

// The scheduler checks every second, so a limit of 0 must allow for that.
const minMinutes = 1;

/** Returns why an occurrence may no longer be sent, or undefined if it may. */
export function whyTooLate({
  occurrence,
  now,
  lateMinutes,
}: {
  occurrence: Date;
  now: Date;
  lateMinutes: number;
}): string | undefined {
  const late = (now.getTime() - occurrence.getTime()) / 60_000;
  if (late <= Math.max(lateMinutes, minMinutes)) return undefined;
  return `${Math.floor(late)} minutes late; at most ${lateMinutes} are allowed (CARILLON_LATE_SEND_MINUTES)`;
}

/** The effect of a clock change on an occurrence. */
export type ClockChange =
  /** The requested local time does not exist on that day; the message is sent later by the length of the gap. */
  | { kind: 'skipped'; asked: string }
  /** The local time occurs twice; the message is sent at the first. */
  | { kind: 'twice' }
  /** The zone's offset from UTC differs from that of the previous occurrence. */
  | { kind: 'shifted'; before: string; after: string };

export type DescribedOccurrence = {
  at: Date;
  /** Date YYYY-MM-DD and time hh:mm in `timeZone`. */
  local: { date: string; time: string };
  timeZone: string;
  /** Such as `+05:30`. */
  offset: string;
  clockChange: ClockChange | undefined;
  /** For a send at the local time of each user; undefined for a send at one instant. */
  everyZone: EveryZone | undefined;
};

/** How the local time of a send passes around the earth. */
export type EveryZone = {
  first: { place: string; at: Date };
  last: { place: string; at: Date };
  /** The time of the campaign's zone: for users without a zone, and for users whose time has passed, if they get it. */
  usualAt: Date;
  ifPassed: PassedPolicy;
  /** True if the first zones have already passed the local time when the run begins. */
  hasPassed: boolean;
};

/** Returns the next occurrences of a campaign for display, computed by the function that fires it. */
export function describeOccurrences(
  timing: Timing,
  { after, count }: { after: Date; count: number },
): DescribedOccurrence[] {
  if (isInUserZone(timing)) return describeLocalSends(timing, { after, count });
  const timeZone = 'timeZone' in timing ? timing.timeZone : 'UTC';
  const asked = 'time' in timing ? timing.time : undefined;
  let before = offsetAt(after, timeZone);
  return nextOccurrences(timing, { after, count }).map((at) => {
    const local = { date: localDate(at, timeZone), time: localTime(at, timeZone) };
    const offset = offsetAt(at, timeZone);
    const clockChange = changeOf({ at, local, timeZone, asked, before });
    before = offset;
    return { at, local, timeZone, offset, clockChange, everyZone: undefined };
  });
}

/**
 * Describes sends at the local time of each user. The local time is the same in all zones, so no zone's clock changes
 * apply to all of them. A one-time send whose local time has passed in the first zones begins at once (`statusOf`).
 */
function describeLocalSends(timing: Timing, { after, count }: { after: Date; count: number }): DescribedOccurrence[] {
  const due = nextOccurrences(timing, { after, count });
  const begins = due.length === 0 && timing.kind === 'later' && timing.at > after ? [after] : due;
  return begins.flatMap((at) => {
    const send = localSendOf(timing, at);
    if (send === null) return [];
    const { date, time, timeZone, ifPassed } = send;
    const usualAt = toInstant(send);
    const { first, last } = inhabitedZones;
    const everyZone = {
      first: { place: first.place, at: toInstant({ ...send, timeZone: first.timeZone }) },
      last: { place: last.place, at: toInstant({ ...send, timeZone: last.timeZone }) },
      usualAt,
      ifPassed,
      hasPassed: toInstant({ ...send, timeZone: first.timeZone }) < at,
    };
    const local = { date, time: time.slice(0, 5) };
    return [{ at, local, timeZone, offset: offsetAt(usualAt, timeZone), clockChange: undefined, everyZone }];
  });
}

type TimelineEntry = Pick<DescribedOccurrence, 'at' | 'local' | 'timeZone'> & {
  asked: string | undefined;
  before: string;
};

function changeOf({ at, local, timeZone, asked, before }: TimelineEntry): ClockChange | undefined {
  if (asked !== undefined && local.time !== asked) return { kind: 'skipped', asked };
  if (comesTwice({ ...local, timeZone })) return { kind: 'twice' };
  const offset = offsetAt(at, timeZone);
  return offset === before ? undefined : { kind: 'shifted', before, after: offset };
}
