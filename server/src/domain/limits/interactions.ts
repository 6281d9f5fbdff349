import type { LimitWindow } from '../access/rate-limits.ts';

/**
 * Bursts, evenly replenished over the time and counted in each process. A device reports a message a few times. Many users
 * may share an address, and a campaign reaches them in the same minute. Reports whose token this installation did not issue
 * are counted apart, so that they use up no share of the genuine ones.
 */
export const reportLimits = {
  token: { events: 30, seconds: 60 },
  address: { events: 3_000, seconds: 60 },
  unknownToken: { events: 600, seconds: 60 },
} as const satisfies Record<string, LimitWindow>;

/** Reports counted of one kind from one device in one run; nobody clicks a message more often. */
export const maxReports = 100;
/** Ours; a report has about 300 bytes. */
export const maxReportBodyBytes = 4 * 1024;
