import type { LimitWindow } from '../access/rate-limits.ts';

/**
 * Attempts to sign in, right or wrong: each costs a slow hash. One account at one address has few, an office behind one
 * address has more. Nothing limits an account over all source addresses, because that would let anyone lock its owner
 * out (decision D19).
 */
export const signInWindows = {
  'sign-in-account-address': [{ events: 10, seconds: 600 }],
  'sign-in-address': [{ events: 60, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/**
 * Lines of the audit log that failed sign-ins may write: of an address, and of an account or of all addresses without
 * one. The first attempts tell what happens; further ones would let anybody fill the disk.
 */
export const failedSignInWindows = {
  'failed-sign-in-address': [{ events: 10, seconds: 600 }],
  'failed-sign-in': [
    { events: 30, seconds: 3_600 },
    { events: 200, seconds: 86_400 },
  ],
} as const satisfies Record<string, readonly LimitWindow[]>;

/** Of each account, workspace and screen. */
export const maxSavedViews = 50;
/** A session of the console. */
export const sessionHours = 12;
/** From leaving for the company's sign-in page to coming back. */
export const companySignInSeconds = 600;
/** Links that work once, by what they are for. */
export const linkHours = { SIGN_IN: 24, FIRST_OWNER: 24, INVITATION: 7 * 24, PASSWORD: 24 } as const;
/** How long the sign-in page can still say why a link does not work any more. */
export const endedLinkDays = 30;

/** NIST SP 800-63B: length before composition rules. */
export const minPasswordCharacters = 12;
/** A hash costs what its password's length costs. */
export const maxPasswordCharacters = 256;
/** Of an account. */
export const maxAccountNameCharacters = 100;
