import type { AndroidContent, DefaultAction, AndroidOptions, LocKeys } from '../../domain/content/content.ts';
import { mergePatch } from '../../domain/content/overrides.ts';
import type { HmsCredential } from '../../domain/credentials/credentials.ts';
import { isObject } from '../../domain/request-reader.ts';
import { makeAndroidPart } from '../payload/android.ts';
import type { AndroidMessage } from '../payload/android.ts';
import type { Outcome, Plan, PlanInput } from '../provider.ts';

// Of the body without the tokens.
export const maxBodyBytes = 4096;

/** The request for one phone: Huawei's answer for several does not say which of them are meant. Pure. */
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

/** What Huawei Push Kit carries of a message beside the address. */
type HmsPart = { data?: string; android: Record<string, unknown> };

// Fifteen days; what lives longer elsewhere lives as long here.
const maxTtlSeconds = 1_296_000;
/** Every message is kept for a phone that is away. A repeat after a crash replaces the first by its tag. */
const keepAll = -1;

/**
 * The same for an app of Huawei's: data are one JSON text under the names that the app reads from FCM too. Where neither a
 * content nor the app chooses, the system shows it: data for an app that is not running are not delivered in China (spec of phones, 6).
 * Pure.
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
      // Under this Huawei's own reports tell campaigns apart.
      bi_tag: message.campaignId,
      ttl: `${Math.min(message.ttlSeconds, maxTtlSeconds)}s`,
      ...(message.isSilent || mode === 'data' ? {} : { notification: makeHmsNotification(message) }),
    },
  };
}

type Members = Record<string, unknown>;

/** What the system of a Huawei phone shows: `android.notification` of its Push Kit. It has no buttons. */
function makeHmsNotification({ content, identity }: AndroidMessage): Members {
  const { options = {} } = content;
  const [image, sound] = [richValue(content, 'image'), richValue(content, 'sound')];
  return {
    title: content.title,
    body: content.message,
    // A repeat after a crash has the same tag and replaces the first on the screen.
    tag: identity.collapseId,
    click_action: makeClickAction(content.defaultAction),
    // One of the two is required.
    ...(sound === undefined ? { default_sound: true } : { sound }),
    // Huawei refuses the whole message for another address.
    ...(image?.startsWith('https:') ? { image } : {}),
    ...(content.summary === undefined ? {} : { notify_summary: content.summary }),
    ...(content.channelId === undefined ? {} : { channel_id: content.channelId }),
    ...(content.groupKey === undefined ? {} : { group: content.groupKey }),
    ...makeLook(options),
    ...makeLocKeys(options.locKeys),
  };
}

const clickKinds = { intent: 1, url: 2, openApp: 3 } as const;

/** A tap opens a page, a link that the app has registered, or the app. A screen is known to the app alone. */
function makeClickAction(action: DefaultAction | undefined): Members {
  if (action?.type === 'richlanding' && action.value.startsWith('https:'))
    return { type: clickKinds.url, url: action.value };
  if (action?.type === 'deeplinking' && URL.canParse(action.value))
    return { type: clickKinds.intent, intent: makeIntent(action.value) };
  return { type: clickKinds.openApp };
}

/** The address as Android writes an intent (Intent.URI_INTENT_SCHEME): what is behind the scheme, and the scheme by itself. */
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

/** The part with the caller's override, or why Huawei would not take it. A message without an override is left as it is. */
function overrideHmsPart(part: HmsPart, { content }: AndroidMessage): object | { fault: string } {
  const patch = content.overrides?.hms;
  if (patch === undefined) return part;
  const merged = mergePatch(part, patch) as Record<string, unknown>;
  const { data = '', android = {} } = merged;
  if (typeof data !== 'string') return { fault: 'data is no text' };
  if (!isObject(android)) return { fault: 'android is no object' };
  return isObject(android.notification ?? {}) ? merged : { fault: 'android.notification is no object' };
}
