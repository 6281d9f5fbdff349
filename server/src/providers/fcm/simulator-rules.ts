import { findBrowserFault } from '../simulator/browser.ts';
import { checkApnsContent } from '../simulator/iphone.ts';
import type { ApnsPayload } from '../simulator/iphone.ts';
import type { SimulatedAnswer } from '../simulator/simulator.ts';

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

/** Members of `android.notification` under their names on the wire, and the values that Google's parser accepts. */
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

/** Returns the first violation for which Google rejects a message, in Google's words. */
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

/** Checks `fcm_options`, which holds only a label for Google's own reports. */
function checkLabel(path: string, options: unknown = {}): FcmViolation | undefined {
  const unknown = findUnknown(path, { given: options as object, known: new Set(['analytics_label']) });
  if (unknown) return unknown;
  const { analytics_label: label = 'none' } = options as { analytics_label?: unknown };
  if (typeof label === 'string' && /^[a-zA-Z0-9-_.~%]{1,50}$/.test(label)) return undefined;
  return { field: `${path}.analytics_label`, description: 'Invalid analytics label.' };
}

/** Requires exactly one of token and fid. */
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

/** `message.apns` of FCM HTTP v1. */
export type FcmApns = {
  headers?: Record<string, string>;
  payload?: ApnsPayload;
  fcm_options?: Record<string, unknown>;
  live_activity_token?: unknown;
};

const maxApnsPayloadBytes = 4096;
const apnsMembers = new Set(['headers', 'payload', 'fcm_options', 'live_activity_token']);
/** The topic is not among them: it follows from the app of the token. */
const headerNames = new Set(['apns-push-type', 'apns-priority', 'apns-expiration', 'apns-collapse-id', 'apns-id']);

/** Returns the first violation for which Google, or Apple behind it, rejects a message. */
function findApnsViolation(apns: FcmApns): FcmViolation | undefined {
  const at = (field: string, description: string): FcmViolation => ({ field: `message.apns${field}`, description });
  const { headers = {}, payload, fcm_options: options = {}, live_activity_token: activity } = apns;
  const unknown = Object.keys(apns).find((name) => !apnsMembers.has(name));
  if (unknown !== undefined) return at(`.${unknown}`, `Unknown name "${unknown}".`);
  for (const [name, value] of Object.entries(headers)) {
    if (!headerNames.has(name)) return at('.headers', `Header ${name} is not taken.`);
    if (typeof value !== 'string') return at('.headers', `Invalid value at '${name}'.`);
  }
  if (!['undefined', 'string'].includes(typeof activity)) return at('.live_activity_token', 'Invalid value.');
  const [option] = Object.entries(options).find(([name, value]) => !isOption(name, value)) ?? [];
  if (option !== undefined) return at(`.fcm_options.${option}`, `Invalid value at '${option}'.`);
  if (payload === undefined) return undefined;
  if (payload.aps === null || typeof payload.aps !== 'object') return at('.payload.aps', 'aps is required.');
  if (Buffer.byteLength(JSON.stringify(payload)) > maxApnsPayloadBytes)
    return at('.payload', 'APNs payload is too big.');
  const reason = checkApnsContent(payload.aps, headers);
  return reason === undefined ? undefined : at('.payload', reason);
}

function isOption(name: string, value: unknown): boolean {
  if (typeof value !== 'string') return false;
  return name === 'image' ? URL.canParse(value) : name === 'analytics_label' && /^[a-zA-Z0-9-_.~%]{1,50}$/.test(value);
}

/** `message.webpush` of FCM HTTP v1. */
export type FcmWebPush = {
  headers?: Record<string, unknown>;
  data?: Record<string, unknown>;
  notification?: unknown;
  fcm_options?: Record<string, unknown>;
};

const maxWebPushPayloadBytes = 4096;
const webPushMembers = new Set(['headers', 'data', 'notification', 'fcm_options']);
const headers: Record<string, RegExp> = {
  TTL: /^\d+$/,
  Urgency: /^(very-low|low|normal|high)$/,
  Topic: /^[A-Za-z0-9_-]{1,32}$/,
};

/** Returns the first violation for which Google, or a push service behind it, rejects a message. */
function findWebPushViolation(webpush: FcmWebPush): FcmViolation | undefined {
  const at = (field: string, description: string): FcmViolation => ({ field: `message.webpush${field}`, description });
  const unknown = Object.keys(webpush).find((name) => !webPushMembers.has(name));
  if (unknown !== undefined) return at(`.${unknown}`, `Unknown name "${unknown}".`);
  for (const [name, value] of Object.entries(webpush.headers ?? {}))
    if (typeof value !== 'string' || headers[name]?.test(value) !== true)
      return at('.headers', `Invalid value at '${name}'.`);
  const data = Object.entries(webpush.data ?? {});
  if (!data.every(([, value]) => typeof value === 'string')) return at('.data', 'Data values must be strings.');
  const bytes = data.reduce(
    (sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(String(value)),
    0,
  );
  if (bytes > maxWebPushPayloadBytes) return at('.data', 'Web Push message is too big.');
  const { link } = webpush.fcm_options ?? {};
  if (link !== undefined && !(typeof link === 'string' && link.startsWith('https://')))
    return at('.fcm_options.link', 'Only HTTPS is supported.');
  const fault = webpush.data?.carillon === undefined ? undefined : findPayloadFault(webpush.data.carillon);
  return fault === undefined ? undefined : at('.data', fault);
}

/** Returns the payload for the site's worker. Google cannot see its faults; the simulator reports them to the developer. */
export function readBrowserPayload({ data }: FcmWebPush): Record<string, unknown> {
  try {
    return JSON.parse(String(data?.carillon)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function findPayloadFault(text: unknown): string | undefined {
  const payload = readBrowserPayload({ data: { carillon: text } });
  return Object.keys(payload).length === 0 ? 'the worker cannot read this payload' : findBrowserFault(payload);
}

/** Why Google rejects a message: the member, and Google's words. */
type FcmViolation = { field: string; description: string };

/** Returns Google's error response. */
export function googleError(
  ...[code, status, message, details]: [number, string, string, object[]?]
): Exclude<SimulatedAnswer, 'silence'> {
  return { status: code, body: { error: { code, message, status, ...(details ? { details } : {}) } } };
}

/** Returns the error detail with FCM's own code. */
export function fcmError(errorCode: string): object {
  return { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode };
}
