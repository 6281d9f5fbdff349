import type { LimitWindow } from '../access/rate-limits.ts';

/** Active segments of a workspace, of all kinds (interface 8). */
export const maxActiveSegments = 1_000;

/** Create, add, remove and replace, each one operation; the last hour and the last 24 hours (interface 8). */
export const fileOperationsPerHour = 10;
export const fileOperationsPerDay = 100;
/** Users that files may add in 24 hours (interface 8), unless the setting says otherwise. */
export const fileUsersPerDay = 2_000_000;
/** 150 MB = 150 × 1024 × 1024 bytes after decoding (decision D25). */
export const maxFileBytes = 150 * 1024 * 1024;
/** Longest value of a file (decision D23). */
export const maxFileValueBytes = 1_024;
/** Rejected lines that are kept, with their reason (decision D23). */
export const maxRejectsKept = 10_000;
/** Redirects of a download, each checked (decision D25). */
export const maxFileRedirects = 5;
/** Content codings of a download, one in the other; each multiplies what a small file can become. */
export const maxFileCodings = 3;
/**
 * A download must bring so much on average of each minute that we wait for it; the time in which we do not read does not
 * count. 150 MB at this rate take ten hours, so nobody holds a place among the fills for ever.
 */
export const minFileBytesPerSecond = 4_096;
/** The time that the average is of; a server may take as long to begin. */
export const fileRateSeconds = 60;
/** A failed download is tried again after these many seconds, then reported (decision D25). */
export const fileRetrySeconds: readonly number[] = [5, 30, 120];

/** Calls of filter segments, each kind on its own (fact 2.3). */
export const filterSegmentWindows = {
  list: makeWindows(50, 200, 1_000),
  create: makeWindows(50, 200, 1_000),
  update: makeWindows(50, 200, 1_000),
  get: makeWindows(100, 1_000, 4_000),
} as const;
/** Calls of cohort partners (fact 2.4). */
export const cohortRequestsPerMinute = 300;

/** Groups within groups, the tree itself being the first (fact 2.3 names the refusal and no number). */
export const maxFilterDepth = 10;
/** Filters of a tree, groups among them. */
export const maxFilters = 100;
/** References of a tree to other segments. */
export const maxFilterSegments = 20;
/** Filters once every reference is replaced: references multiply, and a statement holds only so many conditions. */
export const maxExpandedFilters = 1_000;
/** Values of one filter. */
export const maxFilterValues = 1_000;
/** Bytes of one value. */
export const maxFilterTextBytes = 1_024;
/** Distance of a relative date. */
export const maxFilterDays = 36_500;

/** `expiry_time` of a file segment (decision D20). */
export const minExpiryDays = 1;
export const maxExpiryDays = 3_650;
/** Archived segments disappear from view after this (fact 2.2). */
export const archivedSegmentShownDays = 180;
/** Members of segments archived for longer are deleted for good (fact 2.2). */
export const archivedMembersKeptDays = 30;

/** Ours. */
export const maxSegmentNameCharacters = 256;
/** `file_url` and `callback_url`. Ours. */
export const maxUrlCharacters = 2_048;
/** Addresses a report is sent to (decision D20). */
export const maxReportEmails = 20;

function makeWindows(perMinute: number, perHour: number, perDay: number): readonly LimitWindow[] {
  return [
    { events: perMinute, seconds: 60 },
    { events: perHour, seconds: 3_600 },
    { events: perDay, seconds: 86_400 },
  ];
}
