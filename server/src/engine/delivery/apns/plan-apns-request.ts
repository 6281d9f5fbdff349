import type { IosContent } from '../../../domain/campaigns/content.ts';
import type { Message } from '../../../domain/campaigns/message.ts';
import type { ApnsCredential } from '../../../domain/provider-credential.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

const maxPayloadBytes = 4096;

export type ApnsPlanContext = { origin: string; now: Date };

/** The request for one iPhone: an alert, with the app's data next to `aps`. Pure. */
export function planApnsRequest(
  { message, device, credential }: PlanInput<ApnsCredential>,
  { origin, now }: ApnsPlanContext,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'IOS') throw new Error(`APNs serves iOS, not ${message.platform}`);
  // The token becomes part of the path; Apple's are hexadecimal of a length that has grown before.
  if (!/^[0-9a-fA-F]{16,200}$/.test(device.pushId)) return { outcome: { kind: 'gone', code: 'BadDeviceToken' } };
  const body = Buffer.from(JSON.stringify(makePayload(message, message.content)));
  if (body.length > maxPayloadBytes) {
    const detail = `${body.length} bytes; APNs takes ${maxPayloadBytes}`;
    return { outcome: { kind: 'rejected', code: 'PayloadTooLarge', detail } };
  }
  const expiration = message.ttlSeconds === 0 ? 0 : Math.floor(now.getTime() / 1000) + message.ttlSeconds;
  return {
    plan: {
      origin,
      path: `/3/device/${device.pushId.toLowerCase()}`,
      headers: {
        'content-type': 'application/json',
        'apns-topic': credential.topic,
        'apns-push-type': 'alert',
        'apns-priority': String(message.priority),
        'apns-expiration': String(expiration),
        'apns-id': message.identity.id,
        'apns-collapse-id': message.identity.collapseId,
      },
      body,
    },
  };
}

/** What APNs counts of a message, and the most it takes. */
export function measureApnsMessage(message: Extract<Message, { platform: 'IOS' }>): { bytes: number; most: number } {
  return { bytes: Buffer.byteLength(JSON.stringify(makePayload(message, message.content))), most: maxPayloadBytes };
}

function makePayload(message: Message, content: Omit<IosContent, 'fallback'>): object {
  const sound = content.richContent.find(({ type }) => type === 'sound')?.value;
  const coupon = content.richContent.find(({ type }) => type === 'coupon')?.value;
  const media = content.richContent.filter(({ type }) => type !== 'sound' && type !== 'coupon');
  const category = content.additionalActions[0]?.category;
  return {
    aps: {
      alert: {
        title: content.title,
        ...(content.subtitle === undefined ? {} : { subtitle: content.subtitle }),
        body: content.message,
      },
      sound: sound ?? 'default',
      ...(content.enableBadge ? { badge: 1 } : {}),
      ...(category === undefined ? {} : { category }),
      ...(content.groupKey === undefined ? {} : { 'thread-id': content.groupKey }),
      // Media is fetched by the app's service extension, which runs for mutable content only.
      ...(media.length > 0 ? { 'mutable-content': 1 } : {}),
    },
    svc: {
      app_id: message.workspaceId,
      campaign_id: message.campaignId,
      run_id: message.runId,
      message_id: message.identity.id,
      ...(message.inboxExpiresAt && { inbox_expiry: Math.floor(message.inboxExpiresAt.getTime() / 1000) }),
      ...(message.report === undefined ? {} : { report_token: message.report.token }),
      ...(message.report?.clickProof === undefined ? {} : { click_proof: message.report.clickProof }),
      ...(media.length > 0 ? { media } : {}),
      ...(coupon === undefined ? {} : { coupon_code: coupon }),
      ...(content.defaultAction === undefined
        ? {}
        : {
            action: {
              type: content.defaultAction.type,
              value: content.defaultAction.value,
              key_value_pairs: content.defaultAction.keyValuePairs,
            },
          }),
    },
  };
}
