import type { OfferedAction } from '../../domain/content/content.ts';
import type { WebPushCredential } from '../../domain/providers/webpush.ts';
import { deadNameOf, simulatedPushHost } from '../../domain/delivery/push-services.ts';
import { countOf, makeWorkerPayload, writeWorkerPayload } from '../payload/browser.ts';
import type { BrowserMessage, Payload } from '../payload/browser.ts';
import { findHeaderFault, overrideHeaders } from '../payload/override-headers.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { maxConstrainedBytes, maxPlainBytes, parseSubscription } from './encrypt.ts';

/**
 * Plans the request for one browser, with TTL, urgency and topic (RFC 8030 §5), and the keys for encrypting its body
 * (RFC 8291).
 */
export function planWebPushRequest({
  message,
  device,
}: PlanInput<WebPushCredential>): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'WEB') throw new Error(`Web Push serves browsers, not ${message.platform}`);
  const subscription = parseSubscription(device.pushId);
  // Bytes of the right length that are not a point of the curve do not come from a browser.
  if (!subscription || !isCurvePoint(subscription.keys.p256dh))
    return { outcome: { kind: 'gone', code: 'INVALID_SUBSCRIPTION' } };
  if (isRemoved(subscription.endpoint.hostname)) return { outcome: { kind: 'gone', code: 'HOST_INVALID' } };
  const { headers: changed = {} } = message.content.overrides?.webpush ?? {};
  const fault = findHeaderFault('webpush', changed);
  const plain = fault === undefined ? makeWebPayload(message, subscription.endpoint) : undefined;
  if (plain === undefined) {
    const detail = fault ?? 'the title must be a text';
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
 * Windows stores messages unless a separate header says otherwise, and rejects a TTL of 0 without it: 400 "Ttl value conflicts
 * with X-WNS-Cache-Policy" (pywebpush issue 162).
 */
function addCachePolicy({ hostname }: URL, headers: Record<string, string>): Record<string, string> {
  const isUnkept = /^0+$/.test(headers.ttl ?? '') && hostname.endsWith('.notify.windows.com');
  return isUnkept ? { ...headers, 'x-wns-cache-policy': 'no-cache' } : headers;
}

/** Chrome and Edge return endpoints under `.invalid` for dead subscriptions; no host has such a name (RFC 6761 §6.4). */
function isRemoved(host: string): boolean {
  return host !== simulatedPushHost && deadNameOf(host) === '.invalid';
}

/**
 * Returns how many bytes Web Push counts for a message before encryption, and the maximum it accepts, in general and
 * everywhere, including Firefox on Android.
 */
export function measureWebPushMessage(message: BrowserMessage): {
  bytes: number;
  most: number;
  maxEverywhere: number;
} {
  const bytes = makeWebPayload(message, undefined)?.length ?? 0;
  return { bytes, most: maxPlainBytes, maxEverywhere: maxConstrainedBytes };
}

/**
 * Returns the JSON for the service worker. A requested declarative notification is added to it: a browser that supports it
 * needs no worker, and every other browser ignores it. If both do not fit, the declarative notification is left out. Undefined
 * if the caller's override leaves nothing to show.
 */
export function makeWebPayload(message: BrowserMessage, endpoint: URL | undefined): Buffer | undefined {
  const plain = writeWorkerPayload(message);
  if (plain === undefined) return undefined;
  const declared = isDeclarative(message, endpoint)
    ? writeWorkerPayload(message, makeDeclaration(message, makeWorkerPayload(message)))
    : undefined;
  return Buffer.from(declared !== undefined && Buffer.byteLength(declared) <= maxPlainBytes ? declared : plain);
}

/** Safari is the browser that supports declarative web push. */
function isDeclarative({ content }: BrowserMessage, endpoint: URL | undefined): boolean {
  // A declarative notification must say where it leads.
  if (content.redirectUrl === '') return false;
  const wanted = content.options?.declarative ?? 'never';
  return wanted === 'always' || (wanted === 'auto' && /(^|\.)push\.apple\.com$/.test(endpoint?.hostname ?? ''));
}

/** Returns members that browsers read without a worker (https://webkit.org/blog/16535/meet-declarative-web-push/). */
function makeDeclaration({ content, link, language }: BrowserMessage, payload: Payload): Payload {
  const { options = {} } = content;
  const { additionalActions: actions, badgeURL, appBadge, renotify, silent, requireInteraction, dir } = options;
  const lang = language ?? options.lang;
  const badge = appBadge === undefined ? {} : { app_badge: countOf(appBadge) };
  return {
    web_push: 8030,
    // The worker's push event runs first, and shows the message with features that only a worker has.
    mutable: true,
    ...badge,
    notification: {
      title: content.title,
      body: content.message,
      navigate: link ?? content.redirectUrl,
      ...(content.iconUrl === '' ? {} : { icon: content.iconUrl }),
      ...(content.imageUrl === undefined ? {} : { image: content.imageUrl }),
      ...(badgeURL === undefined ? {} : { badge: badgeURL }),
      tag: payload.tag,
      ...(lang === undefined ? {} : { lang }),
      ...(dir === undefined ? {} : { dir }),
      ...(renotify === undefined ? {} : { renotify }),
      ...(silent === undefined ? {} : { silent }),
      ...(requireInteraction === undefined ? {} : { requireInteraction }),
      ...(options.vibrate === undefined ? {} : { vibrate: options.vibrate }),
      ...(options.timestamp === undefined ? {} : { timestamp: options.timestamp }),
      ...(actions === undefined ? {} : { actions: actions.map(declareAction) }),
      mutable: true,
      ...badge,
    },
  };
}

function declareAction({ action, title, url, iconURL }: OfferedAction): Payload {
  return { action, title, navigate: url, ...(iconURL === undefined ? {} : { icon: iconURL }) };
}

// P-256 (SEC 2 §2.4.2): y² = x³ − 3x + b over the field of `prime`.
const prime = 0xffffffff00000001000000000000000000000000ffffffffffffffffffffffffn;
const b = 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn;

/**
 * True if 65 bytes are an uncompressed point of P-256, which a browser's key is. Every point of the curve except the one
 * without such a form is of the right order, so no further check is needed (RFC 8291 §7).
 */
export function isCurvePoint(bytes: Buffer): boolean {
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  const x = BigInt(`0x${bytes.toString('hex', 1, 33)}`);
  const y = BigInt(`0x${bytes.toString('hex', 33, 65)}`);
  return x < prime && y < prime && (y * y - (x * x - 3n) * x - b) % prime === 0n;
}
