import type { LimitWindow } from '../access/rate-limits.ts';

// Console accounts

/** Longest life of a token for agents. Unit: days per token. Exceeded: PARAMETER_INVALID. */
export const maxAgentTokenDays = 365;

/** Tokens for agents that have not expired. Unit: tokens per account. Exceeded: PARAMETER_INVALID. */
export const maxAgentTokens = 50;

/**
 * Calls of the MCP endpoint with one token.
 * Unit: calls a minute per token. Exceeded: The response has status 429 and Retry-After.
 * An agent that answers a question makes about ten calls. Each node counts its own.
 */
export const agentCallsPerMinute = 120;

/**
 * Calls of the MCP endpoint without a valid token.
 * Unit: calls a minute per source address. Exceeded: The response has status 429 and Retry-After.
 * Tokens have 256 random bits, so this protects the database, not the tokens.
 */
export const unknownAgentCallsPerMinute = 30;

/**
 * Attempts to sign in to the console: of an account from one address, and of an address (decision D19).
 * Unit: attempts per source address. Exceeded: ACCOUNT_ATTEMPTS_LIMITED.
 * Successful attempts count too, because each costs a slow hash. An account makes few from one address; an office that
 * shares an address makes more.
 */
export const signInWindows = {
  'sign-in-account-address': [{ events: 10, seconds: 600 }],
  'sign-in-address': [{ events: 60, seconds: 600 }],
} as const satisfies Record<string, readonly LimitWindow[]>;

/**
 * Guesses over all source addresses: passwords of an account from addresses that have not opened it in 30 days; codes and passkeys
 * of an account after its password was right (NIST SP 800-63B §3.2.2: at most 100 failed attempts).
 * Unit: attempts per account. Exceeded: ACCOUNT_ATTEMPTS_LIMITED.
 * Known addresses are not limited by it, so guesses from elsewhere lock no user out of the own desk. Only a caller with the password
 * can use up the codes. A code is guessed with a chance of 3 in a million, so a day of attempts has 150 in a million.
 */
export const accountGuessWindows = {
  'sign-in-account': [{ events: 100, seconds: 86_400 }],
  'second-factor-code': [
    { events: 10, seconds: 600 },
    { events: 50, seconds: 86_400 },
  ],
  'second-factor-passkey': [
    { events: 30, seconds: 600 },
    { events: 200, seconds: 86_400 },
  ],
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

/**
 * Time from the first step of a sign-in until the second factor is presented or added.
 * Unit: minutes per sign-in. Exceeded: The sign-in page opens.
 */
export const pendingSignInMinutes = 15;

/** Age of a session that may change second factors or create tokens for agents. Unit: minutes per session. Exceeded: ACCOUNT_SIGN_IN_STALE. */
export const freshSessionMinutes = 15;

/** Time for a passkey to sign. Unit: seconds per challenge. Exceeded: ACCOUNT_SECOND_FACTOR_FAILED. */
export const challengeSeconds = 300;

/** Passkeys of an account. Unit: passkeys per account. Exceeded: PARAMETER_INVALID. */
export const maxPasskeys = 20;

/** Recovery codes that an account gets at once. Unit: codes per account. Exceeded: Older codes do not work. */
export const recoveryCodesPerAccount = 10;

/** Workspaces in which an invitation offers a role. Unit: workspaces per invitation. Exceeded: PARAMETER_INVALID. */
export const maxInvitedWorkspaces = 100;

/** Saved views of a screen of the console, in a workspace. Unit: views per account. Exceeded: PARAMETER_INVALID. */
export const maxSavedViews = 50;
/** Lifetime of a session of the console. Unit: hours per session. Exceeded: The sign-in page opens. */
export const sessionHours = 12;

/**
 * Time from the redirect to the company's sign-in page until the user returns.
 * Unit: seconds per sign-in. Exceeded: ACCOUNT_COMPANY_REFUSED.
 */
export const companySignInSeconds = 600;

/**
 * Time for which an address counts as known after it opened an account. Unit: days per address. Exceeded: The address is unknown.
 */
export const knownSourceDays = 30;

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
 * Fewest guesses that must be needed to find a password.
 * Unit: guesses per password. Below: PARAMETER_INVALID.
 * A sign-in address has 1,440 attempts a day. A stolen hash costs a core 15 ms for each guess, so 100 million take 17 days.
 */
export const minPasswordGuesses = 1e8;

/**
 * Longest password.
 * Unit: characters per password. Exceeded: PARAMETER_INVALID.
 * The cost of a hash grows with the length of the password.
 */
export const maxPasswordCharacters = 256;

/** Longest name of an account. Unit: characters per name. Exceeded: PARAMETER_INVALID. */
export const maxAccountNameCharacters = 100;

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
 * Time by which the issue of a token may be ahead of the clock (decision 0072).
 * Unit: seconds per token. Exceeded: AUTHENTICATION_INVALID.
 * Clocks of nodes follow the database's and differ by milliseconds; only a sandbox's clock that was moved back exceeds it.
 */
export const maxTokenAheadSeconds = 60;

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
 * The largest legitimate request has about 350 bytes.
 */
export const maxTokenBodyBytes = 8 * 1024;

/** Longest name of a key (fact 1). Unit: characters per name. Exceeded: PARAMETER_INVALID. */
export const maxKeyNameCharacters = 100;

/**
 * Longest time for which a rotated key may remain valid alongside its successor.
 * Unit: hours per key. Exceeded: PARAMETER_INVALID.
 */
export const maxOverlapHours = 30 * 24;

// Requests

/**
 * Body of a request to a route without its own limit (fault 3.5).
 * Unit: bytes per request. Exceeded: BODY_TOO_LARGE.
 */
export const maxBodyBytes = 1024 * 1024;

/**
 * Members of a JSON body, of all its objects together (fault 3.5).
 * Unit: members per request. Exceeded: BODY_MALFORMED.
 */
export const maxJsonMembers = 5_000;

/**
 * Nesting depth of objects and lists in a JSON body (fault 3.5).
 * Unit: levels per request. Exceeded: BODY_MALFORMED.
 */
export const maxJsonLevels = 32;

// Idempotency keys

/**
 * Time for which a request with the same `Idempotency-Key` and body gets the first response again (decision D4).
 * Unit: hours per idempotency key. Exceeded: The key can be used for a new request.
 */
export const idempotencyKeyHours = 24;

/** Longest `Idempotency-Key` (decision D4). Unit: characters per request. Exceeded: IDEMPOTENCY_KEY_INVALID. */
export const maxIdempotencyKeyCharacters = 255;
