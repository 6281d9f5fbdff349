import type { Message } from '../../../domain/campaigns/message.ts';
import type { FcmCredential } from '../../../domain/provider-credential.ts';
import { makeAndroidPart } from '../payload/android-part.ts';
import type { AndroidMessage, AndroidPart } from '../payload/android-part.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';
import { makeApnsPart } from './apns-part.ts';
import type { ApnsPart } from './apns-part.ts';
import { overrideAndroidPart } from './override-android-part.ts';
import type { OverriddenPart } from './override-android-part.ts';
import { makeWebPushPart } from './webpush-part.ts';
import type { WebPushPart } from './webpush-part.ts';
import { unknownCase } from '../../../domain/unknown-case.ts';

// Keys and values of notification and data together (delivery 1); of an iPhone's message the whole payload.
const maxPayloadBytes = 4096;
// Firebase adds members of its own to what it hands to Apple; how many is not written down.
const apnsReserveBytes = 200;
/** Keys and values are in the body, so one that is shorter need not be counted. */
export const smallFcmBodyBytes = maxPayloadBytes - apnsReserveBytes;

/** Members of a message beside the address: those of one platform. */
type FcmPart = OverriddenPart | { apns: ApnsPart } | { webpush: WebPushPart };

export type FcmPlanContext = {
  /** Scheme and host of the FCM service. */
  origin: string;
  now: Date;
};

/** The request for one device of Android, or of an app or a site that uses Firebase. Pure. */
export function planFcmRequest(
  { message, device, credential }: PlanInput<FcmCredential>,
  { origin, now }: FcmPlanContext,
): { plan: Plan } | { outcome: Outcome } {
  const part = makePart(message, { credential, now });
  if ('fault' in part) return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: part.fault } };
  const address = { [device.pushIdType ?? 'token']: device.pushId };
  const body = Buffer.from(JSON.stringify({ message: { ...address, ...part } }));
  const { bytes, most } = body.length > smallFcmBodyBytes ? measure(part) : { bytes: 0, most: 0 };
  if (bytes > most) {
    const detail = `${bytes} bytes of keys and values; FCM takes ${most}`;
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

type Making = { credential: FcmCredential; now: Date };

/** With the caller's override of the platform's own provider; `fault`: why that cannot be sent. */
function makePart(message: Message, { credential, now }: Making): FcmPart | { fault: string } {
  switch (message.platform) {
    case 'ANDROID':
      return overrideAndroidPart(forPackage(makeAndroidPart(message), credential), message);
    case 'IOS':
      return makeApnsPart(message, now);
    case 'WEB':
      return makeWebPushPart(message);
    default:
      return unknownCase(message);
  }
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
function measure(part: FcmPart): { bytes: number; most: number } {
  if ('apns' in part) {
    const bytes = Buffer.byteLength(JSON.stringify(part.apns.payload));
    return { bytes, most: maxPayloadBytes - apnsReserveBytes };
  }
  if ('webpush' in part) return { bytes: payloadBytes(part.webpush.data), most: maxPayloadBytes };
  const { data = {}, android: { notification = {} } = {} } = part;
  return { bytes: payloadBytes(data) + payloadBytes(notification), most: maxPayloadBytes };
}

function payloadBytes(members: Record<string, unknown>): number {
  return Object.entries(members).reduce(
    (sum, [name, value]) =>
      sum + Buffer.byteLength(name) + Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)),
    0,
  );
}
