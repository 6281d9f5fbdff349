/** How many days each kind of record is kept, as an installation has set it. */
export type RetentionDays = {
  ledger: number;
  events: number;
  runs: number;
  interactions: number;
  pushRequests: number;
  messages: number;
  operations: number;
  audit: number;
  apiLog: number;
};

const dayMilliseconds = 24 * 3_600_000;

/** A record from before this instant is older than `days`. */
export function keptSince(now: Date, days: number): Date {
  return new Date(now.getTime() - days * dayMilliseconds);
}

/**
 * The time by which records grow old: the earlier of the two clocks. Moving the sandbox's clock forward, by months for
 * example, makes campaigns due and deletes nothing.
 */
export function retentionTime({ now, realNow }: { now: Date; realNow: Date }): Date {
  return now < realNow ? now : realNow;
}
