import type { HmsCredential, ProviderCredentials } from '../domain/credentials/credentials.ts';
import { providerOf } from '../domain/delivery/providers.ts';
import type { Reachable } from '../domain/delivery/providers.ts';
import { isKnownPushService } from '../domain/delivery/push-services.ts';
import { fcmMessagesPerMinute, noisySiteMessagesPerMinute } from '../domain/limits/delivery.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import { parseSubscription } from './webpush/encrypt.ts';

/** The unit that a provider counts and limits: one account of one sender, whichever node sends. */
export type SendAccount = {
  /** `fcm:<project>`, `apns:<team>`, `webpush:<site>:<origin>`, `hms:<project or app>`. */
  key: string;
  /** Messages per minute that the provider accepts; undefined if it names no limit. */
  perMinute: number | undefined;
  /** The limit while the provider considers this sender noisy; undefined if the provider does not rate senders. */
  throttledPerMinute: number | undefined;
  /** True for an unknown push service that devices named. It may be gone for ever, so messages do not wait long for it. */
  isChosenByDevice?: boolean;
};

/** Returns the account through which a device is reached, or undefined if the workspace has none for it. Pure. */
export function sendAccountOf(
  device: Reachable & { pushId: string },
  credentials: ProviderCredentials,
): SendAccount | undefined {
  const provider = providerOf(device);
  switch (provider) {
    case 'fcm': {
      if (!credentials.fcm) return undefined;
      const { projectId, simulated } = credentials.fcm;
      // The simulators have no quota.
      return {
        key: `fcm:${projectId}`,
        perMinute: simulated ? undefined : fcmMessagesPerMinute,
        throttledPerMinute: undefined,
      };
    }
    case 'apns':
      return (
        credentials.apns && {
          key: `apns:${credentials.apns.teamId}`,
          perMinute: undefined,
          throttledPerMinute: undefined,
        }
      );
    case 'webpush': {
      const origin = parseSubscription(device.pushId)?.endpoint.origin;
      if (!credentials.webpush || origin === undefined) return undefined;
      // Push services identify a site by its VAPID key.
      const site = credentials.webpush.publicKey.slice(0, 22);
      return {
        key: `webpush:${site}:${origin}`,
        perMinute: undefined,
        throttledPerMinute: noisySiteMessagesPerMinute,
        ...(!isKnownPushService(origin) && { isChosenByDevice: true }),
      };
    }
    case 'hms':
      return credentials.hms && { key: keyOfHms(credentials.hms), perMinute: undefined, throttledPerMinute: undefined };
    default:
      return unknownCase(provider);
  }
}

/** Returns the account key for Huawei, which counts per project or app that sends, and names no limit. */
function keyOfHms({ owner }: HmsCredential): string {
  return `hms:${owner.id}`;
}
