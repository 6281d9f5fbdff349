// Send times

/**
 * Delay with which a scheduled occurrence is still sent (decision D37).
 * Unit: minutes per occurrence. Exceeded: The occurrence is recorded as `MISSED`. Setting: CARILLON_LATE_SEND_MINUTES.
 */
export const lateSendMinutes = 60;

/**
 * Opened messages that are needed to know a user's best time.
 * Unit: messages per user. Below: The `if_best_time_is_unknown` of the campaign decides the time.
 * Fewer are chance.
 */
export const minOpensOfBestTime = 3;

/**
 * Period before a send whose opens determine the best time.
 * Unit: days per user. Exceeded: Older opens are ignored.
 * Habits change.
 */
export const bestTimeDays = 90;

/**
 * Longest `window_in_hours` of a campaign at the best time.
 * Unit: hours per campaign. Exceeded: CAMPAIGN_REQUEST_INVALID.
 * A day has every hour.
 */
export const maxBestTimeHours = 24;

/**
 * Longest `repeatAfter` of a periodic push (decision D36).
 * Unit: days per request. Exceeded: PUSH_PARAMETER_INVALID.
 */
export const maxRepeatAfterDays = 365;
