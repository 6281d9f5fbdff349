/** After the first attempt, the waits before the second to the seventh; then a callback is given up (decision D27). */
export const callbackRetrySeconds: readonly number[] = [30, 60, 120, 600, 3_600, 21_600];
/** After the first attempt, the waits before the second to the fourth; then an email has failed. Ours. */
export const emailRetrySeconds: readonly number[] = [60, 600, 3_600];
/** Addresses that alerts of a workspace are emailed to. Ours. */
export const maxAlertEmails = 10;
/**
 * A message to a receiver that does not answer is put off without losing an attempt, but not for ever: it is given up once its next attempt
 * has been due for this long. Far more than the whole schedule takes (decision D27). Ours.
 */
export const maxPausedHours = 24;
