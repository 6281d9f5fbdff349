import type { SubscriptionKeys } from './encrypt-web-push.ts';

export type Subscription = { endpoint: URL; keys: SubscriptionKeys };

/** Reads the JSON text of a browser's PushSubscription; undefined if it is not one. */
export function parseSubscription(text: string): Subscription | undefined {
  try {
    const value = JSON.parse(text) as { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
    const endpoint = new URL(String(value.endpoint));
    const p256dh = Buffer.from(String(value.keys?.p256dh), 'base64url');
    const auth = Buffer.from(String(value.keys?.auth), 'base64url');
    if (endpoint.protocol !== 'https:' || p256dh.length !== 65 || p256dh[0] !== 4 || auth.length !== 16)
      return undefined;
    return { endpoint, keys: { p256dh, auth } };
  } catch {
    return undefined;
  }
}
