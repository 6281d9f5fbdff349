import type { Clock } from '../../../clock.ts';
import type { FcmCredential } from '../../../domain/provider-credential.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { Http2Target } from '../http2/http2-session.ts';
import type { Answer, DeliveryProvider, Plan } from '../provider.ts';
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
}: FcmProviderOptions): DeliveryProvider<FcmCredential> {
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

  async function sendOnce(plan: Plan, credential: FcmCredential): Promise<{ answer: Answer; token?: string }> {
    const access = await tokens.get(credential, targetOf('tokenOrigin', credential));
    if ('refusal' in access) return { answer: refusedToken(access.refusal) };
    const answer = await transport.request(targetOf('messagesOrigin', credential), {
      path: plan.path,
      headers: { ...plan.headers, authorization: `Bearer ${access.token}` },
      body: plan.body,
    });
    return { answer, token: access.token };
  }

  return {
    plan: (input) => planFcmRequest(input, endpoints.messagesOrigin),
    async send(plan, credential) {
      const { answer, token } = await sendOnce(plan, credential);
      const isTokenRefused = answer.kind === 'answer' && answer.status === 401;
      if (!isTokenRefused || token === undefined) return answer;
      // A token may be withdrawn before its time; one fresh one decides whether it is the credential.
      tokens.forget(credential, token);
      return (await sendOnce(plan, credential)).answer;
    },
    classify: classifyFcmAnswer,
    close: async () => {},
  };
}

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
