/** Of Apple's: the payload of a push. */
export const maxLivePayloadBytes = 4_096;
/** Of an activity, of either kind. Ours. */
export const maxLiveTokens = 10_000;
/** Of one request. Ours. */
export const maxLiveTokensPerRequest = 1_000;
/** What an iPhone keeps an activity for; nothing of it is sent later than this after its event. */
export const liveEventHours = 8;
/** Since its newest event or token. */
export const liveActivityKeptHours = 24;
