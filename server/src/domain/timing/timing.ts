import type { CalendarRule } from './calendar-rule.ts';

/** When a campaign is sent (interface 2.9). Local values stand beside instants, so that a change of zone data can be followed. */
export type Timing =
  | { kind: 'soon' }
  /** `date` YYYY-MM-DD and `time` hh:mm or hh:mm:ss in `timeZone`; `at` is the instant they mean today. */
  | { kind: 'later'; at: Date; date: string; time: string; timeZone: string }
  /** Every `repeatAfterDays` local days at `time`, first on `firstDate`, last on or before `endDate`. */
  | { kind: 'periodic'; firstDate: string; endDate: string; time: string; timeZone: string; repeatAfterDays: number }
  /** On the days of `rule`, otherwise as `periodic`. */
  | { kind: 'calendar'; rule: CalendarRule; firstDate: string; endDate: string; time: string; timeZone: string }
  /** Whenever its business event is triggered; ISO instants, null where there is no such bound. */
  | { kind: 'triggered'; startsAt: string | null; endsAt: string | null; timeZone: string };
