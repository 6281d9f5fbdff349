import type { AndroidContent, AndroidOptions, BadgeChange } from '../../domain/content/content.ts';
import type { Message, TokenChallenge } from '../../domain/content/message.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

export type AndroidMessage = Extract<Message, { platform: 'ANDROID' }>;

/** The part of a message that FCM carries in addition to the address. */
export type AndroidPart = {
  /** FCM accepts only strings; lists and objects are sent as JSON text. */
  data?: Record<string, string>;
  android: Record<string, unknown> & { collapse_key?: string; notification?: Record<string, unknown> };
};

/**
 * Returns a message in the mode of its workspace: `data` for an app that shows it itself, `notification` for the system alone,
 * `both` for the system in the background and the app in the foreground. Members of data have the names that device code of
 * this interface's family reads (fact 3.9), with the installation's or the workspace's abbreviation as prefix. Pure.
 */
export function makeAndroidPart(message: AndroidMessage): AndroidPart {
  const { content, payload, identity } = message;
  const carried = { priority: message.priority, ttl: `${message.ttlSeconds}s`, ...carryOptions(content.options) };
  if (message.challenge) return { data: makeChallengeData(message, message.challenge), android: carried };
  if (message.isSilent) return { data: withPairs(makeSilentData(message), message), android: carried };
  switch (payload.mode) {
    case 'data':
      return {
        data: withPairs({ ...makeData(message), ...makeShownByApp(message) }, message),
        // With its own key each message would be collapsible. FCM keeps four collapsible messages for an offline phone, but a
        // hundred without a key. A repeat after a crash is recognized by its tag and its id.
        android: {
          ...(content.collapseReplaceKey === undefined ? {} : { collapse_key: identity.collapseId }),
          ...carried,
        },
      };
    case 'notification': {
      // Data becomes extras of the intent, which stay on the phone. None of our own members are among them.
      const pairs = withPairs({}, message);
      return {
        ...(Object.keys(pairs).length === 0 ? {} : { data: pairs }),
        android: { collapse_key: identity.collapseId, ...carried, notification: makeNotification(message) },
      };
    }
    case 'both':
      return {
        data: withPairs(makeData(message), message),
        android: { collapse_key: identity.collapseId, ...carried, notification: makeNotification(message) },
      };
    default:
      return unknownCase(payload.mode);
  }
}

function makeNotification({ content, identity }: AndroidMessage): Record<string, unknown> {
  const [image, sound] = [richValue(content, 'image'), richValue(content, 'sound')];
  return {
    title: content.title,
    body: content.message,
    // A repeat after a crash has the same tag and replaces the first on the screen.
    tag: identity.collapseId,
    ...(content.channelId === undefined ? {} : { channel_id: content.channelId }),
    ...(image === undefined ? {} : { image }),
    ...(sound === undefined ? {} : { sound }),
    ...notificationOptions(content.options),
  };
}

function makeData(message: AndroidMessage): Record<string, string> {
  const { content, payload } = message;
  const own = (name: string): string => `${payload.dataPrefix}_${name}`;
  const coupon = richValue(content, 'coupon');
  const data: Record<string, string> = {
    push_from: payload.pushFrom,
    gcm_title: content.title,
    gcm_alert: content.message,
    gcm_campaign_id: message.campaignId,
    gcm_notificationType: 'normal notification',
    [own('app_id')]: message.workspaceId,
    [own('push_service')]: 'fcm',
    [own('cid_attr')]: JSON.stringify({
      [own('campaign_id')]: message.campaignId,
      [own('campaign_channel')]: 'PUSH',
      [own('run_id')]: message.runId,
    }),
    [own('message_id')]: message.identity.id,
  };
  if (message.inboxExpiresAt) data[own('inbox_expiry')] = String(Math.floor(message.inboxExpiresAt.getTime() / 1000));
  if (message.report) data[own('report_token')] = message.report.token;
  if (message.report?.clickProof !== undefined) data[own('click_proof')] = message.report.clickProof;
  if (message.language !== undefined) data[own('lang')] = message.language;
  if (content.summary !== undefined) data.gcm_subtext = content.summary;
  if (content.channelId !== undefined) data[own('channel_id')] = content.channelId;
  if (content.groupKey !== undefined) data[own('group_key')] = content.groupKey;
  if (coupon !== undefined) data.coupon_code = coupon;
  if (content.additionalActions.length > 0) data.gcm_actions = JSON.stringify(content.additionalActions);
  if (content.defaultAction) {
    data.gcm_action_type = content.defaultAction.type;
    data.gcm_activityName = content.defaultAction.value;
  }
  for (const [name, value] of Object.entries(dataOptions(content.options))) data[own(name)] = value;
  return data;
}

/** Returns data for the app's code only, in every mode: there is nothing to show. */
function makeSilentData(message: AndroidMessage): Record<string, string> {
  const {
    gcm_title: _title,
    gcm_alert: _alert,
    gcm_action_type: _type,
    gcm_activityName: _name,
    ...data
  } = makeData(message);
  return { ...data, [`${message.payload.dataPrefix}_silent`]: '1' };
}

