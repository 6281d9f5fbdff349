import type { ApnsCredential } from '../../../domain/provider-credential.ts';
import { mergePatch } from '../../../domain/provider-overrides/merge-patch.ts';
import { isObject } from '../../../domain/request-reader/request-reader.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { makeIosPayload } from './ios-payload.ts';
import type { IosMessage } from './ios-payload.ts';
import { findHeaderFault, overrideHeaders } from '../override-headers.ts';

const maxPayloadBytes = 4096;

export type ApnsPlanContext = { origin: string; now: Date };

/** The request for one iPhone: an alert, with the app's data next to `aps`. Pure. */
export function planApnsRequest(
  { message, device, credential }: PlanInput<ApnsCredential>,
  { origin, now }: ApnsPlanContext,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'IOS') throw new Error(`APNs serves iOS, not ${message.platform}`);
  if (!isDeviceToken(device.pushId)) return { outcome: { kind: 'gone', code: 'BadDeviceToken' } };
  const payload = overrideIosPayload(makeIosPayload(message), message);
  const { headers: changed = {} } = message.content.overrides?.apns ?? {};
  const fault = payload === undefined ? 'aps is no object' : findHeaderFault('apns', changed);
  if (fault !== undefined) return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: fault } };
  const body = Buffer.from(JSON.stringify(payload));
  if (body.length > maxPayloadBytes) {
    const detail = `${body.length} bytes; APNs takes ${maxPayloadBytes}`;
    return { outcome: { kind: 'rejected', code: 'PayloadTooLarge', detail } };
  }
  const expiration = message.ttlSeconds === 0 ? 0 : Math.floor(now.getTime() / 1000) + message.ttlSeconds;
  return {
    plan: {
      origin,
      path: `/3/device/${device.pushId.toLowerCase()}`,
      headers: overrideHeaders(changed, {
        'content-type': 'application/json',
        'apns-topic': credential.topic,
        // Apple refuses a silent message of another priority.
        'apns-push-type': message.isSilent ? 'background' : 'alert',
        'apns-priority': message.isSilent ? '5' : String(message.priority),
        'apns-expiration': String(expiration),
        'apns-id': message.identity.id,
        'apns-collapse-id': message.identity.collapseId,
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
  const payload = makeIosPayload(message);
  return {
    bytes: Buffer.byteLength(JSON.stringify(overrideIosPayload(payload, message) ?? payload)),
    most: maxPayloadBytes,
  };
}

/** The payload with the caller's override; undefined if that leaves nothing Apple would show. */
function overrideIosPayload(payload: object, { content, dataPrefix }: IosMessage): object | undefined {
  const patch = content.overrides?.apns?.payload;
  if (patch === undefined) return payload;
  // What stands beside `aps` under our prefix is the app's to believe, whatever the prefix was when it was accepted.
  const { [dataPrefix]: _own, ...allowed } = patch;
  const merged = mergePatch(payload, allowed) as { aps?: unknown };
  return isObject(merged.aps) ? merged : undefined;
}
