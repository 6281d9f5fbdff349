import { createHash } from 'node:crypto';
import type { LimitWindow } from '../limits/sliding-window.ts';

export type TokenOperation = 'token' | 'refresh' | 'revoke';

/**
 * Requests per credential pair and operation (interface 8, decision D11); revocation is ours and has one of its own.
 */
export const requestLimits: Record<TokenOperation, readonly LimitWindow[]> = {
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
export const guessLimits = {
  'guess-client-address': [{ events: 20, seconds: 600 }],
  'guess-address': [{ events: 100, seconds: 600 }],
  'guess-client': [{ events: 20, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/** Milliseconds that answers about a guessed `client_id` wait. */
export const slowAnswerMilliseconds = 1000;

/** The rows of limit_windows whose subjects callers choose, so that housekeeping bounds them. */
export const tokenLimitOperations: readonly string[] = [...Object.keys(requestLimits), ...Object.keys(guessLimits)];

/** No window of these operations is longer; a row without an event for this long says nothing any more. */
export const tokenLimitIdleSeconds = 600;

/** Rows that housekeeping leaves of these operations. */
export const tokenLimitRows = 200_000;

/** Whose limit it is, in 32 bytes whatever callers send. JSON keeps `a`,`bc` and `ab`,`c` apart. */
export function limitSubject(parts: readonly string[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts), 'utf8').digest();
}
