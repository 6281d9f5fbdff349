import { maxOverrideBytes, maxOverrideDepth } from '../limits/push.ts';
import { anything, part, record } from '../../fields/combinators.ts';
import { isObject } from '../../fields/request-reader.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { isStorableText, unstorable } from '../storable-text.ts';
import type {
  JsonObject,
  OverriddenProvider,
  ProviderOverrides,
  RequestPatch,
  CampaignContent,
  Platform,
} from './content.ts';

const anyPatch = (description: string) => record(anything, description);
const requestPatch = part({ headers: anyPatch('null removes it'), payload: anyPatch('RFC 7386') });

/** `providerOverrides`, next to the platforms. */
export const providerOverrides = part(
  {
    fcm: anyPatch('For messages to FCM'),
    hms: anyPatch('For messages to Huawei Push Kit'),
    adm: anyPatch('For messages to Amazon Device Messaging'),
    apns: requestPatch,
    webpush: requestPatch,
  },
  { description: 'Changes to the finished requests, as merge patches' },
);

export type ReadOverrides = {
  overrides: ProviderOverrides;
  /** The providers with a text that differs between users. */
  readsUser: ReadonlySet<OverriddenProvider>;
};

const denied = 'cannot be set here';
const addressOfFcm = ['token', 'fid', 'topic', 'condition', 'name'];
const addressOfHms = ['token', 'topic', 'condition', 'validate_only'];
const reportsOfBrowsers = ['report_token', 'message_id', 'click_proof', 'web_push'];

/**
 * Reads `providerOverrides`. Keeps the objects as they were sent, because a null in them removes a member. An override must
 * not change the address, the sender or the report keys of a message. `prefixes`: the prefixes of our own keys.
 */
export function readProviderOverrides(payload: RequestReader, prefixes: readonly string[]): ReadOverrides {
  const overrides: ProviderOverrides = {};
  const readsUser = new Set<OverriddenProvider>();
  const part = payload.findPart('providerOverrides');
  for (const name of ['fcm', 'hms', 'adm', 'apns', 'webpush'] as const) {
    if (part === undefined || !Object.hasOwn(part.members, name)) continue;
    const given = part.members[name];
    if (!isObject(given)) part.invalid(name, 'must be an object');
    else if (Object.keys(given).length > 0 && checkJson(part, { name, given, readsUser }))
      readOne(overrides, { name, reading: { part, name, prefixes }, given });
  }
  return { overrides, readsUser };
}

type Given = { name: OverriddenProvider; given: Record<string, unknown>; readsUser: Set<OverriddenProvider> };

/** Checks size, depth and texts. @returns whether the object can be checked further */
function checkJson(part: RequestReader, { name, given, readsUser }: Given): boolean {
  const { templates } = part.rules;
  const before = part.faults.length;
  if (Buffer.byteLength(JSON.stringify(given)) > maxOverrideBytes)
    part.invalid(name, `must have at most ${maxOverrideBytes} bytes as JSON`);
  const walk = (value: unknown, path: string, depth: number): void => {
    if (typeof value === 'string') {
      const fault = isStorableText(value) ? templates.fault(value) : unstorable;
      if (fault !== undefined) part.invalid(path, fault);
      else if (templates.isTemplate(value)) readsUser.add(name);
      return;
    }
    if (value === null || typeof value !== 'object') return;
    if (depth > maxOverrideDepth) return part.invalid(path, `must be within ${maxOverrideDepth} objects and lists`);
    for (const [member, item] of Object.entries(value)) {
      if (!isStorableText(member)) return part.invalid(path, unstorable);
      walk(item, Array.isArray(value) ? `${path}[${member}]` : `${path}.${member}`, depth + 1);
    }
  };
  walk(given, name, 1);
  return part.faults.length === before;
}

type Reading<Name> = { part: RequestReader; name: Name; prefixes: readonly string[] };
type One = { name: OverriddenProvider; reading: Reading<OverriddenProvider>; given: Record<string, unknown> };

