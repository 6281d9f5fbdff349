import { accountKeyOf, providerOf, providers } from '../domain/delivery/providers.ts';
import type { ProviderCredentials, Reachable } from '../domain/delivery/providers.ts';
import { isKnownPushService } from '../domain/delivery/push-services.ts';
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
  const credential = credentials[provider];
  if (!credential) return undefined;
  const { address, limits, summarise } = providers[provider];
  const key = accountKeyOf(provider, summarise(credential));
  // The simulators have no quota.
  const perMinute = credential.simulated ? undefined : limits?.messagesPerMinute;
  const account = { key, perMinute, throttledPerMinute: limits?.noisyMessagesPerMinute };
  if (address !== 'subscription') return account;
  const origin = parseSubscription(device.pushId)?.endpoint.origin;
  if (origin === undefined) return undefined;
  return { ...account, key: `${key}${origin}`, ...(!isKnownPushService(origin) && { isChosenByDevice: true }) };
}
