import type { LimitWindow } from '../access/rate-limits.ts';

// Reports of impressions and clicks

/**
 * Reports, counted in each process: with one token, from one address, and with unknown tokens from one address.
 * Unit: reports per source address. Exceeded: INTERACTION_RATE_LIMITED.
 * These are bursts, replenished evenly over the time. A device reports a message a few times. Many users may share an
 * address, and a campaign reaches them in the same minute. Reports with a token that this installation did not issue
 * are counted separately, so that they do not use up the limit of genuine ones.
 */
export const reportLimits = {
  token: { events: 30, seconds: 60 },
  address: { events: 3_000, seconds: 60 },
  unknownToken: { events: 600, seconds: 60 },
} as const satisfies Record<string, LimitWindow>;

/**
 * Reports of one kind that count for a device in one run.
 * Unit: reports per device. Exceeded: Further reports are not counted.
 * No user clicks a message more often.
 */
export const maxReports = 100;

/** Body of a report. Unit: bytes per request. Exceeded: BODY_TOO_LARGE. A report has about 300 bytes. */
export const maxReportBodyBytes = 4 * 1024;
