import { defaultDeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { TemplateMode } from '../../domain/template/template-mode.ts';
import type { FieldReader } from './field-reader.ts';

const maxTtlMinutes = 10_080;

/**
 * Flags whose one value asks for what happens anyway, because the other side does not exist in this version. The other
 * value is refused by name, never ignored (decision D30).
 */
const onlyValue: Record<string, boolean> = {
  preCacheSegment: false,
  'pushAmp+': false,
};

/** Reads `advancedSettings` (fact 3.4). */
export function parseSettings(reader: FieldReader, value: unknown): DeliverySettings {
  const settings = reader.record(value, 'advancedSettings');
  if (!settings) return defaultDeliverySettings;
  for (const [name, possible] of Object.entries(onlyValue)) {
    const field = `advancedSettings.${name}`;
    const given = reader.boolean(settings[name], field);
    if (given !== undefined && given !== possible) reader.invalid(field, 'this value is not available in this version');
  }
  return {
    ttlMinutes: parseTtl(reader, settings.ttl),
    ...parsePriorities(reader, settings),
    ...parseThrottle(reader, settings),
    ...parseControls(reader, settings),
    iosDevices: parseIosDevices(reader, settings.iOSTargetDevice),
    inboxExpiryHours:
      reader.integer(settings.inboxExpiry, 'advancedSettings.inboxExpiry', { minimum: 1, maximum: 87_600 }) ?? null,
    templates: templateModeOf(
      reader.boolean(settings.useJinjaPersonalization, 'advancedSettings.useJinjaPersonalization'),
    ),
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
function parsePriorities(reader: FieldReader, settings: Record<string, unknown>): Priorities {
  const at = 'advancedSettings.notificationPrioritySettings';
  const isHigh = reader.boolean(settings.sendAtHighPriority, 'advancedSettings.sendAtHighPriority');
  const isWaiting = reader.boolean(settings.deliverWhenActive, 'advancedSettings.deliverWhenActive') === true;
  const given = reader.record(settings.notificationPrioritySettings, at) ?? {};
  const android = reader.choice(given.Android, `${at}.Android`, ['High', 'Low'] as const);
  const ios = reader.choice(given.iOS, `${at}.iOS`, [1, 5, 10] as const);
  const general = restingPriorities[isWaiting ? 'wait' : isHigh === undefined ? 'usual' : isHigh ? 'wake' : 'low'];
  return {
    ...general,
    ...(android === undefined ? {} : { androidPriority: android === 'High' ? 'HIGH' : 'NORMAL' }),
    ...(ios === undefined ? {} : { iosPriority: ios }),
  };
}

function parseTtl(reader: FieldReader, value: unknown): DeliverySettings['ttlMinutes'] {
  const ttl = reader.record(value, 'advancedSettings.ttl') ?? {};
  const range = { minimum: 0, maximum: maxTtlMinutes };
  const { ttlMinutes } = defaultDeliverySettings;
  return {
    ANDROID: reader.integer(ttl.ANDROID, 'advancedSettings.ttl.ANDROID', range) ?? ttlMinutes.ANDROID,
    IOS: ttlMinutes.IOS,
    WEB: reader.integer(ttl.WEB, 'advancedSettings.ttl.WEB', range) ?? ttlMinutes.WEB,
  };
}

function parseThrottle(
  reader: FieldReader,
  settings: Record<string, unknown>,
): Pick<DeliverySettings, 'devicesPerMinute' | 'spreadMinutes'> {
  const integer = (name: string, range: { minimum: number; maximum: number }): number | null =>
    reader.integer(settings[name], `advancedSettings.${name}`, range) ?? null;
  return {
    devicesPerMinute: integer('campaignThrottleRpm', { minimum: 1, maximum: 10_000_000 }),
    spreadMinutes: integer('campaignThrottleTime', { minimum: 1, maximum: 360 }),
  };
}

/**
 * What of the workspace's caps, quiet hours and delay the push obeys. `countFC` speaks only where `ignoreFC` is true.
 */
function parseControls(reader: FieldReader, settings: Record<string, unknown>): ControlSettings {
  const flag = (name: string): boolean | undefined => reader.boolean(settings[name], `advancedSettings.${name}`);
  const ignoresCap = flag('ignoreFC') ?? false;
  const isCounted = flag('countFC') ?? false;
  return {
    ignoresCap,
    countsForCap: ignoresCap ? isCounted : true,
    bypassesQuietHours: flag('bypassDND') ?? false,
    ignoresMinimumDelay: flag('ignoreMinimumDelay') ?? true,
    ownDelayHours: null,
  };
}

const iosDevicesOf = {
  apns_device_default_push: 'ALL',
  apns_device_provisional_push: 'PROVISIONAL',
  apns_device_non_provisional_push: 'NON_PROVISIONAL',
} as const;

function parseIosDevices(reader: FieldReader, value: unknown): DeliverySettings['iosDevices'] {
  const names = Object.keys(iosDevicesOf) as (keyof typeof iosDevicesOf)[];
  const name = reader.choice(value, 'advancedSettings.iOSTargetDevice', names);
  return name === undefined ? defaultDeliverySettings.iosDevices : iosDevicesOf[name];
}
