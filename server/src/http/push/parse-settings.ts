import { defaultDeliverySettings } from '../../domain/campaign/delivery-settings.ts';
import type { DeliverySettings } from '../../domain/campaign/delivery-settings.ts';
import type { FieldReader } from './field-reader.ts';

const mostTtlMinutes = 10_080;

/**
 * Flags whose one value asks for what happens anyway, because the other side does not exist in this version: there is
 * no frequency cap, no quiet hours, no minimum delay. The other value is refused by name, never ignored (decisions D30).
 */
const onlyValue: Record<string, boolean> = {
  ignoreFC: true,
  countFC: false,
  bypassDND: true,
  ignoreMinimumDelay: true,
  deliverWhenActive: false,
  preCacheSegment: false,
  'pushAmp+': false,
};

/** Reads `advancedSettings` (facts 3.4). */
export function parseSettings(reader: FieldReader, value: unknown): DeliverySettings {
  const settings = reader.record(value, 'advancedSettings');
  if (!settings) return defaultDeliverySettings;
  for (const [name, possible] of Object.entries(onlyValue)) {
    const field = `advancedSettings.${name}`;
    const given = reader.boolean(settings[name], field);
    if (given !== undefined && given !== possible) reader.invalid(field, 'this value is not available in this version');
  }
  refuseUnavailable(reader, settings);
  const isHigh = reader.boolean(settings.sendAtHighPriority, 'advancedSettings.sendAtHighPriority');
  const priorities =
    reader.record(settings.notificationPrioritySettings, 'advancedSettings.notificationPrioritySettings') ?? {};
  const at = 'advancedSettings.notificationPrioritySettings';
  const android = reader.choice(priorities.Android, `${at}.Android`, ['High', 'Low'] as const);
  const ios = reader.choice(priorities.iOS, `${at}.iOS`, [1, 5, 10] as const);
  const { androidPriority, iosPriority, webUrgency } = defaultDeliverySettings;
  return {
    ttlMinutes: parseTtl(reader, settings.ttl),
    // The legacy flag speaks for all platforms; the newer setting wins where it is given.
    androidPriority:
      android === undefined ? (isHigh === false ? 'NORMAL' : androidPriority) : android === 'High' ? 'HIGH' : 'NORMAL',
    iosPriority: ios ?? (isHigh === false ? 5 : iosPriority),
    webUrgency: isHigh === true ? 'high' : webUrgency,
  };
}

function parseTtl(reader: FieldReader, value: unknown): DeliverySettings['ttlMinutes'] {
  const ttl = reader.record(value, 'advancedSettings.ttl') ?? {};
  const range = { minimum: 0, maximum: mostTtlMinutes };
  const { ttlMinutes } = defaultDeliverySettings;
  return {
    ANDROID: reader.integer(ttl.ANDROID, 'advancedSettings.ttl.ANDROID', range) ?? ttlMinutes.ANDROID,
    IOS: ttlMinutes.IOS,
    WEB: reader.integer(ttl.WEB, 'advancedSettings.ttl.WEB', range) ?? ttlMinutes.WEB,
  };
}

/** Understood, checked, and not carried out by this version. */
function refuseUnavailable(reader: FieldReader, settings: Record<string, unknown>): void {
  const numbers = {
    campaignThrottleTime: { minimum: 1, maximum: 360 },
    campaignThrottleRpm: { minimum: 1, maximum: 10_000_000 },
    inboxExpiry: { minimum: 1, maximum: 87_600 },
  };
  for (const [name, range] of Object.entries(numbers)) {
    const field = `advancedSettings.${name}`;
    if (reader.integer(settings[name], field, range) !== undefined)
      reader.invalid(field, 'is not available in this version');
  }
  const devices = [
    'apns_device_default_push',
    'apns_device_provisional_push',
    'apns_device_non_provisional_push',
  ] as const;
  if (reader.choice(settings.iOSTargetDevice, 'advancedSettings.iOSTargetDevice', devices) !== undefined) {
    reader.invalid(
      'advancedSettings.iOSTargetDevice',
      'is not available in this version; omit it to reach all devices',
    );
  }
}
