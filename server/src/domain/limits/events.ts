/** Events sent one by one: actions, not requests (fact 5). */
export const eventsPerMinute = 30_000;
/** Events of batch requests (fact 5). */
export const batchEventsPerMinute = 60_000;

/** Ours; the table has the same limit. */
export const maxEventNameCharacters = 256;
/** Ours. */
export const maxAppVersionCharacters = 256;
/** 15 hours from UTC (fact 5). */
export const maxOffsetSeconds = 54_000;
