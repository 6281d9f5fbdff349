import type { LimitWindow } from '../access/rate-limits.ts';

// Console accounts

/**
 * Attempts to sign in to the console: of an account from one address, and of an address (decision D19).
 * Unit: attempts per source address. Exceeded: ACCOUNT_ATTEMPTS_LIMITED.
 * Successful attempts count too, because each costs a slow hash. An account makes few from one address; an office that
 * shares an address makes more. Nothing limits an account over all source addresses, because that would let anyone lock
 * its owner out.
 */
export const signInWindows = {
  'sign-in-account-address': [{ events: 10, seconds: 600 }],
  'sign-in-address': [{ events: 60, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/**
 * Lines of the audit log for failed sign-ins: of an address, and of an account.
 * Unit: lines per source address. Exceeded: The last line says that further ones are not logged.
 * Attempts without an account share one limit. The first attempts show what happens; logging every further one would
 * let anyone fill the disk.
 */
export const failedSignInWindows = {
  'failed-sign-in-address': [{ events: 10, seconds: 600 }],
  'failed-sign-in': [
    { events: 30, seconds: 3_600 },
    { events: 200, seconds: 86_400 },
  ],
} as const satisfies Record<string, readonly LimitWindow[]>;

/** Saved views of a screen of the console, in a workspace. Unit: views per account. Exceeded: PARAMETER_INVALID. */
export const maxSavedViews = 50;
/** Lifetime of a session of the console. Unit: hours per session. Exceeded: The sign-in page opens. */
export const sessionHours = 12;

/**
 * Time from the redirect to the company's sign-in page until the user returns.
 * Unit: seconds per sign-in. Exceeded: ACCOUNT_COMPANY_REFUSED.
 */
export const companySignInSeconds = 600;

/** Lifetime of a link that works once, by purpose. Unit: hours per link. Exceeded: ACCOUNT_LINK_INVALID. */
export const linkHours = { SIGN_IN: 24, FIRST_OWNER: 24, INVITATION: 7 * 24, PASSWORD: 24 } as const;

/**
 * Time for which the sign-in page can explain why a link no longer works.
 * Unit: days per link. Exceeded: The link is unknown.
 */
export const endedLinkDays = 30;

/**
 * Shortest password.
 * Unit: characters per password. Below: PARAMETER_INVALID.
 * NIST SP 800-63B: length before composition rules.
 */
export const minPasswordCharacters = 12;

/**
 * Longest password.
 * Unit: characters per password. Exceeded: PARAMETER_INVALID.
 * The cost of a hash grows with the length of the password.
 */
export const maxPasswordCharacters = 256;

/** Longest name of an account. Unit: characters per name. Exceeded: PARAMETER_INVALID. */
export const maxAccountNameCharacters = 100;
