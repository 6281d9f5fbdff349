import type { FcmCredential } from '../../../domain/provider-credential.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { makeAndroidPart } from './android-part.ts';
import type { AndroidMessage, AndroidPart } from './android-part.ts';
import { overrideAndroidPart } from './override-android-part.ts';
import type { OverriddenPart } from './override-android-part.ts';

// Keys and values of notification and data together (delivery 1).
const maxPayloadBytes = 4096;

/**
 * The request for one Android device. Pure.
 *
 * @param origin scheme and host of the FCM service
 */
export function planFcmRequest(
  { message, device, credential }: PlanInput<FcmCredential>,
  origin: string,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'ANDROID') throw new Error(`FCM serves Android, not ${message.platform}`);
  const part = overrideAndroidPart(forPackage(makeAndroidPart(message), credential), message);
  if ('fault' in part) return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: part.fault } };
  const body = Buffer.from(JSON.stringify({ message: { token: device.pushId, ...part } }));
  // Keys and values are in the body, so what is shorter need not be counted.
  const bytes = body.length > maxPayloadBytes ? measure(part).bytes : 0;
  if (bytes > maxPayloadBytes) {
    const detail = `${bytes} bytes of keys and values; FCM takes ${maxPayloadBytes}`;
    return { outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail } };
  }
  return {
    plan: {
      origin,
      path: `/v1/projects/${encodeURIComponent(credential.projectId)}/messages:send`,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body,
    },
  };
}

/** FCM refuses the token of another package then. */
function forPackage(part: AndroidPart, { restrictedPackage }: FcmCredential): AndroidPart {
  if (restrictedPackage === undefined) return part;
  return { ...part, android: { ...part.android, restricted_package_name: restrictedPackage } };
}

/** What FCM counts of a message, and the most it takes. */
export function measureFcmMessage(message: AndroidMessage): { bytes: number; most: number } {
  const part = makeAndroidPart(message);
  const overridden = overrideAndroidPart(part, message);
  return measure('fault' in overridden ? part : overridden);
}

/** Of what is sent: a mode that sends a text once takes longer texts. */
function measure({ data = {}, android: { notification = {} } = {} }: OverriddenPart) {
  return { bytes: payloadBytes(data) + payloadBytes(notification), most: maxPayloadBytes };
}

function payloadBytes(members: Record<string, unknown>): number {
  return Object.entries(members).reduce(
    (sum, [name, value]) =>
      sum + Buffer.byteLength(name) + Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)),
    0,
  );
}
