import type { Clock } from '../../clock.ts';
import { maxPushIdCharacters } from '../../domain/limits/users.ts';
import type { WebPushCredential } from '../../domain/providers/webpush.ts';
import type { Logger } from '../../log.ts';
import type { Http2Target } from '../http2/open-socket.ts';
import type { Http2Transport } from '../http2/transport.ts';
import type { Answer, DeliveryProvider, Plan } from '../provider.ts';
import { classifyWebPushAnswer } from './classify.ts';
import { makeWebPushEncryption } from './encryption-pool.ts';
import { planWebPushRequest } from './plan.ts';
import { makeVapidAuthorizations } from './vapid.ts';

export type WebPushProviderOptions = {
  clock: Clock;
  log: Logger;
  transport: Http2Transport;
  /** The simulated push service: the origin in its subscriptions, and its loopback origin. */
  simulator: { origin: string; connectTo: string } | undefined;
};

const maxRedirects = 2;
/** Without this limit, a service that responds slowly and redirects would hold a window of messages for minutes. */
const redirectMilliseconds = 15_000;

/**
 * Makes the provider for Web Push (RFC 8030) with VAPID. The endpoint is chosen by a browser, or by anyone claiming to be one,
 * so its host is guarded, and so is every host that it redirects to.
 */
export function makeWebPushProvider({
  clock,
  log,
  transport,
  simulator,
}: WebPushProviderOptions): DeliveryProvider<WebPushCredential> {
  const authorizations = makeVapidAuthorizations({ clock });
  const encryption = makeWebPushEncryption({ log });

  /** Sends to one origin, which is the audience of the token (RFC 8292 §2). */
  async function sendTo({ origin, path }: Place, { headers, body, credential, connectTo }: Sending): Promise<Answer> {
    // Self-hosted push services often speak only HTTP/1.1.
    const target: Http2Target = { key: `webpush:${origin}`, origin, isGuarded: !connectTo, fallback: 'http/1.1' };
    const sendWith = (authorization: string): Promise<Answer> =>
      transport.request(connectTo ? { ...target, connectTo } : target, {
        path,
        headers: { ...headers, authorization },
        body,
      });
    const refused = authorizations.get(credential, origin);
    const answer = await sendWith(refused);
    if (answer.kind !== 'answer' || (answer.status !== 401 && answer.status !== 403)) return answer;
    // The token's time may be wrong. Usually the browser subscribed with another key, and one new token shows that.
    const next = authorizations.replace(credential, { origin, refused });
    return next === undefined ? answer : sendWith(next);
  }

  return {
    plan: planWebPushRequest,
    async send(plan, credential) {
      const { encryptFor, headers } = plan;
      const body = encryptFor ? await encryption.encrypt({ plain: plan.body, keys: encryptFor }) : plan.body;
      const connectTo = plan.origin === simulator?.origin ? simulator.connectTo : undefined;
      const sending = { headers, body, credential, connectTo };
      const begunAt = performance.now();
      let place: Place = plan;
      let answer = await sendTo(place, sending);
      for (let redirects = 0; redirects < maxRedirects; redirects += 1) {
        const next = findRedirect(answer, place);
        if (next === undefined || performance.now() - begunAt >= redirectMilliseconds) return answer;
        // Simulated messages never leave this machine.
        if (connectTo !== undefined && next.origin !== plan.origin) return answer;
        const followed = await sendTo(next, sending);
        // A redirect to a blocked host says nothing about the device.
        if (isBlocked(followed)) return answer;
        [place, answer] = [next, followed];
      }
      return answer;
    },
    classify: classifyWebPushAnswer,
    close: () => encryption.close(),
  };
}

type Sending = {
  headers: Record<string, string>;
  body: Buffer;
  credential: WebPushCredential;
  /** Where the simulated push service listens, if the message is for it. */
  connectTo: string | undefined;
};

function isBlocked(answer: Answer): boolean {
  return answer.kind === 'failure' && (answer.reason === 'address-blocked' || answer.reason === 'host-not-allowed');
}

/** The address of a message at a push service. */
type Place = Pick<Plan, 'origin' | 'path'>;

/**
 * Returns the place that a response redirects a message to, or undefined. Only 307 and 308 are followed (RFC 9110 §15.4.8,
 * §15.4.9): they ask for the same request again. After 301 and 302 many servers expect a GET, and a page that responds 200 to
 * anything would look as if it had accepted the message. Mozilla documents its 301 for its own bridges only.
 */
function findRedirect(answer: Answer, from: Place): Place | undefined {
  if (answer.kind !== 'answer' || (answer.status !== 307 && answer.status !== 308)) return undefined;
  const { location } = answer.headers;
  if (location === undefined || location.length > maxPushIdCharacters) return undefined;
  const base = `${from.origin}${from.path}`;
  if (!URL.canParse(location, base)) return undefined;
  const to = new URL(location, base);
  // The same rules as for a subscription's endpoint. The host's address is checked when connecting.
  if (to.protocol !== 'https:' || to.username !== '' || to.password !== '') return undefined;
  return { origin: to.origin, path: `${to.pathname}${to.search}` };
}
