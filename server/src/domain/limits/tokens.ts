import type { LimitWindow } from '../access/rate-limits.ts';

/** Lifetime of an access token unless its key says otherwise (interface 8, decision D15). */
export const defaultAccessTokenMinutes = 15;
/** What a key may say (decision D15). */
export const minAccessTokenMinutes = 5;
export const maxAccessTokenMinutes = 60;
/**
 * How long after its end an access token is still known as expired (ER008); after that it is invalid (ER001). Rows of
 * expired tokens may be deleted then (decision D13).
 */
export const expiredTokenSeconds = 24 * 60 * 60;
/** A refresh token lives 30 days from generation; refreshing does not change that (interface 8). */
export const refreshTokenSeconds = 30 * 24 * 60 * 60;

export type TokenOperation = 'token' | 'refresh' | 'revoke';

/** Requests per credential pair and operation (interface 8, decision D11); revocation is ours and has one of its own. */
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
 * Wrong credentials (decision D19). The first two refuse; the third only slows, because refusing by `client_id` would
 * let anyone lock the owner out. The limit of an address is wider: many workspaces may share one.
 */
export const guessWindows = {
  'guess-client-address': [{ events: 20, seconds: 600 }],
  'guess-address': [{ events: 100, seconds: 600 }],
  'guess-client': [{ events: 20, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;
/** What answers about a guessed `client_id` wait. */
export const slowAnswerMilliseconds = 1_000;

/** The longest honest token request has about 250 bytes (decision D12). */
export const maxTokenBodyBytes = 8 * 1024;
/** Fact 1. */
export const maxKeyNameCharacters = 100;
/** How long a key goes on beside its successor. Ours. */
export const maxOverlapHours = 30 * 24;
