import { maxRepeatAfterDays } from '../limits/campaigns.ts';
import {
  addDays,
  localDate,
  parseDate,
  parseTime,
  toInstant,
  findTimeZone,
  noTimeZone,
  resolveTimeZoneAlias,
} from './local-time.ts';
import { nextOccurrences } from './occurrences.ts';
import type { Timing } from './timing.ts';

export type DeliveryType = 'soon' | 'later' | 'periodic';

/** Members in addition to `type`, and the types that use them (interface 2.9, fact 3.5). */
export const timingMembers = {
  date: ['later'],
  time: ['later', 'periodic'],
  endDate: ['periodic'],
  timezone: ['later', 'periodic'],
  repeatAfter: ['periodic'],
} as const satisfies Record<string, readonly DeliveryType[]>;

/** `campaignDelivery` as received; members of other types are ignored. */
export type TimingInput = { type: DeliveryType } & { [Name in keyof typeof timingMembers]?: unknown };

export type TimingContext = { now: Date; workspaceTimeZone: string };

/** An invalid member, and why it is invalid. */
export type TimingFault = { fault: { field: string; reason: string } };

/**
 * Parses a delivery (interface 2.9, decision D36). A timing without any send left is a fault, because it would never be
 * sent.
 */
export function parseTiming(input: TimingInput, { now, workspaceTimeZone }: TimingContext): Timing | TimingFault {
  if (input.type === 'soon') return { kind: 'soon' };
  const timeZone = readTimeZone(input.timezone, workspaceTimeZone);
  if (timeZone === undefined) return fault('timezone', noTimeZone);
  const time = typeof input.time === 'string' ? parseTime(input.time) : undefined;
  if (time === undefined) return fault('time', input.time === undefined ? 'is required' : 'must be hh:mm AM/PM');
  return input.type === 'later'
    ? parseLater(input, { now, time, timeZone })
    : parsePeriodic(input, { now, time, timeZone });
}

/** Returns the zone for a request. The workspace's zone is never rejected, because the caller did not choose it. */
function readTimeZone(named: unknown, workspaceTimeZone: string): string | undefined {
  if (named === undefined) return resolveTimeZoneAlias(workspaceTimeZone);
  return typeof named === 'string' ? findTimeZone(named) : undefined;
}

type Local = { now: Date; time: string; timeZone: string };

function parseLater(input: TimingInput, { now, time, timeZone }: Local): Timing | TimingFault {
  const date = typeof input.date === 'string' ? parseDate(input.date) : undefined;
  if (date === undefined)
    return fault('date', input.date === undefined ? 'is required' : 'must be a day as MM/DD/YYYY');
  const at = toInstant({ date, time, timeZone });
  return at > now ? { kind: 'later', at, date, time, timeZone } : fault('date', 'is in the past');
}

function parsePeriodic(input: TimingInput, { now, time, timeZone }: Local): Timing | TimingFault {
  const endDate = typeof input.endDate === 'string' ? parseDate(input.endDate) : undefined;
  if (endDate === undefined)
    return fault('endDate', input.endDate === undefined ? 'is required' : 'must be a day as MM/DD/YYYY');
  const repeatAfterDays = parseDays(input.repeatAfter);
  if (repeatAfterDays === undefined) {
    return fault(
      'repeatAfter',
      input.repeatAfter === undefined
        ? 'is required'
        : `must be a number of days from 1 to ${maxRepeatAfterDays}, as text`,
    );
  }
  const today = localDate(now, timeZone);
  // The first send is at the next occurrence of the time: today when it is still to come, else tomorrow.
  const firstDate = toInstant({ date: today, time, timeZone }) > now ? today : addDays(today, 1);
  const timing: Timing = { kind: 'periodic', firstDate, endDate, time, timeZone, repeatAfterDays };
  return nextOccurrences(timing, { after: now, count: 1 }).length === 1
    ? timing
    : fault('endDate', 'leaves nothing to send');
}

/** Parses a number of days. The contract specifies text; numbers from existing clients are also accepted. */
function parseDays(value: unknown): number | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,3}$/.test(text)) return undefined;
  const days = Number(text);
  return days >= 1 && days <= maxRepeatAfterDays ? days : undefined;
}

function fault(field: string, reason: string): TimingFault {
  return { fault: { field: `campaignDelivery.${field}`, reason } };
}
