import { randomBytes } from 'node:crypto';
import type { SimulatedAnswer } from '../simulator/simulator.ts';

/** A message of Huawei Push Kit, with the members that a sender for its phones can write. */
export type HmsMessage = {
  token?: unknown;
  data?: unknown;
  android?: Record<string, unknown> & { notification?: Record<string, unknown> };
};

/** Huawei's code and its text. */
export type HmsViolation = { code: string; msg: string };

const maxBytes = 4096;
const maxTtlSeconds = 1_296_000;
const maxTokens = 1_000;

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string' && value !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const isObject: Check = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isWholeIn =
  (least: number, most: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
const isWord =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string);
const isSecure: Check = (value) => typeof value === 'string' && value.startsWith('https://') && URL.canParse(value);

const categories = [
  ...['IM', 'VOIP', 'SUBSCRIPTION', 'TRAVEL', 'HEALTH', 'WORK', 'ACCOUNT', 'EXPRESS', 'FINANCE', 'DEVICE_REMINDER'],
  ...['SYSTEM_REMINDER', 'MAIL', 'PLAY_VOICE', 'MARKETING'],
];

const messageMembers: Record<string, Check> = {
  token: isTexts,
  data: isText,
  notification: isObject,
  android: isObject,
};

const androidMembers: Record<string, Check> = {
  collapse_key: isWholeIn(-1, 100),
  urgency: isWord('HIGH', 'NORMAL'),
  category: isWord(...categories),
  ttl: (value) => typeof value === 'string' && /^\d+s$/.test(value) && Number(value.slice(0, -1)) <= maxTtlSeconds,
  bi_tag: isText,
  receipt_id: isText,
  fast_app_target: isWholeIn(1, 2),
  notification: isObject,
};

/** Members of the template for all phones; `android.notification` begins with them. */
const plainMembers: Record<string, Check> = { title: isText, body: isText, image: isSecure };

const notificationMembers: Record<string, Check> = {
  ...plainMembers,
  icon: isText,
  color: (value) => typeof value === 'string' && /^#[0-9a-fA-F]{6}$/.test(value),
  sound: isText,
  default_sound: isFlag,
  tag: isText,
  click_action: isObject,
  title_loc_key: isText,
  title_loc_args: isTexts,
  body_loc_key: isText,
  body_loc_args: isTexts,
  multi_lang_key: isObject,
  channel_id: isText,
  notify_summary: isText,
  style: isWholeIn(0, 3),
  big_title: isText,
  big_body: isText,
  auto_clear: isWholeIn(1, Number.MAX_SAFE_INTEGER),
  notify_id: isWholeIn(0, 2_147_483_647),
  group: isText,
  badge: isObject,
  importance: isWord('LOW', 'NORMAL', 'HIGH'),
  visibility: isWord('VISIBILITY_UNSPECIFIED', 'PRIVATE', 'PUBLIC', 'SECRET'),
  vibrate_config: isTexts,
  use_default_vibrate: isFlag,
  light_settings: isObject,
  use_default_light: isFlag,
  foreground_show: isFlag,
};

/** Returns the first violation for which Huawei rejects a message. `bytes`: size of the body without its tokens. */
export function findHmsViolation(message: HmsMessage | undefined, bytes: number): HmsViolation | undefined {
  if (!message || !isObject(message)) return wrong('message is required');
  const { token, data, android = {} } = message;
  const { notification } = android;
  const unusable =
    findWrong('message', { given: message, members: messageMembers }) ??
    findWrong('message.android', { given: android, members: androidMembers }) ??
    findWrong('message.android.notification', { given: notification ?? {}, members: notificationMembers });
  if (unusable) return unusable;
  if (!Array.isArray(token) || token.length === 0 || token.length > maxTokens)
    return { code: '80300010', msg: 'The number of tokens in the message body exceeds the default value.' };
  if (data === undefined && notification === undefined) return wrong('data or android.notification is required');
  if (bytes > maxBytes) return { code: '80300008', msg: 'The message body size exceeds the default value.' };
  return notification && checkNotification(notification);
}

function wrong(msg: string): HmsViolation {
  return { code: '80100003', msg };
}

type Given = { given: object; members: Record<string, Check> };

function findWrong(path: string, { given, members }: Given): HmsViolation | undefined {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(members, name)) return wrong(`${path}.${name} is not known`);
    if (members[name]!(value)) continue;
    const msg = `${path}.${name} is invalid`;
    return name === 'collapse_key' ? { code: '80100013', msg } : { code: '80100001', msg };
  }
  return undefined;
}

function checkNotification(notification: Record<string, unknown>): HmsViolation | undefined {
  const path = 'message.android.notification';
  const { title, body, sound, default_sound: usual, click_action: action, badge } = notification;
  if (title === undefined || body === undefined) return wrong(`${path} needs title and body`);
  if (sound === undefined && usual !== true) return wrong(`${path} needs sound or default_sound`);
  if (action === undefined) return wrong(`${path}.click_action is required`);
  for (const part of ['title', 'body'])
    if (notification[`${part}_loc_args`] !== undefined && notification[`${part}_loc_key`] === undefined)
      return wrong(`${path}.${part}_loc_args needs ${part}_loc_key`);
  return checkAction(action as Record<string, unknown>) ?? checkBadge(badge as Record<string, unknown> | undefined);
}

/** Checks a click action. Types: 1 is an intent or an action of the app, 2 a page, 3 the app. */
function checkAction({ type, ...action }: Record<string, unknown>): HmsViolation | undefined {
  const path = 'message.android.notification.click_action';
  switch (type) {
    case 1:
      return (
        findWrong(path, { given: action, members: { intent: isText, action: isText } }) ??
        (action.intent === undefined && action.action === undefined
          ? wrong(`${path} needs intent or action`)
          : undefined)
      );
    case 2:
      return (
        findWrong(path, { given: action, members: { url: isSecure } }) ??
        (action.url === undefined ? wrong(`${path} needs url`) : undefined)
      );
    case 3:
      return findWrong(path, { given: action, members: {} });
    default:
      return { code: '80100001', msg: `${path}.type is invalid` };
  }
}

function checkBadge(badge: Record<string, unknown> | undefined): HmsViolation | undefined {
  if (badge === undefined) return undefined;
  const path = 'message.android.notification.badge';
  const members = { add_num: isWholeIn(1, 99), set_num: isWholeIn(0, 99), class: isText };
  return (
    findWrong(path, { given: badge, members }) ??
    ((badge.add_num === undefined) === (badge.set_num === undefined)
      ? wrong(`${path} needs add_num or set_num`)
      : undefined)
  );
}

/** Returns Huawei's response. Many refusals come with HTTP 200 and are reported by the code only. */
export function hmsAnswer(...[status, code, msg]: [number, string, string]): Exclude<SimulatedAnswer, 'silence'> {
  return { status, body: { code, msg, requestId: randomBytes(8).toString('hex') } };
}
