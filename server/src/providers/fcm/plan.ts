import type { Message } from '../../domain/content/message.ts';
import { mergePatch, isOwnKey } from '../../domain/content/overrides.ts';
import type { FcmCredential } from '../../domain/providers/fcm.ts';
import { isObject } from '../../fields/request-reader.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { makeAndroidPart } from '../payload/android.ts';
import type { AndroidMessage, AndroidPart } from '../payload/android.ts';
import { writeWorkerPayload } from '../payload/browser.ts';
import type { BrowserMessage } from '../payload/browser.ts';
import { makeIosRequest } from '../payload/ios.ts';
import type { IosMessage } from '../payload/ios.ts';
import { overrideHeaders, findHeaderFault } from '../payload/override-headers.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

// Keys and values of notification and data together (delivery 1); for an iPhone, the whole payload.
const maxPayloadBytes = 4096;
// Firebase adds its own members to the payload for Apple; how many is not documented.
const apnsReserveBytes = 200;
/** The body contains all keys and values, so a shorter body need not be measured. */
export const smallFcmBodyBytes = maxPayloadBytes - apnsReserveBytes;

/** Members of a message in addition to the address, for one platform. */
type FcmPart = OverriddenPart | { apns: ApnsPart } | { webpush: WebPushPart };

export type FcmPlanContext = {
  /** Scheme and host of the FCM service. */
  origin: string;
  now: Date;
};

/** Plans the request for one Android device, or for one device of an app or a site that uses Firebase. Pure. */
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

/** Returns the part with the caller's override of the platform's own provider; `fault`: why it cannot be sent. */
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

/** Names the allowed package, so that FCM rejects tokens of other packages. */
function forPackage(part: AndroidPart, { restrictedPackage }: FcmCredential): AndroidPart {
  if (restrictedPackage === undefined) return part;
  return { ...part, android: { ...part.android, restricted_package_name: restrictedPackage } };
}

/** Returns how many bytes FCM counts for a message, and the maximum it accepts. */
export function measureFcmMessage(message: AndroidMessage): { bytes: number; most: number } {
  const part = makeAndroidPart(message);
  const overridden = overrideAndroidPart(part, message);
  return measure('fault' in overridden ? part : overridden);
}

/** Measures the part that is sent: a mode that sends a text only once allows longer texts. */
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

/** The members that a caller's patch may have left. */
type OverriddenPart = Pick<AndroidPart, 'data'> & { android?: Partial<AndroidPart['android']> };

/** Returns the part with the caller's override, or why FCM would reject it. Without an override, returns it unchanged. */
function overrideAndroidPart(
  part: AndroidPart,
  { content, payload }: AndroidMessage,
): OverriddenPart | { fault: string } {
  const patch = content.overrides?.fcm;
  if (patch === undefined) return part;
  const merged = mergePatch(part, patch) as Record<string, unknown>;
  const { data = {}, android = {} } = merged;
  if (!isObject(android)) return { fault: 'android must be an object' };
  if (!isObject(android.notification ?? {})) return { fault: 'android.notification must be an object' };
  if (!isObject(data)) return { fault: 'data must be an object' };
  const wrong = Object.keys(data).find((name) => typeof data[name] !== 'string');
  if (wrong !== undefined) return { fault: `data.${wrong} must be a text` };
  // The prefix may have changed since the message was accepted.
  const own = Object.keys(patch.data ?? {}).find((name) => isOwnKey(name, [payload.dataPrefix]));
  if (own !== undefined) return { fault: `data.${own} cannot be set` };
  return merged as OverriddenPart;
}

/** FCM's `apns`: the request to Apple, which Firebase forwards with the key of its project. */
type ApnsPart = { headers: Record<string, string>; payload: object; fcm_options?: { image: string } };

/** Returns FCM's `apns`. The app reads the same as from a message sent directly to APNs. Pure. */
function makeApnsPart(message: IosMessage, now: Date): { apns: ApnsPart } | { fault: string } {
  const request = makeIosRequest(message, now);
  if ('fault' in request) return request;
  const { headers, changed, payload } = request;
  if ('apns-topic' in changed) return { fault: 'apns-topic is Firebase’s to name' };
  const image = message.content.richContent.find(({ type }) => type === 'image' || type === 'gif')?.value;
  return {
    apns: {
      headers: overrideHeaders(changed, headers),
      payload,
      // For apps that leave the image to the SDK's own service extension.
      ...(image === undefined || message.isSilent ? {} : { fcm_options: { image } }),
    },
  };
}

/** FCM's `webpush`. */
type WebPushPart = { headers: Record<string, string>; data: Record<string, string> };

/** Header names as Firebase writes them. */
const headerNames: Record<string, string> = { ttl: 'TTL', urgency: 'Urgency', topic: 'Topic' };

/**
 * Returns our whole payload, for the site's worker. With a `notification`, Firebase's own worker would show it too, without our
 * buttons, and not at all while the page is visible (https://github.com/firebase/firebase-js-sdk/issues/8010). Pure.
 */
function makeWebPushPart(message: BrowserMessage): { webpush: WebPushPart } | { fault: string } {
  const { headers: changed = {} } = message.content.overrides?.webpush ?? {};
  const fault = findHeaderFault('webpush', changed);
  const payload = fault === undefined ? writeWorkerPayload(message) : undefined;
  if (payload === undefined) return { fault: fault ?? 'the title must be a text' };
  const { ttlSeconds, urgency, identity } = message;
  const headers = overrideHeaders(changed, { ttl: String(ttlSeconds), urgency, topic: identity.collapseId });
  const named = Object.entries(headers).map(([name, value]) => [headerNames[name] ?? name, value]);
  return { webpush: { headers: Object.fromEntries(named), data: { carillon: payload } } };
}
