/**
 * An occurrence that is at most this late is still sent, unless a setting overrides it; a later one is missed (decision
 * D37).
 */
export const lateSendMinutes = 60;
/** Opened messages of a user that are needed to know a best time; fewer are chance. Ours. */
export const minOpensOfBestTime = 3;
/** Days of opens before the send that determine the best time: habits change. Ours. */
export const bestTimeDays = 90;
/** `window_in_hours`: a day has every hour. Ours. */
export const maxBestTimeHours = 24;
/** `repeatAfter` of a periodic push (decision D36). */
export const maxRepeatAfterDays = 365;
