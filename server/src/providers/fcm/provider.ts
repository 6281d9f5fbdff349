import { createPrivateKey } from 'node:crypto';
import type { Clock } from '../../clock.ts';
import type { FcmCredential } from '../../domain/providers/fcm.ts';
import { sendByRoute, makeTokenAccess, plainAddress, makeAccessTokens } from '../access-tokens.ts';
import type { TokenEndpoints, AccessTokens } from '../access-tokens.ts';
import type { Http2Transport } from '../http2/transport.ts';
import type { RoutedProvider } from '../provider.ts';
import { classifyFcmAnswer } from './classify.ts';
import { planFcmRequest, smallFcmBodyBytes } from './plan.ts';

export type FcmProviderOptions = {
  clock: Clock;
  transport: Http2Transport;
  endpoints: TokenEndpoints;
  /** Where simulated credentials connect: the same origins, on loopback. */
  simulator: TokenEndpoints | undefined;
};

/** Makes the provider for FCM HTTP v1: one message per request, with a service account's OAuth token as bearer token. */
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
    // A new token does not help if Apple refuses Firebase itself.
    isRefused: (answer) => answer.kind === 'answer' && answer.status === 401 && !answer.body.includes(appleKeyFault),
    describeRefusal: (said) => ({
      error: { status: 'TOKEN_REFUSED', message: `the service account was refused: ${said}` },
    }),
  });

  return {
    plan: (input) => planFcmRequest(input, { origin: endpoints.messagesOrigin, now: clock.realNow() }),
    send: (plan, credential) => sendByRoute({ transport, access, credential }, plan),
    classify: classifyFcmAnswer,
    close: async () => {},
    access,
    // The id of an accepted message is in the body.
    reads: 'bodies',
    texts: 'copied',
    smallBodyBytes: smallFcmBodyBytes,
    addressOf: plainAddress,
  };
}

const appleKeyFault = 'THIRD_PARTY_AUTH_ERROR';

const scope = 'https://www.googleapis.com/auth/firebase.messaging';
// Google's tokens live for an hour; a new one is fetched five minutes before the end.
const renewBeforeMilliseconds = 5 * 60_000;

/**
 * Makes OAuth tokens of service accounts (JWT bearer grant, RFC 7523). The token address is this deployment's, never the one in
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
  // Imported with Google's first key, so that the start does not wait for these modules.
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
