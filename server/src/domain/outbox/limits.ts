/** After the first attempt, the waits before the second to the seventh; then a callback is given up (decision D27). */
export const callbackRetrySeconds: readonly number[] = [30, 60, 120, 600, 3_600, 21_600];
/** After the first attempt, the waits before the second to the fourth; then an email has failed. Ours. */
export const emailRetrySeconds: readonly number[] = [60, 600, 3_600];
/** Addresses that alerts of a workspace are emailed to. Ours. */
export const maxAlertEmails = 10;
