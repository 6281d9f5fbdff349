import { createPrivateKey } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { FcmCredential } from '../../domain/credentials/credentials.ts';
import { sendByRoute, makeTokenAccess, plainAddress, makeAccessTokens } from '../access-tokens.ts';
import type { TokenEndpoints, AccessTokens } from '../access-tokens.ts';
import type { Http2Transport } from '../http2/transport.ts';
import type { RoutedProvider } from '../provider.ts';
import { classifyFcmAnswer } from './classify.ts';
import { planFcmRequest, smallFcmBodyBytes } from './plan.ts';

export type FcmEndpoints = TokenEndpoints;

export type FcmProviderOptions = {
  clock: Clock;
  transport: Http2Transport;
  endpoints: FcmEndpoints;
  /** Where simulated credentials lead: the same origins, connected to loopback. */
  simulator: FcmEndpoints | undefined;
};

/** FCM HTTP v1: one message a request, a service account's OAuth token as bearer. */
export function makeFcmProvider({
  clock,
  transport,
  endpoints,
  simulator,
}: FcmProviderOptions): RoutedProvider<FcmCredential> {
  const access = makeTokenAccess<FcmCredential>({
    ...{ name: 'fcm', endpoints, simulator },
    accountOf: ({ clientEmail }) => clientEmail,
    tokens: makeFcmAccessTokens({ clock, transport }),
    // Another token has no use where Firebase itself is refused by Apple.
    isRefused: (answer) => answer.kind === 'answer' && answer.status === 401 && !answer.body.includes(appleKeyFault),
    tellRefusal: (said) => ({
      error: { status: 'TOKEN_REFUSED', message: `the service account was refused: ${said}` },
    }),
  });

  return {
    plan: (input) => planFcmRequest(input, { origin: endpoints.messagesOrigin, now: clock.realNow() }),
    send: (plan, credential) => sendByRoute({ transport, access, credential }, plan),
    classify: classifyFcmAnswer,
    close: async () => {},
    access,
    // The id of an accepted message stands in the body.
    reads: 'bodies',
    texts: 'copied',
    smallBodyBytes: smallFcmBodyBytes,
    addressOf: plainAddress,
  };
}

const appleKeyFault = 'THIRD_PARTY_AUTH_ERROR';

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
