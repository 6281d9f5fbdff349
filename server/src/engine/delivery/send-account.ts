import type { Platform } from '../../domain/campaigns/content.ts';
import type { ProviderCredentials } from '../../domain/provider-credential.ts';
import { parseSubscription } from './webpush/parse-subscription.ts';
import { fcmMessagesPerMinute, noisySiteMessagesPerMinute } from '../../domain/delivery/limits.ts';

/** What a provider counts and limits: one account of one sender, whatever node sends through it. */
export type SendAccount = {
  /** `fcm:<project>`, `apns:<team>`, `webpush:<site>:<origin>`. */
  key: string;
  /** Messages a minute the provider takes; undefined when it names no limit. */
  perMinute: number | undefined;
  /** The same while the provider calls this sender noisy; undefined if the provider has no such judgement. */
  penaltyPerMinute: number | undefined;
};

/** The account through which a device is reached, or undefined if the workspace has none for it. Pure. */
export function sendAccountOf(
  device: { platform: Platform; pushId: string },
  credentials: ProviderCredentials,
): SendAccount | undefined {
  switch (device.platform) {
    case 'ANDROID': {
      if (!credentials.fcm) return undefined;
      const { projectId, simulated } = credentials.fcm;
      // The simulators have no quota.
      return {
        key: `fcm:${projectId}`,
        perMinute: simulated ? undefined : fcmMessagesPerMinute,
        penaltyPerMinute: undefined,
      };
    }
    case 'IOS':
      return (
        credentials.apns && {
          key: `apns:${credentials.apns.teamId}`,
          perMinute: undefined,
          penaltyPerMinute: undefined,
        }
      );
    case 'WEB': {
      const origin = parseSubscription(device.pushId)?.endpoint.origin;
      if (!credentials.webpush || origin === undefined) return undefined;
      // A site is known to push services by its VAPID key.
      const site = credentials.webpush.publicKey.slice(0, 22);
      return { key: `webpush:${site}:${origin}`, perMinute: undefined, penaltyPerMinute: noisySiteMessagesPerMinute };
    }
    default: {
      const never: never = device.platform;
      throw new Error(`unknown platform ${String(never)}`);
    }
  }
}
