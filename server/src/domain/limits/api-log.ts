// API log

/**
 * Retention of a call in the API log.
 * Unit: days per call. Exceeded: It is deleted. Setting: CARILLON_KEEP_API_LOG_DAYS.
 */
export const apiLogDays = 7;

/**
 * Calls without a valid credential that the API log keeps, counted in each process.
 * Unit: calls a minute per source address. Exceeded: Further calls are not logged.
 * A stranger must not fill the log or keep the database busy with it.
 */
export const unprovenCallsPerMinute = 600;

/** Length of a request or response body in the API log. Unit: characters per body. Exceeded: The rest is cut off. */
export const maxLoggedBodyCharacters = 4_096;
