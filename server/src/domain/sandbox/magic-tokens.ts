import type { ProviderName } from '../delivery/providers.ts';

/**
 * Device addresses that make a simulated provider respond in a chosen way, without any set-up. FCM and HMS tokens and
 * web subscription ids begin with the word; APNs tokens are hexadecimal and begin with the digits. Undefined if a
 * provider has no such response.
 */
export const magicTokens = [
  {
    outcome: 'gone',
    fcm: 'magic-gone',
    apns: 'dead0410',
    webpush: 'magic-gone',
    hms: 'magic-gone',
    answer: 'FCM 404 UNREGISTERED, APNs 410, Web Push 410, HMS 80300007',
  },
  {
    outcome: 'invalid',
    fcm: 'magic-invalid',
    apns: 'dead0400',
    webpush: 'magic-invalid',
    hms: 'magic-invalid',
    answer: 'FCM 400 on message.token, APNs 400 BadDeviceToken, Web Push 404, HMS 80100000',
  },
  {
    outcome: 'rejected',
    fcm: 'magic-rejected',
    apns: 'dead0413',
    webpush: 'magic-rejected',
    hms: 'magic-rejected',
    answer: 'FCM 400 on the payload, APNs 413, Web Push 413, HMS 80300008',
  },
  {
    outcome: 'busy',
    fcm: 'magic-busy',
    apns: 'dead0429',
    webpush: 'magic-busy',
    hms: 'magic-busy',
    answer: 'FCM 503, APNs 429 TooManyRequests, Web Push 429, HMS 503, each with Retry-After: 1',
  },
  {
    outcome: 'limited',
    fcm: 'magic-limited',
    apns: undefined,
    webpush: undefined,
    hms: 'magic-limited',
    answer: 'FCM 429 QUOTA_EXCEEDED that names the device, HMS 80300011',
  },
  {
    outcome: 'sporadic',
    fcm: 'magic-sporadic',
    apns: undefined,
    webpush: undefined,
    hms: undefined,
    answer: 'FCM 401 THIRD_PARTY_AUTH_ERROR twice, then the message is accepted',
  },
  {
    outcome: 'malformed',
    fcm: 'magic-malformed',
    apns: undefined,
    webpush: undefined,
    hms: undefined,
    answer: 'FCM 400 INVALID_ARGUMENT without fieldViolations',
  },
  {
    outcome: 'throttled',
    fcm: undefined,
    apns: undefined,
    webpush: 'magic-throttled',
    hms: undefined,
    answer: 'Web Push 406 with Retry-After: 1 and X-WNS-Status: dropped',
  },
  {
    outcome: 'outdated',
    fcm: undefined,
    apns: undefined,
    webpush: 'magic-outdated',
    hms: undefined,
    answer: 'Web Push 403, for a subscription that was made with an older VAPID key',
  },
  {
    outcome: 'silent',
    fcm: 'magic-silent',
    apns: 'dead0408',
    webpush: 'magic-silent',
    hms: 'magic-silent',
    answer: 'no answer: the request times out',
  },
] as const;

type MagicToken = (typeof magicTokens)[number];

export type MagicOutcome<Provider extends ProviderName = ProviderName> = Provider extends ProviderName
  ? Extract<MagicToken, Record<Provider, string>>['outcome']
  : never;

export function magicOutcome<Provider extends ProviderName>(
  provider: Provider,
  token: string,
): MagicOutcome<Provider> | undefined {
  const found = magicTokens.find((magic) => {
    const start = magic[provider];
    return start !== undefined && token.startsWith(start);
  });
  return found?.outcome as MagicOutcome<Provider> | undefined;
}
