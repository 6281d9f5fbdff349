import type { Clock } from '../../../clock.ts';
import type { FcmCredential } from '../../../domain/provider-credential.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { Http2Target } from '../http2/open-socket.ts';
import type { Access, Answer, RoutedProvider } from '../provider.ts';
import { sendByRoute } from '../send-by-route.ts';
import { classifyFcmAnswer } from './classify-fcm-answer.ts';
import { makeFcmAccessTokens } from './fcm-access-token.ts';
import { planFcmRequest } from './plan-fcm-request.ts';

export type FcmEndpoints = { messagesOrigin: string; tokenOrigin: string };

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
  const tokens = makeFcmAccessTokens({ clock, transport });

  function targetOf(name: keyof FcmEndpoints, credential: FcmCredential): Http2Target {
    const target = {
      key: `fcm:${name}:${credential.simulated}:${credential.clientEmail}`,
      origin: endpoints[name],
      isGuarded: false,
    };
    if (!credential.simulated) return target;
    if (!simulator) throw new Error('a simulated credential without simulators');
    return { ...target, connectTo: simulator[name] };
  }

  const access: Access<FcmCredential> = {
    async find(credential) {
      const found = await tokens.get(credential, targetOf('tokenOrigin', credential));
      if ('refusal' in found) return { refusal: refusedToken(found.refusal) };
      return { target: targetOf('messagesOrigin', credential), authorization: `${scheme}${found.token}` };
    },
    // Another token has no use where Firebase itself is refused by Apple.
    isRefused: (answer) => answer.kind === 'answer' && answer.status === 401 && !answer.body.includes(appleKeyFault),
    renew(credential, { authorization }) {
      tokens.forget(credential, authorization.slice(scheme.length));
      return access.find(credential);
    },
  };

  return {
    plan: (input) => planFcmRequest(input, { origin: endpoints.messagesOrigin, now: clock.realNow() }),
    send: (plan, credential) => sendByRoute({ transport, access, credential }, plan),
    classify: classifyFcmAnswer,
    close: async () => {},
    access,
    // The id of an accepted message stands in the body.
    reads: 'bodies',
    addressOf: (pushId) => (isPlain.test(pushId) ? pushId : undefined),
  };
}

const scheme = 'Bearer ';
const appleKeyFault = 'THIRD_PARTY_AUTH_ERROR';
/** What JSON writes as it is. */
const isPlain = /^[ !#-[\]-~]*$/;

/** The token service refused the account: the same as a refused message, in the account's own words. */
function refusedToken(refusal: Answer): Answer {
  if (refusal.kind === 'failure' || refusal.status >= 500 || refusal.status === 429) return refusal;
  return {
    kind: 'answer',
    status: 403,
    headers: {},
    body: JSON.stringify({
      error: { status: 'TOKEN_REFUSED', message: `the service account was refused: ${refusal.body.slice(0, 300)}` },
    }),
  };
}
