// Live Activities

/**
 * Payload of an event of a Live Activity, a limit of Apple (delivery 2).
 * Unit: bytes per event. Exceeded: PARAMETER_INVALID.
 */
export const maxLivePayloadBytes = 4_096;

/** Tokens of one kind of a Live Activity. Unit: tokens per live activity. Exceeded: PARAMETER_INVALID. */
export const maxLiveTokens = 10_000;
/** Tokens of one kind in a request about a Live Activity. Unit: tokens per request. Exceeded: PARAMETER_INVALID. */
export const maxLiveTokensPerRequest = 1_000;

/**
 * Time in which an event of a Live Activity is sent.
 * Unit: hours per event. Exceeded: Its outcome is `EXPIRED`.
 * An iPhone keeps an activity for this long.
 */
export const liveEventHours = 8;

/**
 * Retention of a Live Activity after its newest event or token.
 * Unit: hours per live activity. Exceeded: It is deleted with its tokens and events.
 */
export const liveActivityKeptHours = 24;
