/** Push requests of a workspace, v2 and v2.1 together (interface 8). */
export const pushRequestsPerMinute = 10_000;

/**
 * Requests of a source address with a missing or wrong signature that get their signature error. Further ones are
 * rejected with 429; correctly signed ones never are. Counted in each process. Ours: ten a second are more than a
 * client with a wrong key needs.
 */
export const unverifiedPushesPerMinute = 600;

/** Users that one push to audience `User` may match (interface 8, decision D32). */
export const maxSelectedUsers = 100;
/** Values of `targetUserAttributes` (fact 3.2). */
export const maxSelectorValues = 50;

/** Characters of `campaignName` (interface 8). */
export const minPushNameCharacters = 5;
/** Ours: the largest useful push has a tenth of this. */
export const maxPushBodyBytes = 256 * 1024;
/** Ours. */
export const maxPushTags = 50;
/** Cards of a rich notification. Ours. */
export const maxRichItems = 10;
/** Characters of `groupKey`, which is truncated to them (fact 3.3). */
export const maxGroupKeyCharacters = 45;
/** `inboxExpiry`: ten years. Ours. */
export const maxInboxExpiryHours = 87_600;
/** `campaignThrottleTime` (fact 3.4). */
export const maxSpreadMinutes = 360;

/** How far the time of a v2 signature may differ from ours (decision D35a). Its id is remembered for much longer. */
export const signatureToleranceSeconds = 300;
