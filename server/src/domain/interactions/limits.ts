/** The burst size, and the time over which it is evenly replenished. */
export type ReportLimit = { reports: number; seconds: number };

/**
 * A device reports a message a few times. Many users may share an address, and a campaign reaches them in the same
 * minute. Counted in each process.
 */
export const reportLimits = {
  token: { reports: 30, seconds: 60 },
  address: { reports: 3_000, seconds: 60 },
} as const satisfies Record<string, ReportLimit>;

/** Reports counted of one kind from one device in one run; nobody clicks a message more often. */
export const maxReports = 100;
/** Ours; a report has about 300 bytes. */
export const maxReportBodyBytes = 4 * 1024;
