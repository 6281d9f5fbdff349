// Pushes

/**
 * Push requests with a verified signature, v2 and v2.1 together (interface 8).
 * Unit: requests a minute per workspace. Exceeded: PUSH_RATE_LIMITED.
 */
export const pushRequestsPerMinute = 10_000;

/**
 * Push requests with a missing or wrong signature, counted in each process (decision D31).
 * Unit: requests a minute per source address. Exceeded: PUSH_RATE_LIMITED.
 * Up to the limit, they get their signature error. Correctly signed requests are never rejected. The number is ours:
 * ten a second are more than a client with a wrong key needs.
 */
export const unverifiedPushesPerMinute = 600;

/**
 * Users that one push to audience `User` may match (interface 8, decision D32).
 * Unit: users per request. Exceeded: PUSH_PARAMETER_INVALID.
 */
export const maxSelectedUsers = 100;

/** Values of `targetUserAttributes` (fact 3.2). Unit: values per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxSelectorValues = 50;
/** Shortest `campaignName` (interface 8). Unit: characters per request. Below: PUSH_NAME_TOO_SHORT. */
export const minPushNameCharacters = 5;
/** Body of a push. Unit: bytes per request. Exceeded: BODY_TOO_LARGE. The largest useful push has a tenth of this. */
export const maxPushBodyBytes = 256 * 1024;
/** Tags of a push. Unit: tags per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxPushTags = 50;
/** Cards of a rich notification. Unit: cards per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxRichItems = 10;
/** Longest `groupKey` (fact 3.3). Unit: characters per request. Exceeded: The rest is cut off. */
export const maxGroupKeyCharacters = 45;
/** Longest `inboxExpiry`: ten years. Unit: hours per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxInboxExpiryHours = 87_600;
/** Longest `campaignThrottleTime` (fact 3.4). Unit: minutes per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxSpreadMinutes = 360;

/**
 * Difference between the time of a v2 signature and the server's clock (decision D35a).
 * Unit: seconds per request. Exceeded: PUSH_SIGNATURE_INVALID.
 * The id of a signature is remembered for much longer.
 */
export const signatureToleranceSeconds = 300;
