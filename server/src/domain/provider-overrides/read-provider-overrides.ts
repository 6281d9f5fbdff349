import { isObject } from '../request-reader/request-reader.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { isStorableText, unstorable } from '../storable-text.ts';
import { isTemplate, templateFault } from '../template/template-mode.ts';
import { maxOverrideBytes, maxOverrideDepth } from '../content-options/limits.ts';
import type { JsonObject, OverriddenProvider, ProviderOverrides, RequestPatch } from './provider-overrides.ts';
import { headerFault, overrideHeaders } from './request-headers.ts';

export type ReadOverrides = {
  overrides: ProviderOverrides;
  /** Those with a text that differs from user to user. */
  readsUser: ReadonlySet<OverriddenProvider>;
};

const denied = 'cannot be set here';
const addressOfFcm = ['token', 'fid', 'topic', 'condition', 'name'];
const addressOfHms = ['token', 'topic', 'condition', 'validate_only'];
const reportsOfBrowsers = ['report_token', 'message_id', 'click_proof', 'web_push'];

/**
 * `providerOverrides`: objects as they were sent, for null in them takes a member away. What they may not touch is where a
 * message goes, who sends it, and what devices report with. `prefixes`: those of our own keys.
 */
export function readProviderOverrides(payload: RequestReader, prefixes: readonly string[]): ReadOverrides {
  const overrides: ProviderOverrides = {};
  const readsUser = new Set<OverriddenProvider>();
  const part = payload.findPart('providerOverrides');
  for (const name of ['fcm', 'hms', 'apns', 'webpush'] as const) {
    if (part === undefined || !Object.hasOwn(part.members, name)) continue;
    const given = part.members[name];
    if (!isObject(given)) part.invalid(name, 'must be an object');
    else if (Object.keys(given).length > 0 && checkJson(part, { name, given, readsUser }))
      readOne(overrides, { name, reading: { part, name, prefixes }, given });
  }
  return { overrides, readsUser };
}

type Given = { name: OverriddenProvider; given: Record<string, unknown>; readsUser: Set<OverriddenProvider> };

/** Size, depth and texts. @returns whether the object can be looked at further */
function checkJson(part: RequestReader, { name, given, readsUser }: Given): boolean {
  const { templates } = part.rules;
  const before = part.faults.length;
  if (Buffer.byteLength(JSON.stringify(given)) > maxOverrideBytes)
    part.invalid(name, `must have at most ${maxOverrideBytes} bytes as JSON`);
  const walk = (value: unknown, path: string, depth: number): void => {
    if (typeof value === 'string') {
      const fault = isStorableText(value) ? templateFault(value, templates) : unstorable;
      if (fault !== undefined) part.invalid(path, fault);
      else if (isTemplate(value, templates.mode)) readsUser.add(name);
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
  if (name === 'fcm' || name === 'hms') {
    if (name === 'fcm') checkFcm(reading, given);
    else checkHms(reading, given);
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

function checkFcm({ part, prefixes }: Reading<OverriddenProvider>, given: Record<string, unknown>): void {
  const { data, android } = given;
  for (const name of addressOfFcm) if (Object.hasOwn(given, name)) part.invalid(`fcm.${name}`, denied);
  // FCM takes one of them.
  if (Object.hasOwn(given, 'android_v2') && android !== null) part.invalid('fcm.android_v2', denied);
  // It would stand in the place of all data.
  if (isObject(android) && Object.hasOwn(android, 'data')) part.invalid('fcm.android.data', denied);
  if (data === undefined) return;
  if (!isObject(data)) return part.invalid('fcm.data', 'must be an object');
  for (const name of Object.keys(data)) if (isOwnKey(name, prefixes)) part.invalid(`fcm.data.${name}`, denied);
}

/** Names that tell an app who sent a message and what it is. */
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
    else if (value !== null && (isTopic || !isTemplate(value, part.rules.templates.mode))) {
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

/** A browser that shows nothing for a push takes the permission away. */
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
