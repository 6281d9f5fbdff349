/** An occurrence found at most this late is still sent, unless the setting says otherwise; a later one is missed (decision D37). */
export const lateSendMinutes = 60;
/** Opened messages of a user from which a best time is known; fewer are chance. Ours. */
export const minOpensOfBestTime = 3;
/** Opens of so many days before the send tell it: habits change. Ours. */
export const bestTimeDays = 90;
/** `window_in_hours`: a day has every hour. Ours. */
export const maxBestTimeHours = 24;
/** `repeatAfter` of a periodic push (decision D36). */
export const maxRepeatAfterDays = 365;
