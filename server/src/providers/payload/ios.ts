import type { IosOptions, LocKeys } from '../../domain/content/content.ts';
import type { Message } from '../../domain/content/message.ts';
import { mergePatch } from '../../domain/content/overrides.ts';
import { isObject } from '../../domain/request-reader.ts';
import { findHeaderFault } from './override-headers.ts';

export type IosMessage = Extract<Message, { platform: 'IOS' }>;

/** Body of a request to APNs: `aps` as Apple defines it, and the app's own under our prefix beside it. */
export function makeIosPayload(message: IosMessage): object {
  return message.isSilent ? makeSilent(message) : makeAlert(message);
}

/** The app runs, and nobody sees anything: `aps` holds nothing else then. */
function makeSilent(message: IosMessage): object {
  return {
    aps: { 'content-available': 1 },
    [message.dataPrefix]: { ...makeIds(message), key_value_pairs: message.content.defaultAction?.keyValuePairs ?? {} },
  };
}

function makeAlert(message: IosMessage): object {
  const { content, report } = message;
  const { options = {} } = content;
  const sound = content.richContent.find(({ type }) => type === 'sound')?.value;
  const coupon = content.richContent.find(({ type }) => type === 'coupon')?.value;
  const media = content.richContent.filter(({ type }) => type !== 'sound' && type !== 'coupon');
  const category = content.additionalActions[0]?.category;
  const action = content.defaultAction;
  return {
    aps: {
      alert: {
        title: content.title,
        ...(content.subtitle === undefined ? {} : { subtitle: content.subtitle }),
        body: content.message,
        ...(options.launchImage === undefined ? {} : { 'launch-image': options.launchImage }),
        ...makeLocKeys(options.locKeys),
      },
      sound: options.sound ? makeSound(options.sound) : (sound ?? 'default'),
      ...(content.enableBadge ? { badge: 1 } : {}),
      ...(category === undefined ? {} : { category }),
      ...(content.groupKey === undefined ? {} : { 'thread-id': content.groupKey }),
      // Media is fetched, and that it was shown is reported, by the app's service extension, which runs for mutable
      // content only. An app without one shows the same.
      ...(media.length > 0 || report !== undefined ? { 'mutable-content': 1 } : {}),
      ...makeApsOptions(options),
    },
    [message.dataPrefix]: {
      ...makeIds(message),
      ...(report === undefined ? {} : { report_token: report.token }),
      ...(report?.clickProof === undefined ? {} : { click_proof: report.clickProof }),
      ...(media.length > 0 ? { media } : {}),
      ...(coupon === undefined ? {} : { coupon_code: coupon }),
      ...(action === undefined
        ? {}
        : { action: { type: action.type, value: action.value, key_value_pairs: action.keyValuePairs } }),
      ...makeActions(options.additionalActions),
      ...(message.language === undefined ? {} : { lang: message.language }),
    },
  };
}

function makeSound(sound: NonNullable<IosOptions['sound']>): string | object {
  if (!('critical' in sound)) return sound.name;
  return { critical: 1, name: sound.name, ...(sound.volume === undefined ? {} : { volume: sound.volume }) };
}

function makeIds({ workspaceId, campaignId, runId, identity, inboxExpiresAt }: IosMessage): object {
  return {
    app_id: workspaceId,
    campaign_id: campaignId,
    run_id: runId,
    message_id: identity.id,
    ...(inboxExpiresAt && { inbox_expiry: Math.floor(inboxExpiresAt.getTime() / 1000) }),
  };
}

function makeApsOptions(options: IosOptions): object {
  const { badge, contentAvailable, interruptionLevel, relevanceScore, targetContentId, filterCriteria } = options;
  return {
    // Zero takes it away.
    ...(badge === undefined ? {} : { badge: badge.operation === 'clear' ? 0 : badge.value }),
    ...(contentAvailable === true ? { 'content-available': 1 } : {}),
    ...(interruptionLevel === undefined ? {} : { 'interruption-level': interruptionLevel }),
    ...(relevanceScore === undefined ? {} : { 'relevance-score': relevanceScore }),
    ...(targetContentId === undefined ? {} : { 'target-content-id': targetContentId }),
    ...(filterCriteria === undefined ? {} : { 'filter-criteria': filterCriteria }),
  };
}

/** Keys that the app looks up, beside the texts. Apple calls the one of the body plainly `loc-key`. */
function makeLocKeys(keys: LocKeys = {}): object {
  return {
    ...(keys.titleLocKey === undefined ? {} : { 'title-loc-key': keys.titleLocKey }),
    ...(keys.titleLocArgs === undefined ? {} : { 'title-loc-args': keys.titleLocArgs }),
    ...(keys.subtitleLocKey === undefined ? {} : { 'subtitle-loc-key': keys.subtitleLocKey }),
    ...(keys.subtitleLocArgs === undefined ? {} : { 'subtitle-loc-args': keys.subtitleLocArgs }),
    ...(keys.bodyLocKey === undefined ? {} : { 'loc-key': keys.bodyLocKey }),
    ...(keys.bodyLocArgs === undefined ? {} : { 'loc-args': keys.bodyLocArgs }),
  };
}

/** Buttons for the app's extension to register; in the form of Android's. */
function makeActions(actions: IosOptions['additionalActions']): object {
  if (actions === undefined) return {};
  return {
    actions: actions.map(({ action, title, url, iconURL }) => ({
      type: 'open',
      action,
      name: title,
      value: url,
      ...(iconURL === undefined ? {} : { iconUrl: iconURL }),
    })),
  };
}

/** What Apple gets, whoever hands it over. `changed`: headers that the caller's override sets, or takes away with null. */
export type IosRequest = { headers: Record<string, string>; changed: Record<string, string | null>; payload: object };

/** With the caller's override, or why that cannot be sent. Pure. */
export function makeIosRequest(message: IosMessage, now: Date): IosRequest | { fault: string } {
  const payload = overrideIosPayload(message);
  const { headers: changed = {} } = message.content.overrides?.apns ?? {};
  const fault = payload === undefined ? 'aps is no object' : findHeaderFault('apns', changed);
  return payload === undefined || fault !== undefined
    ? { fault: fault! }
    : { headers: makeHeaders(message, now), changed, payload };
}

function makeHeaders(message: IosMessage, now: Date): Record<string, string> {
  const expiration = message.ttlSeconds === 0 ? 0 : Math.floor(now.getTime() / 1000) + message.ttlSeconds;
  return {
    // Apple refuses a silent message of another priority.
    'apns-push-type': message.isSilent ? 'background' : 'alert',
    'apns-priority': message.isSilent ? '5' : String(message.priority),
    'apns-expiration': String(expiration),
    'apns-collapse-id': message.identity.collapseId,
  };
}

/** The payload with the caller's override; undefined if that leaves nothing Apple would show. */
export function overrideIosPayload(message: IosMessage): object | undefined {
  const payload = makeIosPayload(message);
  const patch = message.content.overrides?.apns?.payload;
  if (patch === undefined) return payload;
  // What stands beside `aps` under our prefix is the app's to believe, whatever the prefix was when it was accepted.
  const { [message.dataPrefix]: _own, ...allowed } = patch;
  const merged = mergePatch(payload, allowed) as { aps?: unknown };
  return isObject(merged.aps) ? merged : undefined;
}
