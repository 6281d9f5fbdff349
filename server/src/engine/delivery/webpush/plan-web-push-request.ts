import type { WebContent } from '../../../domain/campaigns/content.ts';
import type { Message } from '../../../domain/campaigns/message.ts';
import type { WebPushCredential } from '../../../domain/provider-credential.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { encryptWebPush, maxPlainBytes } from './encrypt-web-push.ts';
import { parseSubscription } from './parse-subscription.ts';

/** The request for one browser: the message encrypted for it (RFC 8291), with TTL, urgency and topic (RFC 8030 §5). */
export function planWebPushRequest({
  message,
  device,
}: PlanInput<WebPushCredential>): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'WEB') throw new Error(`Web Push serves browsers, not ${message.platform}`);
  const subscription = parseSubscription(device.pushId);
  if (!subscription) return { outcome: { kind: 'gone', code: 'INVALID_SUBSCRIPTION' } };
  const plain = Buffer.from(JSON.stringify(makePayload(message, message.content)));
  if (plain.length > maxPlainBytes) {
    const detail = `${plain.length} bytes; Web Push takes ${maxPlainBytes}`;
    return { outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail } };
  }
  let body: Buffer;
  try {
    body = encryptWebPush(plain, subscription.keys);
  } catch {
    // Bytes of the right length that are no point of the curve: no browser made them.
    return { outcome: { kind: 'gone', code: 'INVALID_SUBSCRIPTION' } };
  }
  const { endpoint } = subscription;
  return {
    plan: {
      origin: endpoint.origin,
      path: `${endpoint.pathname}${endpoint.search}`,
      headers: {
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        ttl: String(message.ttlSeconds),
        urgency: message.urgency,
        topic: message.identity.collapseId,
      },
      body,
    },
  };
}

/** What Web Push counts of a message before it is encrypted, and the most it takes. */
export function measureWebPushMessage(message: Extract<Message, { platform: 'WEB' }>): { bytes: number; most: number } {
  return { bytes: Buffer.byteLength(JSON.stringify(makePayload(message, message.content))), most: maxPlainBytes };
}

/** What the service worker reads. */
function makePayload(message: Message, content: Omit<WebContent, 'fallback'>): object {
  return {
    title: content.title,
    message: content.message,
    redirectURL: content.redirectUrl,
    iconURL: content.iconUrl,
    ...(content.imageUrl === undefined ? {} : { imageURL: content.imageUrl }),
    autoDismiss: content.autoDismiss,
    // The notification's tag: a repeat replaces the first.
    tag: message.identity.collapseId,
    app_id: message.workspaceId,
    campaign_id: message.campaignId,
    run_id: message.runId,
    message_id: message.identity.id,
    ...(message.inboxExpiresAt && { inbox_expiry: Math.floor(message.inboxExpiresAt.getTime() / 1000) }),
    ...(message.report === undefined ? {} : { report_token: message.report.token }),
    ...(message.report?.clickProof === undefined ? {} : { click_proof: message.report.clickProof }),
  };
}
