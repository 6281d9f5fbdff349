import type { ApnsCredential } from '../../../domain/provider-credential.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { makeIosPayload } from './ios-payload.ts';
import type { IosMessage } from './ios-payload.ts';

const maxPayloadBytes = 4096;

export type ApnsPlanContext = { origin: string; now: Date };

/** The request for one iPhone: an alert, with the app's data next to `aps`. Pure. */
export function planApnsRequest(
  { message, device, credential }: PlanInput<ApnsCredential>,
  { origin, now }: ApnsPlanContext,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'IOS') throw new Error(`APNs serves iOS, not ${message.platform}`);
  if (!isDeviceToken(device.pushId)) return { outcome: { kind: 'gone', code: 'BadDeviceToken' } };
  const body = Buffer.from(JSON.stringify(makeIosPayload(message)));
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
        // Apple refuses a silent message of another priority.
        'apns-push-type': message.isSilent ? 'background' : 'alert',
        'apns-priority': message.isSilent ? '5' : String(message.priority),
        'apns-expiration': String(expiration),
        'apns-id': message.identity.id,
        'apns-collapse-id': message.identity.collapseId,
      },
      body,
    },
  };
}

/** A token becomes part of the path; Apple's are hexadecimal of a length that has grown before. */
export function isDeviceToken(pushId: string): boolean {
  return /^[0-9a-fA-F]{16,200}$/.test(pushId);
}

/** What APNs counts of a message, and the most it takes. */
export function measureApnsMessage(message: IosMessage): { bytes: number; most: number } {
  return { bytes: Buffer.byteLength(JSON.stringify(makeIosPayload(message))), most: maxPayloadBytes };
}
