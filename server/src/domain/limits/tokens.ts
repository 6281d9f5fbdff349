import type { LimitWindow } from '../access/rate-limits.ts';

// Keys and tokens

/**
 * Lifetime of an access token, unless its key sets another (interface 8, decision D15).
 * Unit: minutes per token. Exceeded: AUTHENTICATION_EXPIRED.
 */
export const defaultAccessTokenMinutes = 15;

/**
 * Shortest lifetime of access tokens that a key may set (decision D15).
 * Unit: minutes per key. Below: PARAMETER_INVALID.
 */
export const minAccessTokenMinutes = 5;

/**
 * Longest lifetime of access tokens that a key may set (decision D15).
 * Unit: minutes per key. Exceeded: PARAMETER_INVALID.
 */
export const maxAccessTokenMinutes = 60;

/**
 * Time after its expiry for which an access token is reported as expired (decision D13).
 * Unit: seconds per token. Exceeded: AUTHENTICATION_INVALID.
 * The response has ER008 until then, and ER001 after it, when the row may be deleted.
 */
export const expiredTokenSeconds = 24 * 60 * 60;

/**
 * Lifetime of a refresh token, from its creation (interface 8).
 * Unit: seconds per token. Exceeded: TOKEN_REFRESH_INVALID.
 * Refreshing does not extend it.
 */
export const refreshTokenSeconds = 30 * 24 * 60 * 60;

export type TokenOperation = 'token' | 'refresh' | 'revoke';

/**
 * Token, refresh and revoke requests, each kind counted separately (interface 8, decision D11).
 * Unit: requests per credential pair. Exceeded: TOKEN_RATE_LIMITED.
 * The limit of revocation is ours.
 */
export const tokenRequestWindows: Record<TokenOperation, readonly LimitWindow[]> = {
  token: [
    { events: 5, seconds: 60 },
    { events: 30, seconds: 600 },
  ],
  refresh: [
    { events: 5, seconds: 60 },
    { events: 30, seconds: 600 },
  ],
  revoke: [{ events: 60, seconds: 60 }],
};

/**
 * Wrong credentials: of a `client_id` from one address, of an address, and of a `client_id` (decision D19).
 * Unit: guesses per source address. Exceeded: The error is `TOKEN_RATE_LIMITED`; beyond the last limit, responses are
 * delayed instead.
 * Rejecting by `client_id` would let anyone lock its owner out. The limit of an address is wider, because many
 * workspaces may share one.
 */
export const guessWindows = {
  'guess-client-address': [{ events: 20, seconds: 600 }],
  'guess-address': [{ events: 100, seconds: 600 }],
  'guess-client': [{ events: 20, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/**
 * Delay of responses for a `client_id` that is being guessed (decision D19).
 * Unit: milliseconds per request. Exceeded: The response is sent.
 */
export const slowAnswerMilliseconds = 1_000;

/**
 * Body of a token request (decision D12).
 * Unit: bytes per request. Exceeded: BODY_TOO_LARGE.
 * The largest legitimate request has about 250 bytes.
 */
export const maxTokenBodyBytes = 8 * 1024;

/** Longest name of a key (fact 1). Unit: characters per name. Exceeded: PARAMETER_INVALID. */
export const maxKeyNameCharacters = 100;

/**
 * Longest time for which a rotated key may remain valid alongside its successor.
 * Unit: hours per key. Exceeded: PARAMETER_INVALID.
 */
export const maxOverlapHours = 30 * 24;
