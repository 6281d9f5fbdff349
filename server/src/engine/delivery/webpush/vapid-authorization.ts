import { createPrivateKey, sign } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { WebPushCredential } from '../../../domain/provider-credential.ts';

export type VapidAuthorizations = {
  /** Value of the Authorization header for a push service's origin. */
  get(credential: WebPushCredential, origin: string): string;
};

// RFC 8292 §2 allows 24 hours; services with a skewed clock refuse what is close to it.
const lifeSeconds = 12 * 3600;
const maxTokens = 5_000;

/**
 * VAPID tokens (RFC 8292), one per key and push service, renewed at half their life. Signing one for every message is
 * what makes a web push sender slow.
 */
export function makeVapidAuthorizations({ clock }: { clock: Clock }): VapidAuthorizations {
  const tokens = new Map<string, { header: string; renewAt: number }>();
  return {
    get(credential, origin) {
      const key = `${credential.publicKey}:${credential.subject}:${origin}`;
      const now = clock.now().getTime();
      const known = tokens.get(key);
      if (known && known.renewAt > now) return known.header;
      const header = `vapid t=${signToken(credential, { origin, now })}, k=${credential.publicKey}`;
      tokens.delete(key);
      tokens.set(key, { header, renewAt: now + (lifeSeconds / 2) * 1000 });
      if (tokens.size > maxTokens) tokens.delete(tokens.keys().next().value!);
      return header;
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
