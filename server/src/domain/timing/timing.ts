import type { BestTime } from './best-time.ts';
import type { CalendarRule } from './calendar-rule.ts';

/** What happens to users whose local time had passed when the run began. */
export const passedPolicies = ['SKIP', 'SEND'] as const;
export type PassedPolicy = (typeof passedPolicies)[number];

/** Each user gets it at the local time of its own zone; `timeZone` is that of users who have none. */
type InUserZone = { inUserZone?: PassedPolicy };

/** Each user gets it at an hour of its own after the start. */
type AtBestTime = { bestTime?: BestTime };

/**
 * When a campaign is sent (interface 2.9). Local values are stored with the instants, so that changes of zone data can
 * be followed.
 */
export type Timing =
  | { kind: 'soon' }
  /** `date` YYYY-MM-DD and `time` hh:mm or hh:mm:ss in `timeZone`; `at` is the instant they mean today. */
  | ({ kind: 'later'; at: Date; date: string; time: string; timeZone: string } & InUserZone & AtBestTime)
  /** Every `repeatAfterDays` local days at `time`, first on `firstDate`, last on or before `endDate`. */
  | ({ kind: 'periodic'; repeatAfterDays: number } & DailySpan)
  /** On the days of `rule`, otherwise as `periodic`. */
  | ({ kind: 'calendar'; rule: CalendarRule } & DailySpan)
  /** Whenever its business event is triggered; ISO instants, null where there is no such bound. */
  | { kind: 'triggered'; startsAt: string | null; endsAt: string | null; timeZone: string };

type DailySpan = { firstDate: string; endDate: string; time: string; timeZone: string } & InUserZone & AtBestTime;

/** The best time of a campaign; null when it is sent at one time. */
export function bestTimeOfTiming(timing: Timing): BestTime | null {
  return 'bestTime' in timing ? (timing.bestTime ?? null) : null;
}
