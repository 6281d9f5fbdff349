import type { IosOptions, LocKeys } from '../../domain/content/content.ts';
import type { Message } from '../../domain/content/message.ts';
import { mergePatch } from '../../domain/content/overrides.ts';
import { isObject } from '../../fields/request-reader.ts';
import { findHeaderFault } from './override-headers.ts';

export type IosMessage = Extract<Message, { platform: 'IOS' }>;

/** Returns the body of a request to APNs: `aps` as Apple defines it, and next to it the app's own members under our prefix. */
export function makeIosPayload(message: IosMessage): object {
  return message.isSilent ? makeSilent(message) : makeAlert(message);
}

/** Returns a payload that starts the app without showing anything: `aps` contains nothing else. */
function makeSilent(message: IosMessage): object {
  const { workspaceId, identity, challenge } = message;
  if (challenge)
    return {
      aps: { 'content-available': 1 },
      [message.dataPrefix]: {
        ...{ app_id: workspaceId, message_id: identity.id },
        ...{ installation_id: challenge.installationId, challenge: challenge.code },
      },
    };
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
      // The app's service extension fetches media, and reports that the message was shown. It runs only for mutable content. An
      // app without an extension shows the same.
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
    // Zero removes the badge.
    ...(badge === undefined ? {} : { badge: badge.operation === 'clear' ? 0 : badge.value }),
    ...(contentAvailable === true ? { 'content-available': 1 } : {}),
    ...(interruptionLevel === undefined ? {} : { 'interruption-level': interruptionLevel }),
    ...(relevanceScore === undefined ? {} : { 'relevance-score': relevanceScore }),
    ...(targetContentId === undefined ? {} : { 'target-content-id': targetContentId }),
    ...(filterCriteria === undefined ? {} : { 'filter-criteria': filterCriteria }),
  };
}

/** Returns keys that the app looks up, in addition to the texts. Apple's key for the body is just `loc-key`. */
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

/** Returns buttons for the app's extension to register, in the same form as Android's. */
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

/**
 * The request to Apple, sent directly or by Firebase. `changed`: headers that the caller's override sets, or removes with null.
 */
export type IosRequest = { headers: Record<string, string>; changed: Record<string, string | null>; payload: object };

/** Returns the request with the caller's override, or why it cannot be sent. Pure. */
export function makeIosRequest(message: IosMessage, now: Date): IosRequest | { fault: string } {
  const payload = overrideIosPayload(message);
  const { headers: changed = {} } = message.content.overrides?.apns ?? {};
  const fault = payload === undefined ? 'aps must be an object' : findHeaderFault('apns', changed);
  return payload === undefined || fault !== undefined
    ? { fault: fault! }
    : { headers: makeHeaders(message, now), changed, payload };
}

function makeHeaders(message: IosMessage, now: Date): Record<string, string> {
  const expiration = message.ttlSeconds === 0 ? 0 : Math.floor(now.getTime() / 1000) + message.ttlSeconds;
  return {
    // Apple rejects a silent message with another priority.
    'apns-push-type': message.isSilent ? 'background' : 'alert',
    'apns-priority': message.isSilent ? '5' : String(message.priority),
    'apns-expiration': String(expiration),
    'apns-collapse-id': message.identity.collapseId,
  };
}

/** Returns the payload with the caller's override; undefined if nothing is left that Apple would show. */
export function overrideIosPayload(message: IosMessage): object | undefined {
  const payload = makeIosPayload(message);
  const patch = message.content.overrides?.apns?.payload;
  if (patch === undefined) return payload;
  // The app trusts the members next to `aps` under our prefix, so the override cannot set them, whatever the prefix was when
  // the message was accepted.
  const { [message.dataPrefix]: _own, ...allowed } = patch;
  const merged = mergePatch(payload, allowed) as { aps?: unknown };
  return isObject(merged.aps) ? merged : undefined;
}
