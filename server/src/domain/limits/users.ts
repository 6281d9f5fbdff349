// Users

/** Users sent one by one (fact 5). Unit: users a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const userUpdatesPerMinute = 10_000;
/** Users and devices in batch requests (fact 5). Unit: users a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const batchUsersPerMinute = 60_000;

/**
 * Users requested with `customers/export` (fact 5).
 * Unit: users a minute per workspace. Exceeded: DATA_RATE_LIMITED.
 */
export const exportedUsersPerMinute = 1_000;

/** Merges of two users (fact 5). Unit: merges a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const mergesPerMinute = 1_000;
/** Deletions of users (fact 5). Unit: users a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const deletionsPerMinute = 5_000;

/**
 * Tests of the connection.
 * Unit: requests a minute per workspace. Exceeded: DATA_RATE_LIMITED.
 * The contract sets no number. Connection tests are run by hand or by a monitor.
 */
export const connectionTestsPerMinute = 1_000;

/** Users that one request may export (fact 5). Unit: users per request. Exceeded: DATA_LIMIT_BREACHED. */
export const maxExportedUsers = 20;
/** Pairs of users that one request may merge (fact 5). Unit: pairs per request. Exceeded: DATA_LIMIT_BREACHED. */
export const maxMergedUsers = 50;

/**
 * Longest name of an attribute; the number of a user's attributes is not limited.
 * Unit: characters per name. Exceeded: DATA_VALUE_INVALID.
 * The size of a request limits how many attributes one call adds.
 */
export const maxAttributeNameCharacters = 256;

/** Longest customer id. Unit: bytes per customer id. Exceeded: DATA_VALUE_INVALID. The table has the same limit. */
export const maxCustomerIdBytes = 512;

/**
 * Longest value that identifies a user (decision D23).
 * Unit: bytes per value. Exceeded: The value is stored but identifies no user.
 * A line of a file cannot be longer either.
 */
export const maxIdentifierBytes = 1_024;

/**
 * Body of a request of the data API or of a cohort, unless it is a batch request (fact 5).
 * Unit: bytes per request. Exceeded: BODY_TOO_LARGE.
 */
export const maxDataBodyBytes = 128 * 1024;

/** Body of a batch request (fact 5). Unit: bytes per request. Exceeded: BODY_TOO_LARGE. */
export const maxBatchBodyBytes = 100 * 1024;

/**
 * Time after which a deleted user is erased.
 * Unit: hours per user. Exceeded: The user is erased. Setting: CARILLON_ERASURE_DELAY_HOURS.
 * A mistake can be undone until then.
 */
export const erasureDelayHours = 24;

// Events

/**
 * Events sent one by one: actions, not requests (fact 5).
 * Unit: events a minute per workspace. Exceeded: DATA_RATE_LIMITED.
 */
export const eventsPerMinute = 30_000;

/** Events in batch requests (fact 5). Unit: events a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const batchEventsPerMinute = 60_000;
/** Longest name of an event. Unit: characters per name. Exceeded: DATA_VALUE_INVALID. The table has the same limit. */
export const maxEventNameCharacters = 256;
/** Longest version of an app. Unit: characters per value. Exceeded: DATA_VALUE_INVALID. */
export const maxAppVersionCharacters = 256;
/** Rules of `unset_attributes` in one request. Unit: rules per request. Exceeded: DATA_VALUE_INVALID. */
export const maxUnsetRules = 100;
/** Largest offset of a local time from UTC (fact 5). Unit: seconds per value. Exceeded: DATA_VALUE_INVALID. */
export const maxOffsetSeconds = 54_000;
/**
 * Farthest time of an event ahead of this clock, because clocks of senders differ; the event counts as happening now. Unit:
 * seconds per event. Exceeded: DATA_VALUE_INVALID.
 */
export const maxEventLeadSeconds = 300;

// Devices

/** Devices sent one by one (fact 5). Unit: devices a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const deviceUpdatesPerMinute = 10_000;
/** Devices blocked or unblocked (fact 5). Unit: devices a minute per workspace. Exceeded: DATA_RATE_LIMITED. */
export const deviceBlocksPerMinute = 1_000;
/** Devices that one request may block. Unit: devices per request. Exceeded: DATA_VALUE_INVALID. */
export const maxBlockedDevices = 100;
/** Longest reason for a block. Unit: characters per request. Exceeded: DATA_VALUE_INVALID. */
export const maxBlockReasonCharacters = 1_000;
/** Longest push token, or web subscription as text. Unit: characters per device. Exceeded: DATA_VALUE_INVALID. */
export const maxPushIdCharacters = 4_096;
/** Longest model, version or advertising id. Unit: characters per value. Exceeded: DATA_VALUE_INVALID. */
export const maxDeviceTextCharacters = 512;

// Users in the console

/**
 * Events that count for the time at which the list of users last saw a user.
 * Unit: days per event. Exceeded: The list shows the newest registration of a device instead.
 * Each further day is another table to read.
 */
export const seenDays = 30;
