import type { Clock } from '../../clock.ts';
import type { HmsCredential } from '../../domain/providers/hms.ts';
import { makeAccessTokens, sendByRoute, makeTokenAccess, plainAddress } from '../access-tokens.ts';
import type { TokenEndpoints } from '../access-tokens.ts';
import type { Http2Transport } from '../http2/transport.ts';
import type { RoutedProvider } from '../provider.ts';
import { classifyHmsAnswer, isHmsTokenExpired } from './classify.ts';
import { maxBodyBytes, planHmsRequest } from './plan.ts';

export type HmsProviderOptions = {
  clock: Clock;
  transport: Http2Transport;
  endpoints: TokenEndpoints;
  /** Where simulated credentials connect: the same origins, on loopback. */
  simulator: TokenEndpoints | undefined;
};

/**
 * Makes the provider for Huawei Push Kit: one message per request, with an access token of the OAuth client as bearer token.
 */
export function makeHmsProvider({
  clock,
  transport,
  endpoints,
  simulator,
}: HmsProviderOptions): RoutedProvider<HmsCredential> {
  const tokens = makeAccessTokens<HmsCredential>({
    clock,
    keyOf: ({ clientId, clientSecret }) => `${clientId}:${clientSecret}`,
    lifeMillisecondsOf: (expiresInSeconds) => expiresInSeconds * 1000 * usedShareOfLife,
    ask: ({ clientId, clientSecret }, target) =>
      transport.request(target, {
        path: '/oauth2/v3/token',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: Buffer.from(
          new URLSearchParams({
            grant_type: 'client_credentials',
            client_id: clientId,
            client_secret: clientSecret,
          }).toString(),
        ),
      }),
  });

  const access = makeTokenAccess<HmsCredential>({
    ...{ name: 'hms', endpoints, simulator, tokens },
    accountOf: ({ clientId }) => clientId,
    isRefused: isHmsTokenExpired,
    tellRefusal: (said) => ({ code: 'HMS_TOKEN_REFUSED', msg: `the client was refused: ${said}` }),
  });

  return {
    plan: (input) => planHmsRequest(input, endpoints.messagesOrigin),
    send: (plan, credential) => sendByRoute({ transport, access, credential }, plan),
    classify: classifyHmsAnswer,
    close: async () => {},
    access,
    // Failures come with HTTP 200 too.
    reads: 'bodies',
    // What a tap opens depends on whether a text is a URL.
    texts: 'read',
    smallBodyBytes: maxBodyBytes,
    addressOf: plainAddress,
  };
}

// Tokens are renewed in time for messages that wait behind others.
const usedShareOfLife = 0.8;