/** Returns the values that the system reads from `notification`. Without a `notification`, the app needs them in data. */
function makeShownByApp({ content, payload, identity, report }: AndroidMessage): Record<string, string> {
  const own = (name: string): string => `${payload.dataPrefix}_${name}`;
  const [image, sound] = [richValue(content, 'image'), richValue(content, 'sound')];
  return {
    [own('tag')]: identity.collapseId,
    ...(image === undefined ? {} : { [own('image')]: image }),
    ...(sound === undefined ? {} : { [own('sound')]: sound }),
    ...(report === undefined || payload.reportUrl === undefined ? {} : { [own('report_url')]: payload.reportUrl }),
  };
}

/** Adds the caller's pairs at the top level, as an app of this interface's family reads them (fact 3.9). */
function withPairs(
  data: Record<string, string>,
  { content, payload, isSilent }: AndroidMessage,
): Record<string, string> {
  const all = { ...data };
  for (const [name, value] of Object.entries(content.defaultAction?.keyValuePairs ?? {})) {
    // FCM rejects these names in data, so the app reads the pair under a prefix.
    const isReserved =
      name === 'from' || name === 'message_type' || name.startsWith('google.') || name.startsWith('gcm.');
    // An app that shows messages itself trusts the members under our names.
    const isOurs =
      (payload.mode === 'data' || isSilent) && (name.startsWith(`${payload.dataPrefix}_`) || name.startsWith('gcm_'));
    all[isReserved || isOurs || name in all ? `kv_${name}` : name] = value;
  }
  return all;
}

/** Returns a code for the app's code only: no campaign, nothing to show or to report. */
function makeChallengeData(
  { workspaceId, payload, identity }: AndroidMessage,
  { installationId, code }: TokenChallenge,
): Record<string, string> {
  const own = (name: string): string => `${payload.dataPrefix}_${name}`;
  return {
    push_from: payload.pushFrom,
    [own('app_id')]: workspaceId,
    [own('push_service')]: 'fcm',
    [own('message_id')]: identity.id,
    [own('silent')]: '1',
    [own('installation_id')]: installationId,
    [own('challenge')]: code,
  };
}

function richValue(
  content: Omit<AndroidContent, 'fallback'>,
  wanted: 'image' | 'coupon' | 'sound',
): string | undefined {
  return content.richContent.find(({ type }) => type === wanted)?.value;
}

/** Returns the members of FCM's `android` other than data and notification. */
function carryOptions(options: AndroidOptions = {}): Record<string, unknown> {
  const { directBootOk, bandwidthConstrainedOk, restrictedSatelliteOk, analyticsLabel } = options;
  return {
    ...(directBootOk === undefined ? {} : { direct_boot_ok: directBootOk }),
    ...(bandwidthConstrainedOk === undefined ? {} : { bandwidth_constrained_ok: bandwidthConstrainedOk }),
    ...(restrictedSatelliteOk === undefined ? {} : { restricted_satellite_ok: restrictedSatelliteOk }),
    ...(analyticsLabel === undefined ? {} : { fcm_options: { analytics_label: analyticsLabel } }),
  };
}

/** Returns members of `android.notification`, for the system. It cannot clear a badge, or remove a notification by itself. */
function notificationOptions(options: AndroidOptions = {}): Record<string, unknown> {
  const { visibility, color, icon, sticky, badge, locKeys } = options;
  return {
    ...(icon === undefined ? {} : { icon }),
    ...(color === undefined ? {} : { color }),
    ...(visibility === undefined ? {} : { visibility: visibility.toUpperCase() }),
    ...(sticky === undefined ? {} : { sticky }),
    ...(badge === undefined || badge.operation === 'clear' ? {} : { notification_count: badge.value }),
    ...(locKeys?.titleLocKey === undefined ? {} : { title_loc_key: locKeys.titleLocKey }),
    ...(locKeys?.titleLocArgs === undefined ? {} : { title_loc_args: locKeys.titleLocArgs }),
    ...(locKeys?.bodyLocKey === undefined ? {} : { body_loc_key: locKeys.bodyLocKey }),
    ...(locKeys?.bodyLocArgs === undefined ? {} : { body_loc_args: locKeys.bodyLocArgs }),
  };
}

/** Returns the same options for an app that shows the message itself: texts, under these names after the prefix. */
function dataOptions(options: AndroidOptions = {}): Record<string, string> {
  const { visibility, color, icon, sticky, timeoutSeconds, badge, locKeys } = options;
  return {
    ...(icon === undefined ? {} : { icon }),
    ...(color === undefined ? {} : { color }),
    ...(visibility === undefined ? {} : { visibility }),
    ...(sticky === true ? { ongoing: '1' } : {}),
    ...(timeoutSeconds === undefined ? {} : { timeout_s: String(timeoutSeconds) }),
    ...(badge === undefined ? {} : { badge: JSON.stringify(badgeForApp(badge)) }),
    ...(locKeys === undefined ? {} : { loc: JSON.stringify(locKeys) }),
  };
}

function badgeForApp(badge: BadgeChange): object {
  return badge.operation === 'clear' ? { op: 'clear' } : { op: 'set', value: badge.value };
}
