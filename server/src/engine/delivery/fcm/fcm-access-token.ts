import { createPrivateKey } from 'node:crypto';
import type { Clock } from '../../../clock.ts';
import type { FcmCredential } from '../../../domain/provider-credential.ts';
import { makeAccessTokens } from '../access-tokens.ts';
import type { AccessTokens } from '../access-tokens.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
// Google's tokens live an hour; five minutes before that a new one is fetched.
const renewBeforeMilliseconds = 5 * 60_000;

/**
 * OAuth tokens of service accounts (JWT bearer grant, RFC 7523). The token address is this deployment's, never the one in
 * an uploaded key file (fault 3.9).
 */
export function makeFcmAccessTokens({
  clock,
  transport,
}: {
  clock: Clock;
  transport: Http2Transport;
}): AccessTokens<FcmCredential> {
  return makeAccessTokens({
    clock,
    keyOf: ({ clientEmail, privateKeyId }) => `${clientEmail}:${privateKeyId}`,
    lifeMillisecondsOf: (expiresInSeconds) => expiresInSeconds * 1000 - renewBeforeMilliseconds,
    async ask(credential, target) {
      const assertion = await signAssertion(credential, { audience: `${target.origin}/token`, now: clock.realNow() });
      const grant = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
      return transport.request(target, {
        path: '/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(new URLSearchParams({ grant_type: grant, assertion }).toString()),
      });
    },
  });
}

async function signAssertion(
  credential: FcmCredential,
  { audience, now }: { audience: string; now: Date },
): Promise<string> {
  // With the first key of Google's: a start need not wait for these modules.
  const { SignJWT } = await import('jose');
  const issuedAt = Math.floor(now.getTime() / 1000);
  return new SignJWT({ scope })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT', kid: credential.privateKeyId })
    .setIssuer(credential.clientEmail)
    .setAudience(audience)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + 3600)
    .sign(createPrivateKey(credential.privateKey));
}
