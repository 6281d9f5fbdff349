import type { Clock } from '../../../clock.ts';
import type { WebPushCredential } from '../../../domain/provider-credential.ts';
import type { Http2Transport } from '../http2/http2-transport.ts';
import type { DeliveryProvider } from '../provider.ts';
import { classifyWebPushAnswer } from './classify-web-push-answer.ts';
import { planWebPushRequest } from './plan-web-push-request.ts';
import { makeVapidAuthorizations } from './vapid-authorization.ts';

export type WebPushProviderOptions = {
  clock: Clock;
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
  transport,
  simulator,
}: WebPushProviderOptions): DeliveryProvider<WebPushCredential> {
  const authorizations = makeVapidAuthorizations({ clock });
  return {
    plan: planWebPushRequest,
    send(plan, credential) {
      const isSimulated = plan.origin === simulator?.origin;
      const target = { key: `webpush:${plan.origin}`, origin: plan.origin, isGuarded: !isSimulated };
      return transport.request(isSimulated ? { ...target, connectTo: simulator.connectTo } : target, {
        path: plan.path,
        headers: { ...plan.headers, authorization: authorizations.get(credential, plan.origin) },
        body: plan.body,
      });
    },
    classify: classifyWebPushAnswer,
    close: async () => {},
  };
}
