import type { LimitWindow } from '../access/rate-limits.ts';

/** Active segments of a workspace, of all kinds (interface 8). */
export const maxActiveSegments = 1_000;

/** Create, add, remove and replace each count as one operation, in the last hour and the last 24 hours (interface 8). */
export const fileOperationsPerHour = 10;
export const fileOperationsPerDay = 100;
/** Users that files may add in 24 hours (interface 8), unless a setting overrides it. */
export const fileUsersPerDay = 2_000_000;
/** 150 MB = 150 × 1024 × 1024 bytes after decoding (decision D25). */
export const maxFileBytes = 150 * 1024 * 1024;
/** Longest value of a file (decision D23). */
export const maxFileValueBytes = 1_024;
/** Rejected lines that are stored, with their reason (decision D23). */
export const maxRejectsKept = 10_000;
/** Redirects of a download; each is checked (decision D25). */
export const maxFileRedirects = 5;
/** Nested content codings of a download; each multiplies the size that a small file can expand to. */
export const maxFileCodings = 3;
/**
 * The minimum average rate of a download over each minute in which we wait for it; time in which we do not read does
 * not count. 150 MB take ten hours at this rate, so no download occupies a fill slot forever.
 */
export const minFileBytesPerSecond = 4_096;
/** The period of the average; a server may also take this long to begin. */
export const fileRateSeconds = 60;
/** Delays in seconds before a failed download is retried; after that, it is reported (decision D25). */
export const fileRetrySeconds: readonly number[] = [5, 30, 120];

/** Calls of filter segments, each kind counted separately (fact 2.3). */
export const filterSegmentWindows = {
  list: makeWindows(50, 200, 1_000),
  create: makeWindows(50, 200, 1_000),
  update: makeWindows(50, 200, 1_000),
  get: makeWindows(100, 1_000, 4_000),
} as const;
/** Calls of cohort partners (fact 2.4). */
export const cohortRequestsPerMinute = 300;

/** Nesting depth of groups; the tree itself is the first (fact 2.3 names the error but no number). */
export const maxFilterDepth = 10;
/** Filters of a tree, including groups. */
export const maxFilters = 100;
/** References of a tree to other segments. */
export const maxFilterSegments = 20;
/**
 * Filters after every reference is expanded: references multiply, and a statement can hold only a limited number of
 * conditions.
 */
export const maxExpandedFilters = 1_000;
/** Values of one filter. */
export const maxFilterValues = 1_000;
/** Bytes of one value. */
export const maxFilterTextBytes = 1_024;
/** Days of a relative date. */
export const maxFilterDays = 36_500;

/** `expiry_time` of a file segment (decision D20). */
export const minExpiryDays = 1;
export const maxExpiryDays = 3_650;
/** Archived segments are hidden after this (fact 2.2). */
export const archivedSegmentShownDays = 180;
/** Members of segments that have been archived for longer are deleted permanently (fact 2.2). */
export const archivedMembersKeptDays = 30;

/** Ours. */
export const maxSegmentNameCharacters = 256;
/** `file_url` and `callback_url`. Ours. */
export const maxUrlCharacters = 2_048;
/** Email addresses that a report is sent to (decision D20). */
export const maxReportEmails = 20;

function makeWindows(perMinute: number, perHour: number, perDay: number): readonly LimitWindow[] {
  return [
    { events: perMinute, seconds: 60 },
    { events: perHour, seconds: 3_600 },
    { events: perDay, seconds: 86_400 },
  ];
}
