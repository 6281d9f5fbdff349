import type { ApnsCredential } from '../../../domain/provider-credential.ts';
import { overrideHeaders } from '../override-headers.ts';
import { makeIosPayload } from '../payload/ios-payload.ts';
import type { IosMessage } from '../payload/ios-payload.ts';
import { makeIosRequest, overrideIosPayload } from '../payload/ios-request.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

export const maxPayloadBytes = 4096;

export type ApnsPlanContext = { origin: string; now: Date };

/** The request for one iPhone: an alert, with the app's data next to `aps`. Pure. */
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

/** A token becomes part of the path; Apple's are hexadecimal of a length that has grown before. */
export function isDeviceToken(pushId: string): boolean {
  return /^[0-9a-fA-F]{16,200}$/.test(pushId);
}

/** What APNs counts of a message, and the most it takes. */
export function measureApnsMessage(message: IosMessage): { bytes: number; most: number } {
  const payload = overrideIosPayload(message) ?? makeIosPayload(message);
  return { bytes: Buffer.byteLength(JSON.stringify(payload)), most: maxPayloadBytes };
}
