// Callbacks and emails

/**
 * Delays before the second to the seventh attempt of a callback (decision D27).
 * Unit: seconds per callback. Exceeded: It is given up, and can be sent again by hand.
 */
export const callbackRetrySeconds: readonly number[] = [30, 60, 120, 600, 3_600, 21_600];

/**
 * Delays before the second to the fourth attempt of an email.
 * Unit: seconds per email. Exceeded: It has failed, and can be sent again by hand.
 */
export const emailRetrySeconds: readonly number[] = [60, 600, 3_600];

/**
 * Email addresses that receive the alerts of a workspace.
 * Unit: addresses per workspace. Exceeded: PARAMETER_INVALID.
 */
export const maxAlertEmails = 10;

/**
 * Time for which a callback or a batch of events is postponed because its receiver does not respond.
 * Unit: hours per message. Exceeded: It is given up, and can be sent again by hand.
 * Postponing uses up no attempt. The time counts from when the next attempt was due, and is far longer than the whole
 * retry schedule (decision D27).
 */
export const maxPausedHours = 24;
