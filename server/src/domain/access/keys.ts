import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ServiceError } from '../errors.ts';
import {
  maxAccessTokenMinutes,
  maxKeyNameCharacters,
  minAccessTokenMinutes,
  guessWindows,
  tokenRequestWindows,
} from '../limits/access.ts';
import { newInstallationWindows } from '../limits/installations.ts';

/** Authentication types of an API key; fixed for the life of the key (fact 1). */
export const keyKinds = ['oauth', 'data', 'push', 'campaigns', 'app'] as const;

export type KeyKind = (typeof keyKinds)[number];

/** The scopes that a key may have: the check boxes of the key form (fact 1). */
export const knownScopes = [
  'data',
  'segmentation',
  'push',
  'campaign',
  'offering',
  'decision-policy',
  'inform',
  'dashboard-analyze',
] as const;

/** The only scope of app keys. No form offers it, and no other key needs it. */
const appScope = 'app';

export type Scope = (typeof knownScopes)[number] | typeof appScope;

/** Scopes of a new key that lists none. OAuth keys get every scope that this server has routes for. */
export const defaultScopes: Record<KeyKind, readonly Scope[]> = {
  oauth: ['data', 'segmentation', 'push', 'campaign'],
  data: ['data', 'segmentation'],
  push: ['push'],
  campaigns: ['campaign'],
  // Shipped in apps, so it opens only the routes below /v1/app.
  app: [appScope],
};

/**
 * True if a key's secret, sent as a password, gives access to routes of a scope. The secret of an OAuth key never does
 * (decision D20): it is exchanged for tokens that expire, and would otherwise be a token that never expires. Nor does that of
 * an app key, which everyone can read (decision 0079).
 */
export function opensAsPassword({ kind, scopes }: { kind: KeyKind; scopes: readonly string[] }, scope: Scope): boolean {
  return kind !== 'oauth' && kind !== 'app' && scopes.includes(scope);
}

/** The settings of a key that a user may choose (fact 1, decision D15). */
export type KeySettings = { name: string; scopes: readonly string[]; accessTokenMinutes: number };

/**
 * Validates the given settings.
 *
 * @throws ServiceError PARAMETER_INVALID, with the field and the reason
 */
export function assertKeySettings(settings: Partial<KeySettings>): void {
  const { name, scopes, accessTokenMinutes } = settings;
  if (name !== undefined) {
    if (name.trim() === '' || [...name].length > maxKeyNameCharacters)
      throw invalid('name', `must have 1 to ${maxKeyNameCharacters} characters`);
    if (!name.isWellFormed() || name.includes('\0')) throw invalid('name', 'must be well-formed Unicode without NUL');
  }
  if (scopes !== undefined) {
    const unknown = scopes.find(
      (scope) => scope !== appScope && !knownScopes.includes(scope as (typeof knownScopes)[number]),
    );
    if (unknown !== undefined) throw invalid('scopes', `must be some of ${knownScopes.join(', ')}`);
    if (scopes.length === 0) throw invalid('scopes', 'must name at least one scope');
  }
  if (accessTokenMinutes !== undefined) {
    if (
      !Number.isInteger(accessTokenMinutes) ||
      accessTokenMinutes < minAccessTokenMinutes ||
      accessTokenMinutes > maxAccessTokenMinutes
    ) {
      throw invalid(
        'accessTokenMinutes',
        `must be a whole number from ${minAccessTokenMinutes} to ${maxAccessTokenMinutes}`,
      );
    }
  }
}

function invalid(field: string, reason: string): ServiceError {
  return new ServiceError('PARAMETER_INVALID', { field, reason });
}

export type SecretKind = KeyKind | 'access-token' | 'refresh-token';

/** Source of random bytes; tests provide their own. */
export type Random = (bytes: number) => Buffer;

/** Prefixes let secret scanners and readers of a ticket recognise what leaked. */
export const secretPrefixes: Record<SecretKind, string> = {
  oauth: 'cok_',
  data: 'cdk_',
  push: 'cpk_',
  campaigns: 'cck_',
  app: 'cak_',
  'access-token': 'cat_',
  'refresh-token': 'crt_',
};

/** Length of every API key, and of tokens that were stored when they were issued: prefix and 32 bytes in base64url. */
const secretLength = 47;

/**
 * Makes an API key: a prefix and 256 random bits in base64url. Only `[A-Za-z0-9_-]`, so a secret never holds a
 * pipe (decision D35), a colon or a character that a form would escape.
 */
export function makeSecret(kind: SecretKind, random: Random = randomBytes): string {
  return secretPrefixes[kind] + random(32).toString('base64url');
}

/** True if `text` has the form of a secret of that kind; any other text needs no lookup. */
export function isSecret(kind: SecretKind, text: string): boolean {
  return text.length === secretLength && text.startsWith(secretPrefixes[kind]) && /^[A-Za-z0-9_-]+$/.test(text);
}

/** Returns the hash that is stored of a secret. A plain hash is enough, because the secret has 256 random bits. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Returns the part of a secret that may be shown: its prefix and last four characters. */
export function hintOfSecret(secret: string): string {
  return `${secret.slice(0, 4)}…${secret.slice(-4)}`;
}

/** Compares two hashes in constant time. An absent hash is compared as well, so that both results take the same time. */
export function hashesEqual(expected: Buffer | undefined, presented: Buffer): boolean {
  const equal = timingSafeEqual(expected ?? Buffer.alloc(presented.length), presented);
  return expected !== undefined && equal;
}

export type TokenState = 'live' | 'expired' | 'invalid';

/** How long the row of a token that was stored when it was issued stays after its expiry, and shows that it is expired. */
export const expiredTokenSeconds = 24 * 60 * 60;

/**
 * Returns the state of a token that was stored when it was issued (before decision 0072). It is valid up to, not at, its
 * expiry. A token that was revoked, or with a key that was archived or regenerated, is invalid at any age.
 */
export function stateOfToken(
  token: { expiresAt: Date; revokedAt: Date | null; keyGeneration: number },
  key: { archivedAt: Date | null; generation: number },
  at: Date,
): TokenState {
  if (token.revokedAt || key.archivedAt || token.keyGeneration !== key.generation) return 'invalid';
  const age = at.getTime() - token.expiresAt.getTime();
  if (age < 0) return 'live';
  return age < expiredTokenSeconds * 1000 ? 'expired' : 'invalid';
}

/** The operations in limit_windows with subjects that callers choose, so that housekeeping limits their rows. */
export const tokenLimitOperations: readonly string[] = [
  ...Object.keys(tokenRequestWindows),
  ...Object.keys(guessWindows),
  ...Object.keys(newInstallationWindows),
];

/** No window of these operations is longer. A row without an event for this time no longer matters. */
export const tokenLimitIdleSeconds = 600;

/** Maximum rows of these operations that housekeeping keeps. */
export const tokenLimitRows = 200_000;

/** Returns the subject of a limit in 32 bytes, whatever callers send. JSON distinguishes `a`,`bc` from `ab`,`c`. */
export function limitSubject(parts: readonly string[]): Buffer {
  return hash('sha256', JSON.stringify(parts), 'buffer');
}
