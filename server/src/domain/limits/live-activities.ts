/** Bytes of the payload of a push, a limit of Apple. */
export const maxLivePayloadBytes = 4_096;
/** Tokens of one kind for one activity. Ours. */
export const maxLiveTokens = 10_000;
/** Tokens in one request. Ours. */
export const maxLiveTokensPerRequest = 1_000;
/** How long an iPhone keeps an activity. An event is not sent later than this. */
export const liveEventHours = 8;
/** How long an activity is kept after its newest event or token. */
export const liveActivityKeptHours = 24;
