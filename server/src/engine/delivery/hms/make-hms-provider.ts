import type { Clock } from '../../../clock.ts';
import type { HmsCredential } from '../../../domain/provider-credential.ts';
import { makeAccessTokens } from '../access-tokens.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { Http2Target } from '../http2/open-socket.ts';
import type { Access, Answer, RoutedProvider } from '../provider.ts';
import { sendByRoute } from '../send-by-route.ts';
import { classifyHmsAnswer, isHmsTokenExpired } from './classify-hms-answer.ts';
import { planHmsRequest } from './plan-hms-request.ts';

export type HmsEndpoints = { messagesOrigin: string; tokenOrigin: string };

export type HmsProviderOptions = {
  clock: Clock;
  transport: Http2Transport;
  endpoints: HmsEndpoints;
  /** Where simulated credentials lead: the same origins, connected to loopback. */
  simulator: HmsEndpoints | undefined;
};

/** Huawei Push Kit: one message a request, an access token of the OAuth client as bearer. */
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

  function targetOf(name: keyof HmsEndpoints, credential: HmsCredential): Http2Target {
    const key = `hms:${name}:${credential.simulated}:${credential.clientId}`;
    const target = { key, origin: endpoints[name], isGuarded: false };
    if (!credential.simulated) return target;
    if (!simulator) throw new Error('a simulated credential without simulators');
    return { ...target, connectTo: simulator[name] };
  }

  const access: Access<HmsCredential> = {
    async find(credential) {
      const found = await tokens.get(credential, targetOf('tokenOrigin', credential));
      if ('refusal' in found) return { refusal: refusedToken(found.refusal) };
      return { target: targetOf('messagesOrigin', credential), authorization: `${scheme}${found.token}` };
    },
    isRefused: isHmsTokenExpired,
    renew(credential, { authorization }) {
      tokens.forget(credential, authorization.slice(scheme.length));
      return access.find(credential);
    },
  };

  return {
    plan: (input) => planHmsRequest(input, endpoints.messagesOrigin),
    send: (plan, credential) => sendByRoute({ transport, access, credential }, plan),
    classify: classifyHmsAnswer,
    close: async () => {},
    access,
    // A failure comes with HTTP 200 too.
    reads: 'bodies',
    addressOf: (pushId) => (isPlain.test(pushId) ? pushId : undefined),
  };
}

const scheme = 'Bearer ';
// Renewed in time for what waits behind others.
const usedShareOfLife = 0.8;
/** What JSON writes as it is. */
const isPlain = /^[ !#-[\]-~]*$/;

/** The token service refused the client: the same as a refused message, in the service's own words. */
function refusedToken(refusal: Answer): Answer {
  if (refusal.kind === 'failure' || refusal.status >= 500 || refusal.status === 429) return refusal;
  const msg = `the client was refused: ${refusal.body.slice(0, 300)}`;
  return { kind: 'answer', status: 403, headers: {}, body: JSON.stringify({ code: 'HMS_TOKEN_REFUSED', msg }) };
}
