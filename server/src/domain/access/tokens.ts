import { timingSafeEqual } from 'node:crypto';
import { KeyedHmacSha256, messageStart } from '../crypto/hmac-sha256.ts';
import { maxTokenAheadSeconds } from '../limits/access.ts';
import { secretPrefixes } from './keys.ts';
import type { Random, TokenState } from './keys.ts';

export type TokenKind = 'access-token' | 'refresh-token';

/** What a token says about itself. Its signature covers all of it, and its prefix. */
export type TokenClaims = {
  kind: TokenKind;
  /** The secret that signed it. */
  secretNumber: number;
  /** The epoch of the installation. A restore raises it. */
  epoch: number;
  workspaceNumber: number;
  keyNumber: number;
  /** The generation of the key. Archiving the key and replacing its secret raise it. */
  keyGeneration: number;
  /** 8 random bytes that a refresh token shares with all access tokens issued from it. */
  grant: Buffer;
  issuedAt: Date;
  lifetimeSeconds: number;
  /** 16 random bytes, so that no two tokens are equal and a revocation can name one. */
  id: Buffer;
};

/** A text in the form of a token. Nothing in it can be trusted before its signature is verified. */
export type ReadToken = { claims: TokenClaims; signed: Buffer; signature: Buffer };

const version = 1;
export const grantBytes = 8;
const idBytes = 16;
const signatureBytes = 32;

/** Bytes at which each claim begins, all big-endian. The sum with the signature is a multiple of 3: no base64 bit is spare. */
const places = {
  version: 0,
  secretNumber: 1,
  epoch: 3,
  workspaceNumber: 9,
  keyNumber: 14,
  keyGeneration: 20,
  grant: 24,
  issuedAt: 32,
  lifetime: 38,
  id: 42,
} as const;
const signedBytes = places.id + idBytes;
const prefixBytes = 4;

/** A prefix, and 90 bytes in base64url: only letters that a form and a header carry unchanged (as API keys). */
const tokenForm = /^c[ar]t_[A-Za-z0-9_-]{120}$/;

/**
 * Reads a text in the form of a token: 124 characters. Every text has at most one reading, so a token with one character
 * changed is another token. Returns undefined for any other text, also for tokens that were stored when they were issued.
 */
export function readToken(text: string): ReadToken | undefined {
  if (!tokenForm.test(text)) return undefined;
  const bytes = Buffer.from(text.slice(prefixBytes), 'base64url');
  const signed = bytes.subarray(0, signedBytes);
  if (signed[places.version] !== version) return undefined;
  const claims: TokenClaims = {
    kind: text.startsWith(secretPrefixes['access-token']) ? 'access-token' : 'refresh-token',
    secretNumber: signed.readUInt16BE(places.secretNumber),
    epoch: signed.readUIntBE(places.epoch, 6),
    workspaceNumber: signed.readUIntBE(places.workspaceNumber, 5),
    keyNumber: signed.readUIntBE(places.keyNumber, 6),
    keyGeneration: signed.readUInt32BE(places.keyGeneration),
    grant: signed.subarray(places.grant, places.grant + grantBytes),
    issuedAt: new Date(signed.readUIntBE(places.issuedAt, 6)),
    lifetimeSeconds: signed.readUInt32BE(places.lifetime),
    id: signed.subarray(places.id, signedBytes),
  };
  return { claims, signed, signature: bytes.subarray(signedBytes) };
}

/** Signs and verifies tokens under one secret (HMAC-SHA-256, RFC 2104): about 3 µs each. */
export type TokenSigner = {
  write(claims: TokenClaims): string;
  /** Compares in constant time. */
  verifies(token: ReadToken): boolean;
};

/** @param secret 32 random bytes */
export function makeTokenSigner(secret: Uint8Array): TokenSigner {
  const hmac = new KeyedHmacSha256(secret);
  // The prefix is signed too: an access token with the prefix of a refresh token is not valid.
  const end = messageStart + prefixBytes + signedBytes;

  function sign(kind: TokenKind, signed: Buffer): Buffer {
    const message = hmac.reserve(prefixBytes + signedBytes);
    message.write(secretPrefixes[kind], messageStart, 'latin1');
    message.set(signed, messageStart + prefixBytes);
    return Buffer.from(hmac.digest(end), 'latin1');
  }

  return {
    write(claims) {
      const bytes = Buffer.allocUnsafe(signedBytes + signatureBytes);
      const signed = bytes.subarray(0, signedBytes);
      writeClaims(signed, claims);
      bytes.set(sign(claims.kind, signed), signedBytes);
      return secretPrefixes[claims.kind] + bytes.toString('base64url');
    },
    verifies: ({ claims, signed, signature }) => timingSafeEqual(sign(claims.kind, signed), signature),
  };
}

