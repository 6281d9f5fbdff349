/**
 * When a receiver is paused: after this many attempts in a row without an answer. One or two may be a restart of the
 * receiver; the third says that the next one would hold a slot for its whole time limit, too.
 */
export const failuresBeforePause = 3;

/**
 * The first pause, doubled by every probe that gets no answer either. The longest is half of the shortest wait before a fourth
 * attempt of a callback (decision D27), so a pause never delays the schedule of a receiver that gets one callback.
 */
export const firstPauseSeconds = 5;
export const maxPauseSeconds = 60;

/** A probe is over by then: an attempt ends within 15 s (fault F24). A node that died with one blocks the next no longer. */
export const probeSeconds = 20;
