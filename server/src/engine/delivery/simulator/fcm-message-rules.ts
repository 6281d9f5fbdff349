import type { FcmViolation } from './fcm-violation.ts';
import { findApnsViolation } from './fcm-apns-rules.ts';
import type { FcmApns } from './fcm-apns-rules.ts';
import { findWebPushViolation } from './fcm-webpush-rules.ts';
import type { FcmWebPush } from './fcm-webpush-rules.ts';

/** A message of FCM HTTP v1. */
export type FcmMessage = {
  token?: unknown;
  fid?: unknown;
  data?: Record<string, unknown>;
  fcm_options?: unknown;
  apns?: FcmApns;
  webpush?: FcmWebPush;
  android?: Record<string, unknown> & { notification?: Record<string, unknown>; ttl?: unknown; priority?: unknown };
};

const maxPayloadBytes = 4096;
const maxTtlSeconds = 2_419_200;

const messageFields = new Set([
  ...['token', 'fid', 'data', 'notification', 'android', 'apns', 'webpush', 'fcm_options', 'name'],
]);
const androidFields = new Set([
  'collapse_key',
  'priority',
  'ttl',
  'restricted_package_name',
  'data',
  'notification',
  'fcm_options',
  'direct_boot_ok',
  'bandwidth_constrained_ok',
  'restricted_satellite_ok',
]);

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string';
const isFlag: Check = (value) => typeof value === 'boolean';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isWord =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string);

/** Members of `android.notification` under their names on the wire, and what Google's parser takes in each. */
const notificationFields: Record<string, Check> = {
  title: isText,
  body: isText,
  icon: isText,
  color: (value) => isText(value) && /^#[0-9a-fA-F]{6}$/.test(value as string),
  sound: isText,
  tag: isText,
  image: isText,
  click_action: isText,
  title_loc_key: isText,
  title_loc_args: isTexts,
  body_loc_key: isText,
  body_loc_args: isTexts,
  channel_id: isText,
  ticker: isText,
  sticky: isFlag,
  event_time: isText,
  local_only: isFlag,
  notification_priority: isWord('PRIORITY_MIN', 'PRIORITY_LOW', 'PRIORITY_DEFAULT', 'PRIORITY_HIGH', 'PRIORITY_MAX'),
  default_sound: isFlag,
  default_vibrate_timings: isFlag,
  vibrate_timings: (value) =>
    isTexts(value) && (value as string[]).every((timing) => /^\d+(\.\d{1,9})?s$/.test(timing)),
  default_light_settings: isFlag,
  light_settings: (value) => value !== null && typeof value === 'object',
  visibility: isWord('PRIVATE', 'PUBLIC', 'SECRET'),
  notification_count: (value) => Number.isInteger(value) && (value as number) >= 0,
  proxy: isWord('ALLOW', 'DENY', 'IF_PRIORITY_LOWERED'),
};

/** The first thing for which Google refuses a message, in its own words. */
export function findFcmViolation(message: FcmMessage | undefined): FcmViolation | undefined {
  if (!message || typeof message !== 'object') return { field: 'message', description: 'Message is required.' };
  const { data = {}, android = {} } = message;
  return (
    findUnknown('message', { given: message, known: messageFields }) ??
    findUnknown('message.android', { given: android, known: androidFields }) ??
    findUnknown('message.android.notification', {
      given: android.notification ?? {},
      known: new Set(Object.keys(notificationFields)),
    }) ??
    checkLabel('message.android.fcm_options', android.fcm_options) ??
    checkLabel('message.fcm_options', message.fcm_options) ??
    checkAddress(message) ??
    checkData(data) ??
    checkAndroid(android) ??
    (message.apns && findApnsViolation(message.apns)) ??
    (message.webpush && findWebPushViolation(message.webpush)) ??
    (payloadBytes(data) + payloadBytes(android.notification ?? {}) > maxPayloadBytes
      ? { field: 'message', description: 'Android message is too big.' }
      : undefined)
  );
}

