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

// Options of a push

/** Buttons of `options.additionalActions`. Unit: buttons per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxOfferedActions = 2;
/** Longest name of a button in reports. Unit: characters per button. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxActionNameCharacters = 64;
/** Longest caption of a button. Unit: characters per button. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxActionTitleCharacters = 64;
/** Highest number of a badge. Unit: items per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxBadge = 99_999;
/** Highest number that a message may add to the badge. Unit: items per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxBadgeIncrement = 99;
/** Arguments of a text that the app looks up. Unit: arguments per text. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxLocArgs = 10;
/** Longest `options.timeoutSeconds`: one week. Unit: seconds per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxTimeoutSeconds = 604_800;
/** Steps of `options.vibrate`. Unit: steps per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxVibrateSteps = 16;
/** Longest step of `options.vibrate`. Unit: milliseconds per step. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxVibrateMilliseconds = 10_000;

/**
 * Size of an object of `payload.providerOverrides`, as JSON.
 * Unit: bytes per object. Exceeded: PUSH_PARAMETER_INVALID.
 */
export const maxOverrideBytes = 4_096;

/**
 * Nesting depth of objects and lists in `payload.providerOverrides`.
 * Unit: levels per object. Exceeded: PUSH_PARAMETER_INVALID.
 */
export const maxOverrideDepth = 8;

/** Languages of `payload.locales`. Unit: languages per request. Exceeded: PUSH_PARAMETER_INVALID. */
export const maxLocales = 50;

// Templates

/**
 * Steps of rendering a template.
 * Unit: steps per message. Exceeded: The `fallback` is sent, or the delivery fails.
 * A step is one operation, 64 characters that it reads, or 16 characters or items that it makes. Every operation pays
 * for its size before it begins, so a template cannot exceed the time or memory it is allowed. Measured: all steps are
 * used up within a third of a millisecond (decision 0019).
 */
export const maxTemplateSteps = 5_000;

/**
 * Longest text at any point of a rendering.
 * Unit: characters per message. Exceeded: The `fallback` is sent, or the delivery fails.
 * A provider accepts 4,096 bytes.
 */
export const maxRenderedCharacters = 8_192;

/** Nesting depth of blocks in a template. Unit: levels per template. Exceeded: The template is rejected. */
export const maxBlockDepth = 20;

/**
 * Nesting depth of expressions in a template.
 * Unit: levels per template. Exceeded: The template is rejected.
 * A human would not write deeper ones, and the parser's own stack is limited.
 */
export const maxExpressionDepth = 50;

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
