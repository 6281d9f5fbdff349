import type { Clock } from '../../clock.ts';
import type { HmsCredential } from '../../domain/providers/hms.ts';
import { makeClientTokens, sendByRoute, makeTokenAccess, plainAddress } from '../access-tokens.ts';
import type { TokenEndpoints } from '../access-tokens.ts';
import type { Http2Transport } from '../http2/transport.ts';
import type { RoutedProvider } from '../provider.ts';
import { classifyHmsAnswer, isHmsTokenExpired } from './classify.ts';
import { maxBodyBytes, planHmsRequest } from './plan.ts';

export type HmsProviderOptions = {
  clock: Clock;
  transport: Http2Transport;
  endpoints: TokenEndpoints;
  /** The loopback origins that simulated credentials connect to. */
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
  const tokens = makeClientTokens<HmsCredential>({ clock, transport, path: '/oauth2/v3/token' });

  const access = makeTokenAccess<HmsCredential>({
    ...{ name: 'hms', endpoints, simulator, tokens },
    accountOf: ({ clientId }) => clientId,
    isRefused: isHmsTokenExpired,
    describeRefusal: (said) => ({ code: 'HMS_TOKEN_REFUSED', msg: `the client was refused: ${said}` }),
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
