import { readAppIds } from '../../domain/apps/read-app-ids.ts';
import { defaultDeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';
import type { RequestReader } from '../../domain/request-reader/request-reader.ts';
import { maxInboxExpiryHours, maxSpreadMinutes } from '../../domain/push/limits.ts';
import { maxDevicesPerMinute, maxTtlMinutes } from '../../domain/campaigns/limits.ts';

/** Reads `advancedSettings` (fact 3.4). */
export function parseSettings(body: RequestReader): DeliverySettings {
  const settings = body.findPart('advancedSettings');
  if (!settings) return defaultDeliverySettings;
  // The other side of these does not exist in this version; it is refused by name, never ignored (decision D30).
  settings.only(false, 'preCacheSegment', 'pushAmp+');
  const isSilent = settings.flag('silent') ?? false;
  return {
    ttlMinutes: parseTtl(settings.part('ttl')),
    ...parsePriorities(settings),
    ...parseThrottle(settings),
    ...parseControls(settings),
    ...(isSilent ? parseSilent(settings) : {}),
    isSilent,
    iosDevices: parseIosDevices(settings),
    ...readAppIds(settings, 'appIds'),
    inboxExpiryHours: settings.integer('inboxExpiry', { minimum: 1, maximum: maxInboxExpiryHours }) ?? null,
    templates: templateModeOf(settings.flag('useJinjaPersonalization')),
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

/** How a provider treats a device that rests: wake it, or wait until it is used. */
const restingPriorities: Record<'wake' | 'usual' | 'low' | 'wait', Priorities> = {
  wake: { androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'high' },
  usual: { androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'normal' },
  low: { androidPriority: 'NORMAL', iosPriority: 5, webUrgency: 'normal' },
  wait: { androidPriority: 'NORMAL', iosPriority: 5, webUrgency: 'low' },
};

/** `deliverWhenActive` and the legacy flag speak for all platforms; the newer setting wins where it is given. */
function parsePriorities(settings: RequestReader): Priorities {
  const isHigh = settings.flag('sendAtHighPriority');
  const isWaiting = settings.flag('deliverWhenActive') === true;
  const given = settings.part('notificationPrioritySettings');
  const android = given.choice('Android', ['High', 'Low']);
  const ios = given.choice('iOS', [1, 5, 10]);
  const general = restingPriorities[isWaiting ? 'wait' : isHigh === undefined ? 'usual' : isHigh ? 'wake' : 'low'];
  return {
    ...general,
    ...(android === undefined ? {} : { androidPriority: android === 'High' ? 'HIGH' : 'NORMAL' }),
    ...(ios === undefined ? {} : { iosPriority: ios }),
  };
}

/**
 * What nobody sees disturbs nobody: it wakes no phone unless that is asked for, and neither hours nor caps hold it back.
 */
function parseSilent(settings: RequestReader): Partial<DeliverySettings> {
  const isHigh = settings.part('notificationPrioritySettings').choice('Android', ['High', 'Low']) === 'High';
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

function parseTtl(ttl: RequestReader): DeliverySettings['ttlMinutes'] {
  const range = { minimum: 0, maximum: maxTtlMinutes };
  const { ttlMinutes } = defaultDeliverySettings;
  return {
    ANDROID: ttl.integer('ANDROID', range) ?? ttlMinutes.ANDROID,
    IOS: ttl.integer('IOS', range) ?? ttlMinutes.IOS,
    WEB: ttl.integer('WEB', range) ?? ttlMinutes.WEB,
  };
}

function parseThrottle(settings: RequestReader): Pick<DeliverySettings, 'devicesPerMinute' | 'spreadMinutes'> {
  return {
    devicesPerMinute: settings.integer('campaignThrottleRpm', { minimum: 1, maximum: maxDevicesPerMinute }) ?? null,
    spreadMinutes: settings.integer('campaignThrottleTime', { minimum: 1, maximum: maxSpreadMinutes }) ?? null,
  };
}

/**
 * What of the workspace's caps, quiet hours and delay the push obeys. `countFC` speaks only where `ignoreFC` is true.
 */
function parseControls(settings: RequestReader): ControlSettings {
  const ignoresCap = settings.flag('ignoreFC') ?? false;
  const isCounted = settings.flag('countFC') ?? false;
  return {
    ignoresCap,
    countsForCap: ignoresCap ? isCounted : true,
    bypassesQuietHours: settings.flag('bypassDND') ?? false,
    ignoresMinimumDelay: settings.flag('ignoreMinimumDelay') ?? true,
    ownDelayHours: null,
  };
}

const iosDevicesOf = {
  apns_device_default_push: 'ALL',
  apns_device_provisional_push: 'PROVISIONAL',
  apns_device_non_provisional_push: 'NON_PROVISIONAL',
} as const;

function parseIosDevices(settings: RequestReader): DeliverySettings['iosDevices'] {
  const names = Object.keys(iosDevicesOf) as (keyof typeof iosDevicesOf)[];
  const name = settings.choice('iOSTargetDevice', names);
  return name === undefined ? defaultDeliverySettings.iosDevices : iosDevicesOf[name];
}
