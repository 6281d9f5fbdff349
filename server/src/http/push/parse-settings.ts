import { appIds } from '../../domain/campaign-document/delivery.ts';
import { defaultDeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import { maxDevicesPerMinute, maxTtlMinutes } from '../../domain/limits/campaigns.ts';
import { maxInboxExpiryHours, maxSpreadMinutes } from '../../domain/limits/push.ts';
import type { TemplateMode } from '../../domain/template/parser.ts';
import { choice, flagOrText, only, part, partAs, whole, word } from '../../fields/combinators.ts';
import { withoutAbsent } from '../../fields/field.ts';
import type { Infer, ReadMember } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';

const iosDevicesOf = {
  apns_device_default_push: 'ALL',
  apns_device_provisional_push: 'PROVISIONAL',
  apns_device_non_provisional_push: 'NON_PROVISIONAL',
} as const;
const iosDevices = Object.keys(iosDevicesOf) as (keyof typeof iosDevicesOf)[];
const minutesToLive = whole(0, maxTtlMinutes, 'Minutes');

const members = {
  ttl: part({ ANDROID: minutesToLive, IOS: minutesToLive, WEB: minutesToLive }),
  silent: flagOrText(),
  ignoreFC: flagOrText(),
  countFC: flagOrText(),
  notificationPrioritySettings: part({ Android: word(['High', 'Low']), iOS: choice([1, 5, 10]) }),
  'pushAmp+': only(false, flagOrText()),
  preCacheSegment: only(false, flagOrText()),
  campaignThrottleTime: whole(1, maxSpreadMinutes, 'Minutes'),
  campaignThrottleRpm: whole(1, maxDevicesPerMinute, 'Devices a minute'),
  useJinjaPersonalization: flagOrText(),
  ignoreMinimumDelay: flagOrText(),
  inboxExpiry: whole(1, maxInboxExpiryHours, 'Hours'),
  iOSTargetDevice: word(iosDevices),
  appIds,
  deliverWhenActive: flagOrText(),
  bypassDND: flagOrText(),
  sendAtHighPriority: flagOrText(),
};
type ReadSetting = ReadMember<typeof members>;

/** `advancedSettings` (fact 3.4). */
export const advancedSettings = partAs(members, { title: 'PushAdvancedSettings', read: readSettings });

function readSettings(settings: RequestReader, read: ReadSetting): DeliverySettings {
  // This version does not support `true` for these; it is rejected by name, never ignored (decision D30).
  read('preCacheSegment');
  read('pushAmp+');
  // As an unknown field it would be warned of, and the push would reach users who left the topic.
  if (settings.members.topic !== undefined)
    settings.invalid('topic', 'is for campaigns (advanced.topic): a push is sent to everyone whom it names');
  const isSilent = read('silent') ?? false;
  const ttl = read('ttl');
  const general = parseGeneralPriority(read);
  const priorities = read('notificationPrioritySettings') ?? {};
  return {
    ttlMinutes: { ...defaultDeliverySettings.ttlMinutes, ...ttl },
    ...general,
    ...parsePriorities(priorities),
    devicesPerMinute: read('campaignThrottleRpm') ?? null,
    spreadMinutes: read('campaignThrottleTime') ?? null,
    ...parseControls(read),
    ...(isSilent ? parseSilent(settings, priorities) : {}),
    isSilent,
    iosDevices: iosDevicesOf[read('iOSTargetDevice') ?? 'apns_device_default_push'],
    ...withoutAbsent<Pick<DeliverySettings, 'appIds'>>({ appIds: read('appIds') }),
    inboxExpiryHours: read('inboxExpiry') ?? null,
    templates: templateModeOf(read('useJinjaPersonalization')),
  };
}

/** Decision D39. */
export function templateModeOf(isJinja: boolean | undefined): TemplateMode {
  return isJinja === undefined ? 'AUTO' : isJinja ? 'ON' : 'OFF';
}

type ControlSettings = Pick<
  DeliverySettings,
  'ignoresCap' | 'countsForCap' | 'bypassesQuietHours' | 'ignoresMinimumDelay' | 'ownDelayHours'
>;

type Priorities = Pick<DeliverySettings, 'androidPriority' | 'iosPriority' | 'webUrgency'>;

/** How a provider treats an idle device: wake it, or wait until it is used. */
const restingPriorities: Record<'wake' | 'usual' | 'low' | 'wait', Priorities> = {
  wake: { androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'high' },
  usual: { androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'normal' },
  low: { androidPriority: 'NORMAL', iosPriority: 5, webUrgency: 'normal' },
  wait: { androidPriority: 'NORMAL', iosPriority: 5, webUrgency: 'low' },
};

/** `deliverWhenActive` and the legacy flag apply to all platforms. */
function parseGeneralPriority(read: ReadSetting): Priorities {
  const isHigh = read('sendAtHighPriority');
  const isWaiting = read('deliverWhenActive') === true;
  return restingPriorities[isWaiting ? 'wait' : isHigh === undefined ? 'usual' : isHigh ? 'wake' : 'low'];
}

type SentPriorities = Infer<typeof members.notificationPrioritySettings.members>;

/** The newer setting wins over the general ones. */
function parsePriorities({ Android: android, iOS: ios }: SentPriorities): Partial<Priorities> {
  return {
    ...(android === undefined ? {} : { androidPriority: android === 'High' ? 'HIGH' : 'NORMAL' }),
    ...(ios === undefined ? {} : { iosPriority: ios }),
  };
}

/**
 * Silent messages disturb no user: they do not wake a phone unless the request asks for it, and neither quiet hours nor
 * caps delay them.
 */
function parseSilent(settings: RequestReader, { Android: android }: SentPriorities): Partial<DeliverySettings> {
  const isHigh = android === 'High';
  if (isHigh)
    settings.part('notificationPrioritySettings').warn('Android', 'High for a silent message makes FCM lower the app');
  return {
    androidPriority: isHigh ? 'HIGH' : 'NORMAL',
    iosPriority: 5,
    ignoresCap: true,
    countsForCap: false,
    bypassesQuietHours: true,
    ignoresMinimumDelay: true,
  };
}

/**
 * Parses which of the workspace's caps, quiet hours and delay apply to the push. `countFC` has an effect only if `ignoreFC`
 * is true.
 */
function parseControls(read: ReadSetting): ControlSettings {
  const ignoresCap = read('ignoreFC') ?? false;
  const isCounted = read('countFC') ?? false;
  return {
    ignoresCap,
    countsForCap: ignoresCap ? isCounted : true,
    bypassesQuietHours: read('bypassDND') ?? false,
    ignoresMinimumDelay: read('ignoreMinimumDelay') ?? true,
    ownDelayHours: null,
  };
}
