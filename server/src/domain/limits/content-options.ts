// Limits of `options`, which extends the interface: ours.
export const maxOfferedActions = 2;
export const maxActionNameCharacters = 64;
export const maxActionTitleCharacters = 64;
export const maxBadge = 99_999;
export const maxBadgeIncrement = 99;
export const maxLocArgs = 10;
export const maxTimeoutSeconds = 604_800;
export const maxVibrateSteps = 16;
export const maxVibrateMilliseconds = 10_000;
// Limits of `payload.providerOverrides`.
export const maxOverrideBytes = 4_096;
export const maxOverrideDepth = 8;
// Limits of `payload.locales`.
export const maxLocales = 50;
