/** How long calls are kept in the API log. Ours. */
export const apiLogDays = 7;
/**
 * Calls of a source address that the log keeps although their callers proved nothing, counted in each process. Ours: a
 * stranger must not fill the log, nor keep the database busy with it.
 */
export const unprovenCallsPerMinute = 600;
/** Characters of a request's or an answer's body that the log keeps. Ours. */
export const maxLoggedBodyCharacters = 4_096;
