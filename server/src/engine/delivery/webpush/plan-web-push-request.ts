import type { WebPushCredential } from '../../../domain/provider-credential.ts';
import { deadNameOf, simulatedPushHost } from '../../../domain/hosts/reserved-names.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { findHeaderFault, overrideHeaders } from '../override-headers.ts';
import { maxConstrainedBytes, maxPlainBytes } from './encrypt-web-push.ts';
import { isCurvePoint } from './is-curve-point.ts';
import { parseSubscription } from './parse-subscription.ts';
import { makeWebPayload } from './web-payload.ts';
import type { BrowserMessage } from '../payload/worker-payload.ts';

/**
 * The request for one browser, with TTL, urgency and topic (RFC 8030 §5), and the keys for which its body is to be
 * encrypted (RFC 8291).
 */
export function planWebPushRequest({
  message,
  device,
}: PlanInput<WebPushCredential>): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'WEB') throw new Error(`Web Push serves browsers, not ${message.platform}`);
  const subscription = parseSubscription(device.pushId);
  // Bytes of the right length that are no point of the curve: no browser made them.
  if (!subscription || !isCurvePoint(subscription.keys.p256dh))
    return { outcome: { kind: 'gone', code: 'INVALID_SUBSCRIPTION' } };
  if (isRemoved(subscription.endpoint.hostname)) return { outcome: { kind: 'gone', code: 'HOST_INVALID' } };
  const { headers: changed = {} } = message.content.overrides?.webpush ?? {};
  const fault = findHeaderFault('webpush', changed);
  const plain = fault === undefined ? makeWebPayload(message, subscription.endpoint) : undefined;
  if (plain === undefined) {
    const detail = fault ?? 'the title is no text';
    return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } };
  }
  if (plain.length > maxPlainBytes) {
    const detail = `${plain.length} bytes; Web Push takes ${maxPlainBytes}`;
    return { outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail } };
  }
  const { endpoint, keys } = subscription;
  return {
    plan: {
      origin: endpoint.origin,
      path: `${endpoint.pathname}${endpoint.search}`,
      headers: addCachePolicy(
        endpoint,
        overrideHeaders(changed, {
          'content-type': 'application/octet-stream',
          'content-encoding': 'aes128gcm',
          ttl: String(message.ttlSeconds),
          urgency: message.urgency,
          topic: message.identity.collapseId,
        }),
      ),
      body: plain,
      encryptFor: keys,
    },
  };
}

/**
 * Windows keeps messages unless a header of its own says otherwise, and refuses a TTL of 0 without it: 400 "Ttl value
 * conflicts with X-WNS-Cache-Policy" (pywebpush issue 162).
 */
function addCachePolicy({ hostname }: URL, headers: Record<string, string>): Record<string, string> {
  const isUnkept = /^0+$/.test(headers.ttl ?? '') && hostname.endsWith('.notify.windows.com');
  return isUnkept ? { ...headers, 'x-wns-cache-policy': 'no-cache' } : headers;
}

/** Chrome and Edge hand out endpoints under `.invalid` for dead subscriptions; no host has such a name (RFC 6761 §6.4). */
function isRemoved(host: string): boolean {
  return host !== simulatedPushHost && deadNameOf(host) === '.invalid';
}

/** What Web Push counts of a message before it is encrypted, and the most it accepts, everywhere and for Firefox on Android. */
export function measureWebPushMessage(message: BrowserMessage): {
  bytes: number;
  most: number;
  maxEverywhere: number;
} {
  const bytes = makeWebPayload(message, undefined)?.length ?? 0;
  return { bytes, most: maxPlainBytes, maxEverywhere: maxConstrainedBytes };
}
