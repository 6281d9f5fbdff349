import type { LimitWindow } from '../limits/sliding-window.ts';

/**
 * Attempts to sign in, right or wrong: each costs a slow hash. One person at one address has few, an office behind one
 * address has more. Nothing limits an address of a person over all source addresses, because that would let anyone lock
 * the person out (decision D19).
 */
export const signInLimits = {
  'sign-in-account-address': [{ events: 10, seconds: 600 }],
  'sign-in-address': [{ events: 60, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/** Rows of limit_windows whose subjects callers choose, so that housekeeping bounds them. */
export const signInLimitOperations: readonly string[] = Object.keys(signInLimits);