function findUnknown(path: string, { given, known }: { given: object; known: Set<string> }): FcmViolation | undefined {
  const name = Object.keys(given).find((field) => !known.has(field));
  return name === undefined ? undefined : { field: `${path}.${name}`, description: `Unknown name "${name}".` };
}

/** `fcm_options` holds a label of Google's own reports and nothing else. */
function checkLabel(path: string, options: unknown = {}): FcmViolation | undefined {
  const unknown = findUnknown(path, { given: options as object, known: new Set(['analytics_label']) });
  if (unknown) return unknown;
  const { analytics_label: label = 'none' } = options as { analytics_label?: unknown };
  if (typeof label === 'string' && /^[a-zA-Z0-9-_.~%]{1,50}$/.test(label)) return undefined;
  return { field: `${path}.analytics_label`, description: 'Invalid analytics label.' };
}

/** Exactly one of them. */
function checkAddress({ token, fid }: FcmMessage): FcmViolation | undefined {
  if (fid === undefined) return checkToken(token);
  if (token !== undefined)
    return { field: 'message', description: "oneof field 'target' is already set. Cannot set 'fid'." };
  if (typeof fid === 'string' && /^[A-Za-z0-9_-]{22}$/.test(fid)) return undefined;
  return { field: 'message.fid', description: 'The Firebase installation id is not valid.' };
}

function checkToken(token: unknown): FcmViolation | undefined {
  return typeof token === 'string' && token.length >= 10
    ? undefined
    : {
        field: 'message.token',
        description: 'The registration token is not a valid FCM registration token.',
      };
}

function checkData(data: Record<string, unknown>): FcmViolation | undefined {
  const reserved = Object.keys(data).find(
    (name) => name === 'from' || name === 'message_type' || /^(google|gcm)\./.test(name),
  );
  if (reserved !== undefined) return { field: 'message.data', description: `Invalid data payload key: ${reserved}` };
  return Object.values(data).every(isText)
    ? undefined
    : { field: 'message.data', description: 'Data values must be strings.' };
}

function checkAndroid({ notification = {}, ...android }: NonNullable<FcmMessage['android']>): FcmViolation | undefined {
  const seconds = typeof android.ttl === 'string' ? /^(\d+)(\.\d+)?s$/.exec(android.ttl)?.[1] : undefined;
  if (android.ttl !== undefined && (seconds === undefined || Number(seconds) > maxTtlSeconds))
    return { field: 'message.android.ttl', description: 'Invalid ttl.' };
  if (android.priority !== undefined && !['HIGH', 'NORMAL', 'high', 'normal'].includes(String(android.priority)))
    return { field: 'message.android.priority', description: 'Invalid priority.' };
  for (const name of ['direct_boot_ok', 'bandwidth_constrained_ok', 'restricted_satellite_ok'])
    if (android[name] !== undefined && !isFlag(android[name]))
      return { field: `message.android.${name}`, description: `Invalid value at '${name}'.` };
  for (const name of ['collapse_key', 'restricted_package_name'])
    if (android[name] !== undefined && !isText(android[name]))
      return { field: `message.android.${name}`, description: `Invalid value at '${name}'.` };
  const wrong = Object.entries(notification).find(([name, value]) => !notificationFields[name]!(value))?.[0];
  if (wrong !== undefined)
    return { field: `message.android.notification.${wrong}`, description: `Invalid value at '${wrong}'.` };
  for (const part of ['title', 'body'])
    if (notification[`${part}_loc_args`] !== undefined && notification[`${part}_loc_key`] === undefined)
      return {
        field: `message.android.notification.${part}_loc_args`,
        description: `${part}_loc_key is required with ${part}_loc_args.`,
      };
  return undefined;
}

function payloadBytes(members: Record<string, unknown>): number {
  return Object.entries(members).reduce(
    (sum, [name, value]) =>
      sum + Buffer.byteLength(name) + Buffer.byteLength(typeof value === 'string' ? value : JSON.stringify(value)),
    0,
  );
}