function readOne(overrides: ProviderOverrides, { name, reading, given }: One): void {
  if (name === 'fcm' || name === 'hms' || name === 'adm') {
    if (name === 'fcm') checkFcm(reading, given);
    else if (name === 'hms') checkHms(reading, given);
    else checkAdm(reading, given);
    overrides[name] = given as JsonObject;
    return;
  }
  for (const member of Object.keys(given))
    if (member !== 'headers' && member !== 'payload') reading.part.invalid(`${name}.${member}`, denied);
  const patch = { ...readHeaders({ ...reading, name }, given.headers), ...readPayload(reading, given.payload) };
  if (name === 'apns') checkApns(reading, patch.payload);
  else checkWebPush(reading, patch.payload);
  overrides[name] = patch;
}

function checkHms({ part }: Reading<OverriddenProvider>, given: Record<string, unknown>): void {
  for (const name of addressOfHms) if (Object.hasOwn(given, name)) part.invalid(`hms.${name}`, denied);
}

/** The consolidation key lets a repeat after a crash replace the first message, and a wrong md5 would be refused by Amazon. */
function checkAdm({ part, prefixes }: Reading<OverriddenProvider>, given: Record<string, unknown>): void {
  for (const name of ['consolidationKey', 'md5']) if (Object.hasOwn(given, name)) part.invalid(`adm.${name}`, denied);
  checkData({ part, name: 'adm', prefixes }, given.data);
}

function checkFcm({ part, prefixes }: Reading<OverriddenProvider>, given: Record<string, unknown>): void {
  const { data, android } = given;
  for (const name of addressOfFcm) if (Object.hasOwn(given, name)) part.invalid(`fcm.${name}`, denied);
  // FCM accepts only one of them.
  if (Object.hasOwn(given, 'android_v2') && android !== null) part.invalid('fcm.android_v2', denied);
  // It would replace all data.
  if (isObject(android) && Object.hasOwn(android, 'data')) part.invalid('fcm.android.data', denied);
  checkData({ part, name: 'fcm', prefixes }, data);
}

function checkData({ part, name: provider, prefixes }: Reading<OverriddenProvider>, data: unknown): void {
  if (data === undefined) return;
  if (!isObject(data)) return part.invalid(`${provider}.data`, 'must be an object');
  for (const name of Object.keys(data)) if (isOwnKey(name, prefixes)) part.invalid(`${provider}.data.${name}`, denied);
}

/** True for names by which an app recognises the sender and the kind of a message. */
export function isOwnKey(name: string, prefixes: readonly string[]): boolean {
  return name === 'push_from' || prefixes.some((prefix) => name.startsWith(`${prefix}_`));
}

function readHeaders(
  { part, name: provider }: Reading<'apns' | 'webpush'>,
  given: unknown,
): Pick<RequestPatch, 'headers'> {
  if (given === undefined) return {};
  if (!isObject(given)) {
    part.invalid(`${provider}.headers`, 'must be an object');
    return {};
  }
  const headers = new Map<string, string | null>();
  for (const [sent, value] of Object.entries(given)) {
    const [name, path] = [sent.toLowerCase(), `${provider}.headers.${sent}`];
    const isTopic = name === 'apns-topic';
    if (!Object.hasOwn(overrideHeaders[provider], name) || (isTopic && value === null)) part.invalid(path, denied);
    else if (headers.has(name)) part.invalid(path, 'is given twice');
    else if (value !== null && typeof value !== 'string') part.invalid(path, 'must be a text');
    else if (value !== null && (isTopic || !part.rules.templates.isTemplate(value))) {
      const fault = headerFault(provider, { name, value });
      if (fault !== undefined) part.invalid(path, fault);
    }
    headers.set(name, value as string | null);
  }
  return { headers: Object.fromEntries(headers) };
}

function readPayload({ part, name }: Reading<OverriddenProvider>, given: unknown): Pick<RequestPatch, 'payload'> {
  if (given === undefined) return {};
  if (isObject(given)) return { payload: given as JsonObject };
  part.invalid(`${name}.payload`, 'must be an object');
  return {};
}

function checkApns({ part, prefixes }: Reading<OverriddenProvider>, payload: JsonObject = {}): void {
  for (const name of Object.keys(payload)) if (prefixes.includes(name)) part.invalid(`apns.payload.${name}`, denied);
  if (Object.hasOwn(payload, 'aps') && !isObject(payload.aps)) part.invalid('apns.payload.aps', 'must be an object');
}

