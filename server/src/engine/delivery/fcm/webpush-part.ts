import { findHeaderFault, overrideHeaders } from '../override-headers.ts';
import { writeWorkerPayload } from '../payload/worker-payload.ts';
import type { BrowserMessage } from '../payload/worker-payload.ts';

/** FCM's `webpush`. */
export type WebPushPart = { headers: Record<string, string>; data: Record<string, string> };

/** As Firebase writes them. */
const headerNames: Record<string, string> = { ttl: 'TTL', urgency: 'Urgency', topic: 'Topic' };

/**
 * Our payload whole, for the site's worker. With a `notification` Firebase's own worker would show it too, without our
 * buttons, and not at all on a page that is looked at (https://github.com/firebase/firebase-js-sdk/issues/8010). Pure.
 */
export function makeWebPushPart(message: BrowserMessage): { webpush: WebPushPart } | { fault: string } {
  const { headers: changed = {} } = message.content.overrides?.webpush ?? {};
  const fault = findHeaderFault('webpush', changed);
  const payload = fault === undefined ? writeWorkerPayload(message) : undefined;
  if (payload === undefined) return { fault: fault ?? 'the title is no text' };
  const { ttlSeconds, urgency, identity } = message;
  const headers = overrideHeaders(changed, { ttl: String(ttlSeconds), urgency, topic: identity.collapseId });
  const named = Object.entries(headers).map(([name, value]) => [headerNames[name] ?? name, value]);
  return { webpush: { headers: Object.fromEntries(named), data: { carillon: payload } } };
}
