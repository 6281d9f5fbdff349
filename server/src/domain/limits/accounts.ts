import type { LimitWindow } from '../access/rate-limits.ts';

/**
 * Attempts to sign in, successful or not: each costs a slow hash. One account makes few from one address; an office
 * that shares an address makes more. Nothing limits an account over all source addresses, because that would let anyone
 * lock its owner out (decision D19).
 */
export const signInWindows = {
  'sign-in-account-address': [{ events: 10, seconds: 600 }],
  'sign-in-address': [{ events: 60, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/**
 * Lines of the audit log for failed sign-ins: per source address, and per account. Attempts without an account share
 * one limit. The first attempts show what happens; logging every further one would let anyone fill the disk.
 */
export const failedSignInWindows = {
  'failed-sign-in-address': [{ events: 10, seconds: 600 }],
  'failed-sign-in': [
    { events: 30, seconds: 3_600 },
    { events: 200, seconds: 86_400 },
  ],
} as const satisfies Record<string, readonly LimitWindow[]>;

/** Per account, workspace and screen. */
export const maxSavedViews = 50;
/** Lifetime of a session of the console. */
export const sessionHours = 12;
/** From the redirect to the company's sign-in page until the user returns. */
export const companySignInSeconds = 600;
/** Lifetimes of links that work once, by purpose. */
export const linkHours = { SIGN_IN: 24, FIRST_OWNER: 24, INVITATION: 7 * 24, PASSWORD: 24 } as const;
/** How long the sign-in page can still explain why a link no longer works. */
export const endedLinkDays = 30;

/** NIST SP 800-63B: length before composition rules. */
export const minPasswordCharacters = 12;
/** Limits the cost of a hash, which grows with the length of the password. */
export const maxPasswordCharacters = 256;
export const maxAccountNameCharacters = 100;
