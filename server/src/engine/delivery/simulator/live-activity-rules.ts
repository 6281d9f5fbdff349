/** What Apple puts behind the bundle id for a push to a Live Activity. */
export const liveTopicSuffix = '.push-type.liveactivity';

type Check = (value: unknown) => boolean;
const isText: Check = (value) => typeof value === 'string' && value !== '';
const isSeconds: Check = (value) => Number.isInteger(value) && (value as number) > 0 && (value as number) < 1e11;
const isObject: Check = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isAlert: Check = (value) => {
  if (!isObject(value)) return false;
  const { title, body, ...rest } = value as Record<string, unknown>;
  return isText(title) && isText(body) && Object.keys(rest).length === 0;
};

/** Members of `aps` of a push to a Live Activity. Of what is wrong a phone says nothing; a simulator can. */
const members: Record<string, Check> = {
  timestamp: isSeconds,
  event: (value) => ['start', 'update', 'end'].includes(value as string),
  'content-state': isObject,
  'attributes-type': isText,
  attributes: isObject,
  alert: isAlert,
  'stale-date': isSeconds,
  'dismissal-date': isSeconds,
};
const required = ['timestamp', 'event', 'content-state'];
const requiredOfStart = ['attributes-type', 'attributes', 'alert'];

/** The reason for which Apple refuses it, or its phones drop it. */
export function checkLiveActivity(
  payload: Record<string, unknown>,
  headers: Record<string, string | string[] | undefined>,
): string | undefined {
  const { aps, ...others } = payload as { aps: Record<string, unknown> };
  if (!String(headers['apns-topic']).endsWith(liveTopicSuffix)) return 'BadTopic';
  if (!['5', '10'].includes(String(headers['apns-priority'] ?? '10'))) return 'BadPriority';
  if (headers['apns-collapse-id'] !== undefined) return 'BadCollapseId';
  const isStart = aps.event === 'start';
  const needed = isStart ? [...required, ...requiredOfStart] : required;
  const refused = isStart ? [] : ['attributes-type', 'attributes'];
  const isRight =
    Object.keys(others).length === 0 &&
    needed.every((name) => aps[name] !== undefined) &&
    refused.every((name) => aps[name] === undefined) &&
    Object.entries(aps).every(([name, value]) => Object.hasOwn(members, name) && members[name]!(value));
  return isRight ? undefined : 'BadMessage';
}
