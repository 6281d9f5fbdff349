/**
 * A receiver is paused after this many consecutive attempts without a response. One or two may be a restart of the
 * receiver. The third indicates that the next attempt would also hold a slot for its whole time limit.
 */
export const failuresBeforePause = 3;

/**
 * The first pause; each probe without a response doubles it. The longest pause is half of the shortest wait before a fourth
 * attempt of a callback (decision D27), so a pause never delays the schedule of a receiver that gets one callback.
 */
export const firstPauseSeconds = 5;
export const maxPauseSeconds = 60;

/** A probe has ended by then: an attempt ends within 15 s (fault F24). The probe of a dead node then blocks no other. */
export const probeSeconds = 20;
