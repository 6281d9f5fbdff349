import type { Clock } from '../../../clock.ts';
import type { FcmCredential } from '../../../domain/provider-credential.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { RoutedProvider } from '../provider.ts';
import { sendByRoute } from '../send-by-route.ts';
import { makeTokenAccess, plainAddress } from '../token-access.ts';
import type { TokenEndpoints } from '../token-access.ts';
import { classifyFcmAnswer } from './classify-fcm-answer.ts';
import { makeFcmAccessTokens } from './fcm-access-token.ts';
import { planFcmRequest, smallFcmBodyBytes } from './plan-fcm-request.ts';

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
