import { createPrivateKey, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { ApnsCredential } from '../../../domain/provider-credential.ts';

export type ApnsProviderTokens = {
  get(credential: ApnsCredential): string;
  /** Apple called the token expired: a fresh one, but never sooner than Apple allows. @returns whether there is one */
  renew(credential: ApnsCredential): boolean;
};

// Apple refuses tokens over an hour old, and counts renewals within 20 minutes against the whole team.
const lifeMilliseconds = 50 * 60_000;
const shortestLifeMilliseconds = 20 * 60_000;
const mostTokens = 1_000;

/** Provider tokens (JWT, ES256), one per team and key, kept close to an hour. */
export function makeApnsProviderTokens({ clock }: { clock: Clock }): ApnsProviderTokens {
  const tokens = new Map<string, { token: string; issuedAt: number; privateKey: string }>();
  const keyOf = (credential: ApnsCredential): string => `${credential.teamId}:${credential.keyId}`;

  function issue(credential: ApnsCredential): string {
    const now = clock.now().getTime();
    const token = signProviderToken(credential, now);
    tokens.delete(keyOf(credential));
    tokens.set(keyOf(credential), { token, issuedAt: now, privateKey: credential.privateKey });
    if (tokens.size > mostTokens) tokens.delete(tokens.keys().next().value!);
    return token;
  }

  return {
    get(credential) {
      const known = tokens.get(keyOf(credential));
      const isUsable =
        known &&
        known.privateKey === credential.privateKey &&
        clock.now().getTime() - known.issuedAt < lifeMilliseconds;
      return isUsable ? known.token : issue(credential);
    },
    renew(credential) {
      const known = tokens.get(keyOf(credential));
      if (known && clock.now().getTime() - known.issuedAt < shortestLifeMilliseconds) return false;
      issue(credential);
      return true;
    },
  };
}

function signProviderToken(credential: ApnsCredential, now: number): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const key: KeyObject = createPrivateKey(credential.privateKey);
  const head = `${encode({ alg: 'ES256', kid: credential.keyId })}.${encode({ iss: credential.teamId, iat: Math.floor(now / 1000) })}`;
  // JWS wants the two numbers side by side, not OpenSSL's DER (RFC 7518 §3.4).
  const signature = sign('sha256', Buffer.from(head), { key, dsaEncoding: 'ieee-p1363' });
  return `${head}.${signature.toString('base64url')}`;
}
