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
/** Largest offset of a local time from UTC (fact 5). Unit: seconds per value. Exceeded: DATA_VALUE_INVALID. */
export const maxOffsetSeconds = 54_000;
