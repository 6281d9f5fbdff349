import type { LimitWindow } from '../access/rate-limits.ts';

/** Lifetime of an access token unless its key sets another (interface 8, decision D15). */
export const defaultAccessTokenMinutes = 15;
/** Bounds of the lifetime that a key may set (decision D15). */
export const minAccessTokenMinutes = 5;
export const maxAccessTokenMinutes = 60;
/**
 * How long after its expiry an access token is still reported as expired (ER008); after that, it is invalid (ER001) and
 * its row may be deleted (decision D13).
 */
export const expiredTokenSeconds = 24 * 60 * 60;
/** A refresh token is valid for 30 days from its creation; refreshing does not change that (interface 8). */
export const refreshTokenSeconds = 30 * 24 * 60 * 60;

export type TokenOperation = 'token' | 'refresh' | 'revoke';

/** Requests per credential pair and operation (interface 8, decision D11). Revocation is ours and has a separate limit. */
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
 * Wrong credentials (decision D19). The first two limits reject requests. The third only delays them, because rejecting
 * by `client_id` would let anyone lock the owner out. The limit of an address is wider: many workspaces may share one.
 */
export const guessWindows = {
  'guess-client-address': [{ events: 20, seconds: 600 }],
  'guess-address': [{ events: 100, seconds: 600 }],
  'guess-client': [{ events: 20, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;
/** Delay of responses for a guessed `client_id`. */
export const slowAnswerMilliseconds = 1_000;

/** The largest legitimate token request has about 250 bytes (decision D12). */
export const maxTokenBodyBytes = 8 * 1024;
/** Fact 1. */
export const maxKeyNameCharacters = 100;
/** How long a key remains valid alongside its successor. Ours. */
export const maxOverlapHours = 30 * 24;