function writeClaims(signed: Buffer, claims: TokenClaims): void {
  signed[places.version] = version;
  signed.writeUInt16BE(claims.secretNumber, places.secretNumber);
  signed.writeUIntBE(claims.epoch, places.epoch, 6);
  signed.writeUIntBE(claims.workspaceNumber, places.workspaceNumber, 5);
  signed.writeUIntBE(claims.keyNumber, places.keyNumber, 6);
  signed.writeUInt32BE(claims.keyGeneration, places.keyGeneration);
  signed.set(claims.grant, places.grant);
  signed.writeUIntBE(claims.issuedAt.getTime(), places.issuedAt, 6);
  signed.writeUInt32BE(claims.lifetimeSeconds, places.lifetime);
  signed.set(claims.id, places.id);
}

/**
 * Returns a new grant and the ids of its first two tokens, in one draw. A grant has 64 random bits: two equal ones of a key would
 * only end together.
 */
export function drawGrant(random: Random): { grant: Buffer; ids: [Buffer, Buffer] } {
  const bytes = random(grantBytes + 2 * idBytes);
  const idAt = (place: number): Buffer => bytes.subarray(place, place + idBytes);
  return { grant: bytes.subarray(0, grantBytes), ids: [idAt(grantBytes), idAt(grantBytes + idBytes)] };
}

export function drawTokenId(random: Random): Buffer {
  return random(idBytes);
}

/** The grant of a refresh token that was stored when it was issued: access tokens that are issued from it can be ended. */
export function grantOfStoredToken(tokenHash: Buffer): Buffer {
  return tokenHash.subarray(0, grantBytes);
}

export function expiryOf({ issuedAt, lifetimeSeconds }: Pick<TokenClaims, 'issuedAt' | 'lifetimeSeconds'>): Date {
  return new Date(issuedAt.getTime() + lifetimeSeconds * 1000);
}

/** The facts that decide about a token with a verified signature. */
export type TokenFacts = {
  at: Date;
  /** The epoch of the installation. */
  epoch: number;
  isSecretRetired: boolean;
  /** The key whose number is in the token; undefined if it does not exist. */
  key: TokenKey | undefined;
};

export type TokenKey = {
  workspaceNumber: number;
  generation: number;
  archivedAt: Date | null;
  /** True for a token id or a grant that was revoked. */
  isRevoked(subject: Buffer): boolean;
};

/**
 * Returns the state of a token with a verified signature. It is valid up to, not at, its expiry. An expired token is reported as
 * expired at any age, also under a retired secret and from before a restore (decision D13). A token that was revoked, or whose
 * key was archived or regenerated, is invalid at any age; the revocation of a single token is forgotten when it expires.
 */
export function stateOfClaims(claims: TokenClaims, facts: TokenFacts): TokenState {
  const at = facts.at.getTime();
  if (claims.issuedAt.getTime() > at + maxTokenAheadSeconds * 1000) return 'invalid';
  const isExpired = at >= expiryOf(claims).getTime();
  // After a restore the numbers of keys may belong to others.
  if (!namesKey(claims, facts)) return isExpired ? 'expired' : 'invalid';
  const { key } = facts;
  if (!key || key.workspaceNumber !== claims.workspaceNumber) return 'invalid';
  if (key.archivedAt || key.generation !== claims.keyGeneration) return 'invalid';
  if (key.isRevoked(claims.id) || key.isRevoked(claims.grant)) return 'invalid';
  if (isExpired) return 'expired';
  return facts.isSecretRetired ? 'invalid' : 'live';
}

/** True if the number of the key in a token can be looked up: numbers from before a restore mean nothing. */
export function namesKey(claims: Pick<TokenClaims, 'epoch'>, { epoch }: Pick<TokenFacts, 'epoch'>): boolean {
  return claims.epoch === epoch;
}

/** A secret as it is stored. */
export type TokenSecretDates = { number: number; createdAt: Date; succeededAt: Date | null; retiredAt: Date | null };

/** A secret issues tokens for this long, then a new one takes over. */
export const tokenSecretDays = 90;
/** A secret accepts tokens for this long after the last one was issued: the 30 days of a refresh token, and a day. */
export const succeededSecretDays = 31;

/**
 * Returns which secrets retire now, and whether a new one takes over. At most two secrets are not retired at a time. Pure.
 *
 * @param at the earlier of real time and the sandbox's, so that a clock that was moved forward retires nothing
 */
export function planTokenSecrets(
  secrets: readonly TokenSecretDates[],
  at: Date,
): { retire: number[]; isNewDue: boolean } {
  const daysSince = (then: Date): number => (at.getTime() - then.getTime()) / (24 * 3_600_000);
  const accepting = secrets.filter(({ retiredAt }) => retiredAt === null);
  const ending = accepting.filter(({ succeededAt }) => succeededAt && daysSince(succeededAt) >= succeededSecretDays);
  const kept = accepting.filter((secret) => !ending.includes(secret));
  const issuing = kept.find(({ succeededAt }) => succeededAt === null);
  const isNewDue = !issuing || (kept.length < 2 && daysSince(issuing.createdAt) >= tokenSecretDays);
  return { retire: ending.map(({ number }) => number), isNewDue };
}
