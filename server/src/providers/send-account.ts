import type { HmsCredential, ProviderCredentials } from '../domain/credentials/credentials.ts';
import { providerOf } from '../domain/delivery/providers.ts';
import type { Reachable } from '../domain/delivery/providers.ts';
import { isKnownPushService } from '../domain/delivery/push-services.ts';
import { fcmMessagesPerMinute, noisySiteMessagesPerMinute } from '../domain/limits/delivery.ts';
import { unknownCase } from '../domain/unknown-case.ts';
import { parseSubscription } from './webpush/encrypt.ts';

/** What a provider counts and limits: one account of one sender, whatever node sends through it. */
export type SendAccount = {
  /** `fcm:<project>`, `apns:<team>`, `webpush:<site>:<origin>`, `hms:<project or app>`. */
  key: string;
  /** Messages a minute the provider takes; undefined when it names no limit. */
  perMinute: number | undefined;
  /** The same while the provider calls this sender noisy; undefined if the provider has no such judgement. */
  penaltyPerMinute: number | undefined;
  /** A push service that devices named and nobody knows: it may be gone for ever, so messages do not wait for it long. */
  isChosenByDevice?: boolean;
};

/** The account through which a device is reached, or undefined if the workspace has none for it. Pure. */
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
        penaltyPerMinute: undefined,
      };
    }
    case 'apns':
      return (
        credentials.apns && {
          key: `apns:${credentials.apns.teamId}`,
          perMinute: undefined,
          penaltyPerMinute: undefined,
        }
      );
    case 'webpush': {
      const origin = parseSubscription(device.pushId)?.endpoint.origin;
      if (!credentials.webpush || origin === undefined) return undefined;
      // A site is known to push services by its VAPID key.
      const site = credentials.webpush.publicKey.slice(0, 22);
      return {
        key: `webpush:${site}:${origin}`,
        perMinute: undefined,
        penaltyPerMinute: noisySiteMessagesPerMinute,
        ...(!isKnownPushService(origin) && { isChosenByDevice: true }),
      };
    }
    case 'hms':
      return credentials.hms && { key: keyOfHms(credentials.hms), perMinute: undefined, penaltyPerMinute: undefined };
    default:
      return unknownCase(provider);
  }
}

/** Huawei counts by what messages are addressed to, and names no number. */
function keyOfHms({ owner }: HmsCredential): string {
  return `hms:${owner.id}`;
}
