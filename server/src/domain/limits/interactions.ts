import type { LimitWindow } from '../access/rate-limits.ts';

/**
 * Bursts, replenished evenly over the time and counted in each process. A device reports a message a few times. Many
 * users may share an address, and a campaign reaches them in the same minute. Reports with a token that this
 * installation did not issue are counted separately, so that they do not use up the limit of genuine ones.
 */
export const reportLimits = {
  token: { events: 30, seconds: 60 },
  address: { events: 3_000, seconds: 60 },
  unknownToken: { events: 600, seconds: 60 },
} as const satisfies Record<string, LimitWindow>;

/** Reports of one kind counted for one device in one run. No user clicks a message more often. */
export const maxReports = 100;
/** Ours; a report has about 300 bytes. */
export const maxReportBodyBytes = 4 * 1024;
