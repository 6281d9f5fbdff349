import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { KeyKind } from './key-kinds.ts';

export type SecretKind = KeyKind | 'access-token' | 'refresh-token';

/** Source of randomness; tests give their own. */
export type Random = (bytes: number) => Buffer;

/** Prefixes let secret scanners and readers of a ticket recognise what leaked. */
export const secretPrefixes: Record<SecretKind, string> = {
  oauth: 'cok_',
  data: 'cdk_',
  push: 'cpk_',
  campaigns: 'cck_',
  'access-token': 'cat_',
  'refresh-token': 'crt_',
};

/** Length of every secret: prefix and 32 bytes in base64url. */
const secretLength = 47;

/**
 * Makes an API key or token: a prefix and 256 random bits in base64url. Only `[A-Za-z0-9_-]`, so a secret never holds a
 * pipe (decision D35), a colon or a character that a form would escape.
 */
export function makeSecret(kind: SecretKind, random: Random = randomBytes): string {
  return secretPrefixes[kind] + random(32).toString('base64url');
}

/** Whether `text` can be a secret of that kind at all; anything else needs no look-up. */
export function isSecret(kind: SecretKind, text: string): boolean {
  return text.length === secretLength && text.startsWith(secretPrefixes[kind]) && /^[A-Za-z0-9_-]+$/.test(text);
}

/** What is stored of a secret. A plain hash is enough, because the secret has 256 bits of its own. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** What may be shown of a secret: its prefix and last four characters. */
export function hintOfSecret(secret: string): string {
  return `${secret.slice(0, 4)}…${secret.slice(-4)}`;
}

/** Compares two hashes in constant time; an absent one is compared as well, so that both answers cost the same. */
export function hashesEqual(expected: Buffer | undefined, presented: Buffer): boolean {
  const equal = timingSafeEqual(expected ?? Buffer.alloc(presented.length), presented);
  return expected !== undefined && equal;
}
