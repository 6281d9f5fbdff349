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
