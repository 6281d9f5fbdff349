/** How long calls are kept in the API log. Ours. */
export const apiLogDays = 7;
/**
 * Unauthenticated calls of a source address that the log keeps, counted in each process. Ours: a stranger must not fill
 * the log or keep the database busy with it.
 */
export const unprovenCallsPerMinute = 600;
/** Characters of a request or response body that the log keeps. Ours. */
export const maxLoggedBodyCharacters = 4_096;
