import type { LimitWindow } from '../access/rate-limits.ts';

// Topics

/**
 * Topics of a workspace.
 * Unit: topics per workspace. Exceeded: PARAMETER_INVALID.
 * Users see all of them on one page. A list that they do not read protects nobody.
 */
export const maxTopics = 50;

/** Key of a topic. Unit: characters per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicKeyCharacters = 64;

/** Name of a topic, which users read. Unit: characters per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicNameCharacters = 100;

/** Description of a topic, which users read. Unit: characters per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicDescriptionCharacters = 500;

/** Position of a topic in lists. Unit: greatest number per topic. Exceeded: PARAMETER_INVALID. */
export const maxTopicPosition = 1_000;

/** Time for which a link to the preference page is valid. Unit: days per link. Exceeded: PARAMETER_INVALID. */
export const maxPreferenceLinkDays = 90;

/** The same, where the request names no time. Unit: days per link. Exceeded: The page says that the link has expired. */
export const preferenceLinkDays = 30;

/**
 * Calls of the preference page with a valid link.
 * Unit: calls per link. Exceeded: The page asks to wait.
 * Each node counts in memory, so several nodes allow as many times more.
 */
export const preferencePageCalls = { events: 60, seconds: 60 } as const satisfies LimitWindow;

/**
 * Calls of the preference page with a link that is not valid.
 * Unit: calls per source address. Exceeded: The page asks to wait.
 * A /64 of IPv6 is one source.
 * Each node counts in memory, so several nodes allow as many times more.
 */
export const preferencePageGuesses = { events: 60, seconds: 60 } as const satisfies LimitWindow;

/** Body of the form of the preference page. Unit: bytes per request. Exceeded: BODY_TOO_LARGE. */
export const maxPreferenceFormBytes = 16 * 1024;
