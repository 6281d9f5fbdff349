import type { Clock } from '../../../clock.ts';
import type { WebPushCredential } from '../../../domain/provider-credential.ts';
import type { Logger } from '../../../log.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { Http2Target } from '../http2/open-socket.ts';
import type { Answer, DeliveryProvider } from '../provider.ts';
import { classifyWebPushAnswer } from './classify-web-push-answer.ts';
import { planWebPushRequest } from './plan-web-push-request.ts';
import { makeVapidAuthorizations } from './vapid-authorization.ts';
import { makeWebPushEncryption } from './web-push-encryption.ts';

export type WebPushProviderOptions = {
  clock: Clock;
  log: Logger;
  transport: Http2Transport;
  /** The simulated push service: its subscriptions' origin, and where that is on loopback. */
  simulator: { origin: string; connectTo: string } | undefined;
};

/**
 * Web Push (RFC 8030) with VAPID. The endpoint is chosen by a browser, or by anyone claiming to be one, so its host is
 * guarded.
 */
export function makeWebPushProvider({
  clock,
  log,
  transport,
  simulator,
}: WebPushProviderOptions): DeliveryProvider<WebPushCredential> {
  const authorizations = makeVapidAuthorizations({ clock });
  const encryption = makeWebPushEncryption({ log });
  return {
    plan: planWebPushRequest,
    async send(plan, credential) {
      const { origin, encryptFor } = plan;
      const body = encryptFor ? await encryption.encrypt({ plain: plan.body, keys: encryptFor }) : plan.body;
      const isSimulated = origin === simulator?.origin;
      // Push services that people host themselves often speak HTTP/1.1 only.
      const target: Http2Target = { key: `webpush:${origin}`, origin, isGuarded: !isSimulated, fallback: 'http/1.1' };
      const sendWith = (authorization: string): Promise<Answer> =>
        transport.request(isSimulated ? { ...target, connectTo: simulator.connectTo } : target, {
          path: plan.path,
          headers: { ...plan.headers, authorization },
          body,
        });
      const refused = authorizations.get(credential, origin);
      const answer = await sendWith(refused);
      if (answer.kind !== 'answer' || (answer.status !== 401 && answer.status !== 403)) return answer;
      // Its time may be wrong; as a rule the browser subscribed with another key, and one fresh token says so.
      const next = authorizations.replace(credential, { origin, refused });
      return next === undefined ? answer : sendWith(next);
    },
    classify: classifyWebPushAnswer,
    close: () => encryption.close(),
  };
}
