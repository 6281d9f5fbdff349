import type { AndroidContent, DefaultAction, AndroidOptions, LocKeys } from '../../domain/content/content.ts';
import { mergePatch } from '../../domain/content/overrides.ts';
import type { HmsCredential } from '../../domain/providers/hms.ts';
import { isObject } from '../../fields/request-reader.ts';
import { makeAndroidPart } from '../payload/android.ts';
import type { AndroidMessage } from '../payload/android.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

// Limit of the body without the tokens.
export const maxBodyBytes = 4096;

/** Plans the request for one phone: Huawei's response for several does not say which of them it is about. Pure. */
export function planHmsRequest(
  { message, device, credential }: PlanInput<HmsCredential>,
  origin: string,
): { plan: Plan } | { outcome: Outcome } {
  if (message.platform !== 'ANDROID') throw new Error(`Huawei Push Kit serves Android, not ${message.platform}`);
  const part = overrideHmsPart(makeHmsPart(message), message);
  if ('fault' in part) return { outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: part.fault } };
  const body = Buffer.from(JSON.stringify({ message: { ...part, token: [device.pushId] } }));
  const bytes = body.length - Buffer.byteLength(device.pushId);
  if (bytes > maxBodyBytes) {
    const detail = `${bytes} bytes without the token; Huawei Push Kit takes ${maxBodyBytes}`;
    return { outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail } };
  }
  const { kind, id } = credential.owner;
  return {
    plan: {
      origin,
      path: `/${kind === 'project' ? 'v2' : 'v1'}/${encodeURIComponent(id)}/messages:send`,
      headers: { 'content-type': 'application/json; charset=utf-8' },
      body,
    },
  };
}

/** The part of a message that Huawei Push Kit carries in addition to the address. */
type HmsPart = { data?: string; android: Record<string, unknown> };

// Fifteen days. Huawei keeps no message longer, so a longer lifetime is shortened.
const maxTtlSeconds = 1_296_000;
/** Huawei keeps every message for an offline phone. After a crash, a repeated message replaces the first one, because both have the same tag. */
const keepAll = -1;

/**
 * Returns the part of a message for an app on a Huawei phone. Data is one JSON text with the names that the app also reads from
 * FCM. If neither the content nor the app chooses a mode, the system shows the message: data for an app that is not running is
 * not delivered in China (spec of phones, 6). Pure.
 */
export function makeHmsPart(message: AndroidMessage): HmsPart {
  const mode = message.content.options?.deliveryMode ?? message.payload.appMode ?? 'notification';
  const { data } = makeAndroidPart({ ...message, payload: { ...message.payload, mode } });
  const service = `${message.payload.dataPrefix}_push_service`;
  const texts = data && service in data ? { ...data, [service]: 'hms' } : data;
  return {
    ...(texts === undefined ? {} : { data: JSON.stringify(texts) }),
    android: {
      collapse_key: keepAll,
      urgency: message.priority,
      // Huawei's own reports distinguish campaigns by this tag.
      ...(message.challenge ? {} : { bi_tag: message.campaignId }),
      ttl: `${Math.min(message.ttlSeconds, maxTtlSeconds)}s`,
      ...(message.isSilent || mode === 'data' ? {} : { notification: makeHmsNotification(message) }),
    },
  };
}

type Members = Record<string, unknown>;

/** Returns what the system of a Huawei phone shows: `android.notification` of Push Kit. It has no buttons. */
function makeHmsNotification({ content, identity }: AndroidMessage): Members {
  const { options = {} } = content;
  const [image, sound] = [richValue(content, 'image'), richValue(content, 'sound')];
  return {
    title: content.title,
    body: content.message,
    // A message that is repeated after a crash has the same tag, so it replaces the first one on the screen.
    tag: identity.collapseId,
    click_action: makeClickAction(content.defaultAction),
    // One of the two is required.
    ...(sound === undefined ? { default_sound: true } : { sound }),
    // Huawei rejects the whole message if this URL is not https.
    ...(image?.startsWith('https:') ? { image } : {}),
    ...(content.summary === undefined ? {} : { notify_summary: content.summary }),
    ...(content.channelId === undefined ? {} : { channel_id: content.channelId }),
    ...(content.groupKey === undefined ? {} : { group: content.groupKey }),
    ...makeLook(options),
    ...makeLocKeys(options.locKeys),
  };
}

const clickKinds = { intent: 1, url: 2, openApp: 3 } as const;

/** Returns what a tap opens: a page, a link that the app has registered, or the app. Only the app knows its screens. */
function makeClickAction(action: DefaultAction | undefined): Members {
  if (action?.type === 'richlanding' && action.value.startsWith('https:'))
    return { type: clickKinds.url, url: action.value };
  if (action?.type === 'deeplinking' && URL.canParse(action.value))
    return { type: clickKinds.intent, intent: makeIntent(action.value) };
  return { type: clickKinds.openApp };
}

/**
 * Returns an address as an Android intent (Intent.URI_INTENT_SCHEME): the part after the scheme, then the scheme separately.
 */
function makeIntent(address: string): string {
  const end = address.indexOf(':');
  return `intent:${address.slice(end + 1)}#Intent;scheme=${address.slice(0, end)};end`;
}

function makeLook({ visibility, color, icon, timeoutSeconds, badge }: AndroidOptions): Members {
  return {
    ...(icon === undefined ? {} : { icon }),
    ...(color === undefined ? {} : { color }),
    ...(visibility === undefined ? {} : { visibility: visibility.toUpperCase() }),
    ...(timeoutSeconds === undefined ? {} : { auto_clear: timeoutSeconds * 1000 }),
    ...(badge === undefined ? {} : { badge: { set_num: badge.operation === 'clear' ? 0 : Math.min(badge.value, 99) } }),
  };
}

function makeLocKeys(keys: LocKeys = {}): Members {
  return {
    ...(keys.titleLocKey === undefined ? {} : { title_loc_key: keys.titleLocKey }),
    ...(keys.titleLocArgs === undefined ? {} : { title_loc_args: keys.titleLocArgs }),
    ...(keys.bodyLocKey === undefined ? {} : { body_loc_key: keys.bodyLocKey }),
    ...(keys.bodyLocArgs === undefined ? {} : { body_loc_args: keys.bodyLocArgs }),
  };
}

function richValue(content: AndroidContent, wanted: 'image' | 'sound'): string | undefined {
  return content.richContent.find(({ type }) => type === wanted)?.value;
}

/** Returns the part with the caller's override, or why Huawei would reject it. Without an override, returns it unchanged. */
function overrideHmsPart(part: HmsPart, { content }: AndroidMessage): object | { fault: string } {
  const patch = content.overrides?.hms;
  if (patch === undefined) return part;
  const merged = mergePatch(part, patch) as Record<string, unknown>;
  const { data = '', android = {} } = merged;
  if (typeof data !== 'string') return { fault: 'data must be a text' };
  if (!isObject(android)) return { fault: 'android must be an object' };
  return isObject(android.notification ?? {}) ? merged : { fault: 'android.notification must be an object' };
}
