import type { ProviderName } from '../delivery/provider-name.ts';

/**
 * Device addresses that make a simulated provider answer in a chosen way, with no set-up. FCM and HMS tokens and web
 * subscription ids begin with the word; APNs tokens are hexadecimal and begin with the digits.
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
    outcome: 'silent',
    fcm: 'magic-silent',
    apns: 'dead0408',
    webpush: 'magic-silent',
    hms: 'magic-silent',
    answer: 'no answer: the request times out',
  },
] as const;

export type MagicOutcome = (typeof magicTokens)[number]['outcome'];

export function magicOutcome(provider: ProviderName, token: string): MagicOutcome | undefined {
  return magicTokens.find((magic) => token.startsWith(magic[provider]))?.outcome;
}
