import { createPrivateKey, sign } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { WebPushCredential } from '../../domain/providers/webpush.ts';
import { isYoungToken } from '../access-tokens.ts';

export type VapidAuthorizations = {
  /** Returns the value of the Authorization header for a push service's origin. */
  get(credential: WebPushCredential, origin: string): string;
  /**
   * Returns the replacement of a token that the push service refused. Undefined if the refused token has just replaced another:
   * then its time is not the reason.
   */
  replace(credential: WebPushCredential, refusal: { origin: string; refused: string }): string | undefined;
};

// RFC 8292 §2 allows 24 hours; services with a skewed clock reject tokens close to that.
const lifeSeconds = 12 * 3600;
const maxTokens = 5_000;
/** A refused token is not replaced more often, even if the service refuses the next one. */
const minReplaceMilliseconds = 20 * 60_000;

type Kept = { header: string; signedAt: number; replacedAt?: number };

/**
 * Makes VAPID tokens (RFC 8292), one per key and push service, renewed at half their life. Signing one for every message would
 * make a web push sender slow.
 */
export function makeVapidAuthorizations({ clock }: { clock: Clock }): VapidAuthorizations {
  const tokens = new Map<string, Kept>();
  const keyOf = (credential: WebPushCredential, origin: string): string =>
    `${credential.publicKey}:${credential.subject}:${origin}`;

  function sign(credential: WebPushCredential, { origin, now }: { origin: string; now: number }): Kept {
    const key = keyOf(credential, origin);
    const header = `vapid t=${signToken(credential, { origin, now })}, k=${credential.publicKey}`;
    const signed: Kept = { ...tokens.get(key), header, signedAt: now };
    tokens.delete(key);
    tokens.set(key, signed);
    if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
    return signed;
  }

  return {
    get(credential, origin) {
      const now = clock.realNow().getTime();
      const known = tokens.get(keyOf(credential, origin));
      const lifeMilliseconds = (lifeSeconds / 2) * 1000;
      return known && isYoungToken({ issuedAtMilliseconds: known.signedAt, nowMilliseconds: now, lifeMilliseconds })
        ? known.header
        : sign(credential, { origin, now }).header;
    },
    replace(credential, { origin, refused }) {
      const now = clock.realNow().getTime();
      const known = tokens.get(keyOf(credential, origin));
      // Other requests were refused with the same token, and the first of them has replaced it.
      if (known && known.header !== refused) return known.header;
      if (known?.replacedAt !== undefined && now - known.replacedAt < minReplaceMilliseconds) return undefined;
      const next = sign(credential, { origin, now });
      next.replacedAt = now;
      return next.header;
    },
  };
}

function signToken(credential: WebPushCredential, { origin, now }: { origin: string; now: number }): string {
  const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');
  const point = Buffer.from(credential.publicKey, 'base64url');
  const key = createPrivateKey({
    format: 'jwk',
    key: {
      kty: 'EC',
      crv: 'P-256',
      x: point.subarray(1, 33).toString('base64url'),
      y: point.subarray(33).toString('base64url'),
      d: credential.privateKey,
    },
  });
  const claims = { aud: origin, exp: Math.floor(now / 1000) + lifeSeconds, sub: credential.subject };
  const head = `${encode({ typ: 'JWT', alg: 'ES256' })}.${encode(claims)}`;
  return `${head}.${sign('sha256', Buffer.from(head), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
