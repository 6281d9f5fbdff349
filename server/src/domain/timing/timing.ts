/** When a campaign is sent (interface 2.9). Local values stand beside instants, so that a change of zone data can be followed. */
export type Timing =
  | { kind: 'soon' }
  /** `date` YYYY-MM-DD and `time` hh:mm in `timeZone`; `at` is the instant they mean today. */
  | { kind: 'later'; at: Date; date: string; time: string; timeZone: string }
  /** Every `repeatAfterDays` local days at `time`, first on `firstDate`, last on or before `endDate`. */
  | { kind: 'periodic'; firstDate: string; endDate: string; time: string; timeZone: string; repeatAfterDays: number };
