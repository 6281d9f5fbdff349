import { isOwnKey, mergePatch } from '../../domain/content/overrides.ts';
import type { AdmCredential } from '../../domain/providers/adm.ts';
import { isObject } from '../../fields/request-reader.ts';
import { makeAndroidPart } from '../payload/android.ts';
import type { AndroidMessage } from '../payload/android.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

/** Names and values of data and notification together: "a payload of up to 6KB in size". */
export const maxPayloadBytes = 6 * 1024;

// One minute to 31 days. A message that must not be stored is stored for a minute, as Mozilla's sender does it (autopush-rs,
// min_ttl of its ADM router): a shorter time could be refused as InvalidExpiration.
const minExpirySeconds = 60;
const maxExpirySeconds = 2_678_400;

/**
 * Plans the request for one device. Amazon has no request for several devices, and no md5 is sent: the server calculates it,
 * and a wrong one would be refused. Pure.
 */
export function planAdmRequest(
  { message, device }: PlanInput<AdmCredential>,
  origin: string,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'ANDROID') throw new Error(`Amazon serves Android, not ${message.platform}`);
  const part = overrideAdmPart(makeAdmPart(message), message);
  if ('fault' in part) return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: part.fault } };
  const body = Buffer.from(JSON.stringify(part));
  const bytes = body.length > maxPayloadBytes ? payloadBytes(part) : 0;
  if (bytes > maxPayloadBytes) {
    const detail = `${bytes} bytes of names and values; Amazon takes ${maxPayloadBytes}`;
    return { outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail } };
  }
  return {
    plan: {
      origin,
      path: `/messaging/registrations/${encodeURIComponent(device.pushId)}/messages`,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json',
        'x-amzn-type-version': 'com.amazon.device.messaging.ADMMessage@1.0',
        'x-amzn-accept-type': 'com.amazon.device.messaging.ADMSendResult@1.0',
      },
      body,
    },
  };
}

export type AdmPart = {
  /** Names and values must be texts. */
  data?: Record<string, string>;
  notification?: Record<string, unknown>;
  consolidationKey: string;
  expiresAfter: number;
  priority: 'high' | 'normal';
};

/**
 * Returns the message for an app on an Amazon device: the data and the notification of the same message for FCM, so that one
 * receiver reads both. Amazon's notification has all members of ours under the same names
 * (https://developer.amazon.com/docs/adm/message-types.html, and AdmNativeNotification of @azure/notification-hubs). The
 * consolidation key lets a repeat after a crash replace the first message while the device is away. It has 32 characters, and
 * Amazon allows 64. Pure.
 */
export function makeAdmPart(message: AndroidMessage): AdmPart {
  const { data, android } = makeAndroidPart(message);
  const service = `${message.payload.dataPrefix}_push_service`;
  const { notification } = android;
  return {
    ...(data === undefined ? {} : { data: service in data ? { ...data, [service]: 'adm' } : data }),
    ...(notification === undefined ? {} : { notification }),
    consolidationKey: message.identity.collapseId,
    expiresAfter: Math.min(Math.max(message.ttlSeconds, minExpirySeconds), maxExpirySeconds),
    priority: message.priority === 'HIGH' ? 'high' : 'normal',
  };
}

/** Returns the part with the caller's override, or why Amazon would reject it. Without an override, returns it unchanged. */
function overrideAdmPart(part: AdmPart, { content, payload }: AndroidMessage): Partial<AdmPart> | { fault: string } {
  const patch = content.overrides?.adm;
  if (patch === undefined) return part;
  const merged = mergePatch(part, patch) as Record<string, unknown>;
  const { data = {}, notification = {} } = merged;
  if (!isObject(notification)) return { fault: 'notification must be an object' };
  if (!isObject(data)) return { fault: 'data must be an object' };
  const wrong = Object.keys(data).find((name) => typeof data[name] !== 'string');
  if (wrong !== undefined) return { fault: `data.${wrong} must be a text` };
  // The prefix may have changed since the message was accepted.
  const own = Object.keys(patch.data ?? {}).find((name) => isOwnKey(name, [payload.dataPrefix]));
  return own === undefined ? merged : { fault: `data.${own} cannot be set` };
}

/** Returns the bytes that Amazon counts: names and values, without the JSON around them. */
export function payloadBytes({ data = {}, notification = {} }: Partial<AdmPart>): number {
  return [...Object.entries(data), ...Object.entries(notification)].reduce((sum, [name, value]) => {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    return sum + Buffer.byteLength(name) + Buffer.byteLength(text);
  }, 0);
}
