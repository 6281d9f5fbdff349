import { createHash } from 'node:crypto';
import type { ApnsCredential } from '../../domain/providers/apns.ts';
import { makeIosPayload, makeIosRequest, overrideIosPayload } from '../payload/ios.ts';
import type { IosMessage } from '../payload/ios.ts';
import { overrideHeaders } from '../payload/override-headers.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

export const maxPayloadBytes = 4096;

export type ApnsPlanContext = { origin: string; now: Date };

/** Plans the request for one iPhone: an alert, with the app's data next to `aps`. Pure. */
export function planApnsRequest(
  { message, device, credential }: PlanInput<ApnsCredential>,
  { origin, now }: ApnsPlanContext,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'IOS') throw new Error(`APNs serves iOS, not ${message.platform}`);
  if (!isDeviceToken(device.pushId)) return { outcome: { kind: 'gone', code: 'BadDeviceToken' } };
  const request = makeIosRequest(message, now);
  if ('fault' in request) return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: request.fault } };
  const body = Buffer.from(JSON.stringify(request.payload));
  if (body.length > maxPayloadBytes) {
    const detail = `${body.length} bytes; APNs takes ${maxPayloadBytes}`;
    return { outcome: { kind: 'rejected', code: 'PayloadTooLarge', detail } };
  }
  return {
    plan: {
      origin,
      path: `/3/device/${device.pushId.toLowerCase()}`,
      headers: overrideHeaders(request.changed, {
        'content-type': 'application/json',
        'apns-topic': credential.topic,
        ...request.headers,
        'apns-id': message.identity.id,
      }),
      body,
    },
  };
}

/** True if a token can be part of the path. Apple's tokens are hexadecimal, and their length has grown before. */
export function isDeviceToken(pushId: string): boolean {
  return /^[0-9a-fA-F]{16,200}$/.test(pushId);
}

/** Returns how many bytes APNs counts for a message, and the maximum it accepts. */
export function measureApnsMessage(message: IosMessage): { bytes: number; most: number } {
  const payload = overrideIosPayload(message) ?? makeIosPayload(message);
  return { bytes: Buffer.byteLength(JSON.stringify(payload)), most: maxPayloadBytes };
}

/** One event of a Live Activity for one phone. */
export type LiveActivityMessage = {
  /** The same on every attempt. */
  id: string;
  token: string;
  priority: 5 | 10;
  body: string;
  /** Until then, Apple keeps the event for an offline phone. */
  expiresAt: Date;
};

/**
 * Plans the request for a Live Activity event. Apple accepts it under a separate topic, and with no member except `aps`. Pure.
 */
export function planLiveActivityRequest(
  message: LiveActivityMessage,
  { credential, origin }: { credential: ApnsCredential; origin: string },
): { plan: Plan } | { outcome: Outcome } {
  if (!isDeviceToken(message.token)) return { outcome: { kind: 'gone', code: 'BadDeviceToken' } };
  return {
    plan: {
      origin,
      path: `/3/device/${message.token.toLowerCase()}`,
      headers: {
        'content-type': 'application/json',
        'apns-topic': `${credential.topic}.push-type.liveactivity`,
        'apns-push-type': 'liveactivity',
        'apns-priority': String(message.priority),
        'apns-expiration': String(Math.floor(message.expiresAt.getTime() / 1000)),
        'apns-id': uuidOf(message.id),
      },
      body: Buffer.from(message.body),
    },
  };
}

/** Returns a UUID of version 8 (RFC 9562 §5.8), in which the application defines the bits. */
function uuidOf(id: string): string {
  const hex = createHash('sha256').update(`live-activity:${id}`).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
