import { minOpensOfBestTime } from '../limits/campaigns.ts';
import type { CalendarRule } from './calendar.ts';

/** The policies for users whose local time had passed when the run began. */
export const passedPolicies = ['SKIP', 'SEND'] as const;
export type PassedPolicy = (typeof passedPolicies)[number];

/** Each user gets the message at the local time of their zone; `timeZone` applies to users without one. */
type InUserZone = { inUserZone?: PassedPolicy };

/** Each user gets the message at their own hour after the start. */
type AtBestTime = { bestTime?: BestTime };

/**
 * When a campaign is sent (interface 2.9). Local values are stored with the instants, so that changes of the time zone
 * data can be applied.
 */
export type Timing =
  | { kind: 'soon' }
  /** `date` YYYY-MM-DD and `time` hh:mm or hh:mm:ss in `timeZone`; `at` is the instant according to the current zone data. */
  | ({ kind: 'later'; at: Date; date: string; time: string; timeZone: string } & InUserZone & AtBestTime)
  /** Every `repeatAfterDays` local days at `time`, first on `firstDate`, last on or before `endDate`. */
  | ({ kind: 'periodic'; repeatAfterDays: number } & DailySpan)
  /** On the days of `rule`, otherwise as `periodic`. */
  | ({ kind: 'calendar'; rule: CalendarRule } & DailySpan)
  /** Whenever its business event is triggered; ISO instants, null if there is no such bound. */
  | { kind: 'triggered'; startsAt: string | null; endsAt: string | null; timeZone: string };

type DailySpan = { firstDate: string; endDate: string; time: string; timeZone: string } & InUserZone & AtBestTime;

/** Returns the best-time setting of a campaign; null if it is sent at one time. */
export function bestTimeOfTiming(timing: Timing): BestTime | null {
  return 'bestTime' in timing ? (timing.bestTime ?? null) : null;
}

/** The policies for users whose best time is unknown, or outside the campaign's window. */
export const bestTimePolicies = ['SEND_AT_START', 'SEND_AT_END', 'DO_NOT_SEND'] as const;
export type BestTimePolicy = (typeof bestTimePolicies)[number];

/** The campaign is sent within `windowHours` of its start, to each user at the hour at which that user opens messages. */
export type BestTime = { windowHours: number; ifUnknown: BestTimePolicy; ifOutside: BestTimePolicy };

/** How many messages a user opened in each hour of the day, counted from the start of the campaign: 24 numbers. */
export type OpensByHour = readonly number[];

type Question = { opens: OpensByHour; start: Date };

/**
 * Returns when a campaign is sent to a user; undefined: not at all. The best hour is the one with the most opens; opens
 * in the adjacent hours count half, because habits do not follow full hours. If several hours are equal, the earliest
 * applies. The same opens give the same hour, so a retry after a crash sends at the same time.
 */
export function bestTimeOf(
  { windowHours, ifUnknown, ifOutside }: BestTime,
  { opens, start }: Question,
): Date | undefined {
  const after = (hours: number): Date => new Date(start.getTime() + hours * 3_600_000);
  const by = (policy: BestTimePolicy): Date | undefined =>
    policy === 'DO_NOT_SEND' ? undefined : after(policy === 'SEND_AT_START' ? 0 : windowHours);
  if (opens.reduce((sum, count) => sum + count, 0) < minOpensOfBestTime) return by(ifUnknown);
  const at = (hour: number): number => opens[(hour + opens.length) % opens.length]!;
  const weights = opens.map((count, hour) => 2 * count + at(hour - 1) + at(hour + 1));
  const best = weights.indexOf(Math.max(...weights));
  return best < windowHours ? after(best) : by(ifOutside);
}

/** A timing as stored in JSON, where instants are strings. */
export type StoredTiming = Exclude<Timing, { kind: 'later' }> | (Omit<LaterTiming, 'at'> & { at: string });

type LaterTiming = Extract<Timing, { kind: 'later' }>;

/** Parses a campaign's stored timing. */
export function fromStoredTiming(stored: StoredTiming): Timing {
  return stored.kind === 'later' ? { ...stored, at: new Date(stored.at) } : stored;
}
