/** How long calls are kept in the API log. Ours. */
export const apiLogDays = 7;
/** Characters of a request's or an answer's body that the log keeps. Ours. */
export const maxLoggedBodyCharacters = 4_096;
