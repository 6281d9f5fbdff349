import type { Clock } from '../../../clock.ts';
import type { ApnsCredential } from '../../../domain/provider-credential.ts';
import { readJsonAnswer } from '../classify-fault.ts';
import type { Http2Target } from '../http2/http2-session.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { Answer, DeliveryProvider } from '../provider.ts';
import { makeApnsProviderTokens } from './apns-provider-token.ts';
import type { ShareProviderToken } from './apns-provider-token.ts';
import { classifyApnsAnswer } from './classify-apns-answer.ts';
import { planApnsRequest } from './plan-apns-request.ts';

export type ApnsProviderOptions = {
  clock: Clock;
  transport: Http2Transport;
  endpoints: { production: string; sandbox: string };
  /** Where simulated credentials are connected to. */
  simulatorOrigin: string | undefined;
  shareToken: ShareProviderToken;
};

/** APNs over HTTP/2 with a provider token; one session pool per team and key, because Apple counts per team. */
export function makeApnsProvider({
  clock,
  transport,
  endpoints,
  simulatorOrigin,
  shareToken,
}: ApnsProviderOptions): DeliveryProvider<ApnsCredential> {
  const tokens = makeApnsProviderTokens({ clock, share: shareToken });

  function targetOf(credential: ApnsCredential): Http2Target {
    const origin = endpoints[credential.environment];
    const key = `apns:${credential.environment}:${credential.simulated}:${credential.teamId}:${credential.keyId}`;
    if (!credential.simulated) return { key, origin, isGuarded: false };
    if (simulatorOrigin === undefined) throw new Error('a simulated credential without simulators');
    return { key, origin, isGuarded: false, connectTo: simulatorOrigin };
  }

  return {
    plan: (input) => planApnsRequest(input, { origin: endpoints[input.credential.environment], now: clock.realNow() }),
    async send(plan, credential) {
      const target = targetOf(credential);
      const sendWith = (token: string): Promise<Answer> =>
        transport.request(target, {
          path: plan.path,
          headers: { ...plan.headers, authorization: `bearer ${token}` },
          body: plan.body,
        });
      const token = await tokens.get(credential);
      const answer = await sendWith(token);
      const next = isTokenRefused(answer) ? await tokens.replace(credential, token) : undefined;
      return next === undefined ? answer : sendWith(next);
    },
    classify: classifyApnsAnswer,
    close: async () => {},
  };
}

/** Too old, or from the future, which Apple calls invalid (delivery 2). */
const tokenRefusals: unknown[] = ['ExpiredProviderToken', 'InvalidProviderToken'];

function isTokenRefused(answer: Answer): boolean {
  if (answer.kind !== 'answer' || answer.status !== 403) return false;
  return tokenRefusals.includes((readJsonAnswer(answer.body) as { reason?: unknown } | undefined)?.reason);
}
