/** Delays before the second to the seventh attempt; after that, the callback is given up (decision D27). */
export const callbackRetrySeconds: readonly number[] = [30, 60, 120, 600, 3_600, 21_600];
/** Delays before the second to the fourth attempt; after that, the email has failed. Ours. */
export const emailRetrySeconds: readonly number[] = [60, 600, 3_600];
/** Email addresses that receive the alerts of a workspace. Ours. */
export const maxAlertEmails = 10;
/**
 * A message to a receiver that does not respond is postponed without using up an attempt, but not forever. It is given
 * up once its next attempt has been due for this long. This is far longer than the whole retry schedule (decision D27).
 * Ours.
 */
export const maxPausedHours = 24;