/** Requires a title, because a browser revokes the permission if a push shows nothing. */
function checkWebPush({ part }: Reading<OverriddenProvider>, payload: JsonObject = {}): void {
  for (const name of reportsOfBrowsers)
    if (Object.hasOwn(payload, name)) part.invalid(`webpush.payload.${name}`, denied);
  const { notification } = payload;
  checkTitle(part, { holder: payload, path: 'webpush.payload.title' });
  if (isObject(notification)) checkTitle(part, { holder: notification, path: 'webpush.payload.notification.title' });
}

function checkTitle(part: RequestReader, { holder, path }: { holder: Record<string, unknown>; path: string }): void {
  const { title } = holder;
  if (title !== undefined && (typeof title !== 'string' || title.trim() === ''))
    part.invalid(path, 'must be a text that is not empty');
}

/** The accepted values of a header in an override, and the reason why another value is rejected. */
type Rule = { pattern: RegExp; reason: string };

/** Kinds of message that Apple delivers under a separate topic: the app's topic with this suffix. */
export const topicSuffixes = [
  '.push-type.liveactivity',
  '.voip',
  '.location-query',
  '.complication',
  '.pushkit.fileprovider',
  '.voip-ptt',
  '.push-type.widgets',
  '.push-type.controls',
] as const;

const word = (...words: string[]): Rule => ({
  pattern: new RegExp(`^(${words.map((text) => text.replaceAll('.', String.raw`\.`)).join('|')})$`),
  reason: `must be one of ${words.join(', ')}`,
});
const seconds: Rule = { pattern: /^\d{1,10}$/, reason: 'must be a number of seconds' };

const overrideHeaders: Record<'apns' | 'webpush', Record<string, Rule>> = {
  apns: {
    'apns-push-type': { pattern: /^[a-z]{1,32}$/, reason: 'must be a word in lower case' },
    'apns-priority': word('1', '5', '10'),
    'apns-expiration': seconds,
    'apns-collapse-id': { pattern: /^[ -~]{1,64}$/, reason: 'must have 1 to 64 ASCII characters' },
    'apns-topic': word(...topicSuffixes),
  },
  webpush: {
    // RFC 8030 §5.2 to 5.4.
    urgency: word('very-low', 'low', 'normal', 'high'),
    ttl: seconds,
    topic: { pattern: /^[A-Za-z0-9_-]{1,32}$/, reason: 'must have 1 to 32 characters of base64url' },
  },
};

/** Returns what is wrong with the value of a header that an override may set. */
export function headerFault(provider: 'apns' | 'webpush', header: { name: string; value: string }): string | undefined {
  const rule = overrideHeaders[provider][header.name]!;
  return rule.pattern.test(header.value) ? undefined : rule.reason;
}

/** The providers that carry the messages of a platform. */
export const carriers: Record<Platform, readonly OverriddenProvider[]> = {
  ANDROID: ['fcm', 'hms', 'adm'],
  IOS: ['apns'],
  WEB: ['webpush'],
};

/**
 * Gives each platform's content the overrides of its providers. A fallback is for users with too little known data, so it
 * gets only the overrides that read no user data.
 */
export function spreadOverrides(
  content: CampaignContent,
  { overrides, readsUser }: { overrides: ProviderOverrides; readsUser: ReadonlySet<OverriddenProvider> },
): void {
  for (const platform of Object.keys(content) as Platform[]) {
    for (const provider of carriers[platform]) {
      const override = overrides[provider];
      const own = content[platform];
      if (override === undefined || own === undefined) continue;
      own.overrides = { ...own.overrides, [provider]: override };
      if (own.fallback && !readsUser.has(provider))
        own.fallback.overrides = { ...own.fallback.overrides, [provider]: override };
    }
  }
}

/** Collects into one object what `spreadOverrides` spread over the platforms. */
export function collectOverrides(content: CampaignContent): ProviderOverrides | undefined {
  const found = Object.assign({}, ...Object.values(content).map(({ overrides }) => overrides)) as ProviderOverrides;
  return Object.keys(found).length === 0 ? undefined : found;
}

/** Returns the target with the patch applied: null removes, objects are merged, any other value replaces (RFC 7386 §2). */
export function mergePatch(target: unknown, patch: unknown): unknown {
  if (!isObject(patch)) return patch;
  // A map, because a member may be called __proto__.
  const merged = new Map(isObject(target) ? Object.entries(target) : []);
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) merged.delete(name);
    else merged.set(name, mergePatch(merged.get(name), value));
  }
  return Object.fromEntries(merged);
}
