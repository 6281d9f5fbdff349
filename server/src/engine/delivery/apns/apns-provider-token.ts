import { createPrivateKey, hash, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { ApnsCredential } from '../../../domain/provider-credential.ts';

export type ProviderToken = { token: string; issuedAt: Date };

/**
 * One token for all nodes: the stored one, if issued at `issuedFrom` or later; otherwise one created by `make` and
 * stored. Never rejects.
 */
export type ShareProviderToken = (share: {
  key: string;
  issuedFrom: Date;
  make: () => ProviderToken;
}) => Promise<ProviderToken>;

export type ApnsProviderTokens = {
  get(credential: ApnsCredential): Promise<string>;
  /** Apple called the token expired: a fresh one, but never sooner than Apple allows. @returns whether there is one */
  renew(credential: ApnsCredential): Promise<boolean>;
};

// Apple refuses tokens over an hour old, and counts renewals within 20 minutes against the whole team.
const lifeMilliseconds = 50 * 60_000;
const minLifeMilliseconds = 20 * 60_000;
const maxTokens = 1_000;

export type ApnsProviderTokensOptions = { clock: Clock; share: ShareProviderToken };

/** Provider tokens (JWT, ES256), one per team and key over all nodes, kept close to an hour. */
export function makeApnsProviderTokens({ clock, share }: ApnsProviderTokensOptions): ApnsProviderTokens {
  const tokens = new Map<string, Promise<ProviderToken>>();

  function obtain(credential: ApnsCredential, issuedFrom: Date): Promise<ProviderToken> {
    const key = keyOf(credential);
    const obtained = share({
      key,
      issuedFrom,
      make() {
        const issuedAt = clock.now();
        return { token: signProviderToken(credential, issuedAt.getTime()), issuedAt };
      },
    });
    tokens.delete(key);
    tokens.set(key, obtained);
    // A key that cannot sign throws every time.
    obtained.catch(() => tokens.delete(key));
    if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
    return obtained;
  }

  const before = (milliseconds: number): Date => new Date(clock.now().getTime() - milliseconds);

  return {
    async get(credential) {
      const known = await tokens.get(keyOf(credential));
      if (known && known.issuedAt > before(lifeMilliseconds)) return known.token;
      // Of all who find it old, the first obtains the next.
      const present = await tokens.get(keyOf(credential));
      const next = present === known ? obtain(credential, before(lifeMilliseconds)) : present!;
      return (await next).token;
    },
    async renew(credential) {
      const known = await tokens.get(keyOf(credential));
      if (known && known.issuedAt > before(minLifeMilliseconds)) return false;
      await obtain(credential, before(minLifeMilliseconds));
      return true;
    },
  };
}

const keys = new WeakMap<ApnsCredential, string>();

/** A replaced key has tokens of its own, also under the same name. */
function keyOf(credential: ApnsCredential): string {
  let key = keys.get(credential);
  if (key === undefined) {
    const { teamId, keyId, environment, privateKey } = credential;
    key = `apns:${environment}:${teamId}:${keyId}:${hash('sha256', privateKey, 'base64url').slice(0, 16)}`;
    keys.set(credential, key);
  }
  return key;
}

function signProviderToken(credential: ApnsCredential, now: number): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const key: KeyObject = createPrivateKey(credential.privateKey);
  const head = `${encode({ alg: 'ES256', kid: credential.keyId })}.${encode({ iss: credential.teamId, iat: Math.floor(now / 1000) })}`;
  // JWS requires the two numbers concatenated, not OpenSSL's DER (RFC 7518 §3.4).
  const signature = sign('sha256', Buffer.from(head), { key, dsaEncoding: 'ieee-p1363' });
  return `${head}.${signature.toString('base64url')}`;
}
