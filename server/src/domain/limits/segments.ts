import type { LimitWindow } from '../access/rate-limits.ts';

// Segments

/** Active segments of all kinds (interface 8). Unit: segments per workspace. Exceeded: SEGMENT_ACTIVE_LIMITED. */
export const maxActiveSegments = 1_000;
/** Shortest `expiry_time` of a file segment (decision D20). Unit: days per segment. Below: SEGMENT_FIELD_INVALID. */
export const minExpiryDays = 1;
/** Longest `expiry_time` of a file segment (decision D20). Unit: days per segment. Exceeded: SEGMENT_FIELD_INVALID. */
export const maxExpiryDays = 3_650;
/** Time for which an archived segment is listed (fact 2.2). Unit: days per segment. Exceeded: The segment is hidden. */
export const archivedSegmentShownDays = 180;

/**
 * Retention of the members of an archived segment (fact 2.2).
 * Unit: days per segment. Exceeded: They are deleted permanently.
 */
export const archivedMembersKeptDays = 30;

/** Longest name of a segment. Unit: characters per name. Exceeded: SEGMENT_FIELD_INVALID. */
export const maxSegmentNameCharacters = 256;

// Files of segments

/**
 * Operations that create, add to, remove from or replace a segment (interface 8).
 * Unit: operations an hour per workspace. Exceeded: SEGMENT_OPERATIONS_LIMITED.
 */
export const fileOperationsPerHour = 10;

/**
 * Operations that create, add to, remove from or replace a segment (interface 8).
 * Unit: operations in 24 hours per workspace. Exceeded: SEGMENT_OPERATIONS_LIMITED.
 */
export const fileOperationsPerDay = 100;

/**
 * Users that files may add (interface 8).
 * Unit: users in 24 hours per workspace. Exceeded: SEGMENT_OPERATIONS_LIMITED. Setting: CARILLON_SEGMENT_USERS_PER_DAY.
 */
export const fileUsersPerDay = 2_000_000;

/**
 * Size of a file after decoding (decision D25).
 * Unit: bytes per file. Exceeded: The callback and the report give the reason.
 * The contract's 150 MB are 150 × 1024 × 1024 bytes.
 */
export const maxFileBytes = 150 * 1024 * 1024;

/** Longest value of a file (decision D23). Unit: bytes per value. Exceeded: The line is skipped and reported. */
export const maxFileValueBytes = 1_024;

/**
 * Skipped lines that are stored with their reason (decision D23).
 * Unit: lines per file. Exceeded: Further lines are only counted.
 */
export const maxRejectsKept = 10_000;

/**
 * Redirects of a download (decision D25).
 * Unit: redirects per download. Exceeded: The download fails.
 * Each redirect is checked.
 */
export const maxFileRedirects = 5;

/**
 * Nested content encodings of a download (decision 0061).
 * Unit: encodings per download. Exceeded: The download fails; the callback and the report give the reason.
 * Each encoding multiplies the size that a small file can expand to.
 */
export const maxFileCodings = 3;

/**
 * Lowest average rate of a download, in bytes as they are sent, while Carillon waits for them.
 * Unit: bytes a second per download. Below: The download fails and is retried.
 * Time in which Carillon does not read does not count. 150 MB take ten hours at this rate, so no download occupies a
 * fill slot forever.
 */
export const minFileBytesPerSecond = 4_096;

/**
 * Period over which the rate of a download is averaged.
 * Unit: seconds per download. Exceeded: The next period begins.
 * A server may also take this long to begin.
 */
export const fileRateSeconds = 60;

/**
 * Delays before a failed download is retried (decision D25).
 * Unit: seconds per download. Exceeded: The callback and the report give the reason.
 */
export const fileRetrySeconds: readonly number[] = [5, 30, 120];

/** Longest `file_url` and `callback_url`. Unit: characters per URL. Exceeded: SEGMENT_FIELD_INVALID. */
export const maxUrlCharacters = 2_048;

/**
 * Email addresses that a report is sent to (decision D20).
 * Unit: addresses per request. Exceeded: SEGMENT_FIELD_INVALID.
 */
export const maxReportEmails = 20;

// Filter segments and cohorts

/**
 * Calls of filter segments, each kind counted separately (fact 2.3).
 * Unit: requests per workspace. Exceeded: SEGMENT_RATE_LIMITED.
 */
export const filterSegmentWindows = {
  list: makeWindows(50, 200, 1_000),
  create: makeWindows(50, 200, 1_000),
  update: makeWindows(50, 200, 1_000),
  get: makeWindows(100, 1_000, 4_000),
} as const;

/** Calls of cohort partners (fact 2.4). Unit: requests a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const cohortRequestsPerMinute = 300;

/**
 * Nesting depth of the groups of a filter.
 * Unit: levels per segment. Exceeded: SEGMENT_QUERY_TOO_DEEP.
 * The tree itself is the first level. The contract names the error but no number (fact 2.3).
 */
export const maxFilterDepth = 10;

/** Filters of a tree, including groups. Unit: filters per segment. Exceeded: SEGMENT_QUERY_TOO_LONG. */
export const maxFilters = 100;
/** References of a tree to other segments. Unit: references per segment. Exceeded: SEGMENT_QUERY_TOO_MANY_SEGMENTS. */
export const maxFilterSegments = 20;

/**
 * Filters of a tree after every reference is expanded.
 * Unit: filters per segment. Exceeded: SEGMENT_QUERY_TOO_LONG.
 * References multiply, and a statement can hold only a limited number of conditions.
 */
export const maxExpandedFilters = 1_000;

/** Values of one filter. Unit: values per filter. Exceeded: SEGMENT_QUERY_TOO_LONG. */
export const maxFilterValues = 1_000;
/** Longest value of a filter. Unit: bytes per value. Exceeded: SEGMENT_QUERY_TOO_LONG. */
export const maxFilterTextBytes = 1_024;
/** Furthest relative date of a filter. Unit: days per value. Exceeded: SEGMENT_FILTERS_INVALID. */
export const maxFilterDays = 36_500;

function makeWindows(perMinute: number, perHour: number, perDay: number): readonly LimitWindow[] {
  return [
    { events: perMinute, seconds: 60 },
    { events: perHour, seconds: 3_600 },
    { events: perDay, seconds: 86_400 },
  ];
}
