import type { LimitWindow } from '../access/rate-limits.ts';

// Apps

/**
 * New installations from one network: a /24 of IPv4, a /64 of IPv6.
 * Unit: installations per network. Exceeded: APP_RATE_LIMITED.
 * Refreshes of known installations are not counted, so that the thousands of phones behind a carrier's address lose none.
 */
export const newInstallationWindows = {
  'installation-network': [{ events: 300, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/**
 * New installations of a workspace from all networks.
 * Unit: installations a minute per workspace. Exceeded: APP_RATE_LIMITED.
 */
export const newInstallationsPerMinute = 3_000;

/**
 * Calls of one installation.
 * Unit: calls per installation. Exceeded: APP_RATE_LIMITED.
 * Each node counts in memory, so several nodes allow as many times more.
 */
export const installationCalls = { events: 120, seconds: 60 } as const satisfies LimitWindow;

/**
 * Sign-ins of one installation.
 * Unit: sign-ins per installation. Exceeded: APP_RATE_LIMITED.
 * Each one moves the events of the anonymous user, which costs more than another call.
 */
export const installationSignIns = { events: 30, seconds: 3_600 } as const satisfies LimitWindow;

/**
 * Events and changes of attributes from the apps of a workspace.
 * Unit: events a minute per workspace. Exceeded: APP_RATE_LIMITED.
 * They are counted apart from those of the data API: a stranger with the app key cannot use up what a server needs.
 */
export const appEventsPerMinute = 60_000;

/** Events and changes of attributes in one request. Unit: events per request. Exceeded: PARAMETER_INVALID. */
export const maxAppEvents = 50;

/** Attributes that an event has, or that one change sets. Unit: attributes per event. Exceeded: PARAMETER_INVALID. */
export const maxAppEventAttributes = 50;

/** Longest text in an attribute that an app sends. Unit: characters per value. Exceeded: PARAMETER_INVALID. */
export const maxAppValueCharacters = 1_024;

/** Reports about messages in one request. Unit: reports per request. Exceeded: PARAMETER_INVALID. */
export const maxReceipts = 50;

/**
 * Silent challenges to one push token.
 * Unit: challenges an hour per push token. Exceeded: PUSH_TOKEN_HELD.
 * A stranger who knows a token must not make its phone work for them.
 */
export const tokenChallengesPerHour = 3;

/** Time in which the code of a silent challenge may come back. Unit: minutes per challenge. Exceeded: PUSH_TOKEN_HELD. */
export const tokenChallengeMinutes = 10;

/** Body of a request of an app. Unit: bytes per request. Exceeded: BODY_TOO_LARGE. */
export const maxAppBodyBytes = 64 * 1024;

/**
 * Time for which the ids of events are remembered.
 * Unit: days per event. Exceeded: A repeat counts again.
 * An app drops what it could not send for seven days.
 */
export const appEventIdDays = 14;

/**
 * Time for which an anonymous installation without a push token is kept since its last call.
 * Unit: days per installation. Exceeded: It is deleted; the app registers again.
 */
export const idleInstallationDays = 90;

/**
 * Lifetime of an identity token, from its `iat` or from now to its `exp`.
 * Unit: hours per token. Exceeded: IDENTITY_TOKEN_INVALID.
 */
export const maxIdentityTokenHours = 24;

/** Difference between the clocks of the issuer and of Carillon. Unit: seconds per token. Exceeded: IDENTITY_TOKEN_INVALID. */
export const identityClockSkewSeconds = 60;

/** Longest identity token. Unit: characters per token. Exceeded: PARAMETER_INVALID. */
export const maxIdentityTokenCharacters = 4_096;

/** Keys that verify identity tokens. Unit: keys per workspace. Exceeded: PARAMETER_INVALID. */
export const maxIdentityKeys = 2;

/** Origins of sites that may call from a browser. Unit: origins per workspace. Exceeded: PARAMETER_INVALID. */
export const maxWebOrigins = 50;

/** Attributes that apps may write. Unit: attributes per workspace. Exceeded: PARAMETER_INVALID. */
export const maxAppAttributes = 100;
