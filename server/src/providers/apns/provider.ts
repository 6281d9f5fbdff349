import type { Clock } from '../../clock.ts';
import type { ApnsCredential } from '../../domain/providers/apns.ts';
import { sendByRoute } from '../access-tokens.ts';
import { readJsonAnswer } from '../answer-rules.ts';
import type { Http2Target } from '../http2/open-socket.ts';
import type { Http2Transport } from '../http2/transport.ts';
import type { Access, Answer, RoutedProvider } from '../provider.ts';
import { classifyApnsAnswer } from './classify.ts';
import { isDeviceToken, maxPayloadBytes, planApnsRequest } from './plan.ts';
import { makeApnsProviderTokens } from './provider-token.ts';
import type { ShareProviderToken } from './provider-token.ts';

export type ApnsEndpoints = { production: string; sandbox: string };

export type ApnsProviderOptions = {
  clock: Clock;
  transport: Http2Transport;
  endpoints: ApnsEndpoints;
  /** Where simulated credentials connect. */
  simulatorOrigin: string | undefined;
  shareToken: ShareProviderToken;
};

/** Makes the APNs provider: HTTP/2 with a provider token, one session pool per team and key because Apple counts per team. */
export function makeApnsProvider({
  clock,
  transport,
  endpoints,
  simulatorOrigin,
  shareToken,
}: ApnsProviderOptions): RoutedProvider<ApnsCredential> {
  const tokens = makeApnsProviderTokens({ clock, share: shareToken });

  function targetOf(credential: ApnsCredential): Http2Target {
    const origin = endpoints[credential.environment];
    const key = `apns:${credential.environment}:${credential.simulated}:${credential.teamId}:${credential.keyId}`;
    if (!credential.simulated) return { key, origin, isGuarded: false };
    if (simulatorOrigin === undefined) throw new Error('a simulated credential without simulators');
    return { key, origin, isGuarded: false, connectTo: simulatorOrigin };
  }

  const routeOf = (credential: ApnsCredential, token: string) => ({
    target: targetOf(credential),
    authorization: `${scheme}${token}`,
  });
  const access: Access<ApnsCredential> = {
    find: async (credential) => routeOf(credential, await tokens.get(credential)),
    isRefused: isTokenRefused,
    async renew(credential, { authorization }) {
      const next = await tokens.replace(credential, authorization.slice(scheme.length));
      return next === undefined ? undefined : routeOf(credential, next);
    },
  };

  return {
    plan: (input) => planApnsRequest(input, { origin: endpoints[input.credential.environment], now: clock.realNow() }),
    send: (plan, credential) => sendByRoute({ transport, access, credential }, plan),
    classify: classifyApnsAnswer,
    close: async () => {},
    access,
    // Apple responds with the `apns-id` of the request (delivery 2).
    reads: 'failures',
    texts: 'copied',
    smallBodyBytes: maxPayloadBytes,
    addressOf: (pushId) => (isDeviceToken(pushId) ? pushId.toLowerCase() : undefined),
  };
}

const scheme = 'bearer ';

/** The token is too old, or from the future, which Apple reports as invalid (delivery 2). */
const tokenRefusals: unknown[] = ['ExpiredProviderToken', 'InvalidProviderToken'];

function isTokenRefused(answer: Answer): boolean {
  if (answer.kind !== 'answer' || answer.status !== 403) return false;
  return tokenRefusals.includes((readJsonAnswer(answer.body) as { reason?: unknown } | undefined)?.reason);
}
