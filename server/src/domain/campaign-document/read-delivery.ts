import { readAppIds } from '../apps/read-app-ids.ts';
import { defaultDeliverySettings } from '../campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../campaigns/delivery-settings.ts';
import { unavailable } from '../request-reader/reading-rules.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { maxDevicesPerMinute, maxTtlMinutes } from '../campaigns/limits.ts';
import { maxCapHours } from '../eligibility/limits.ts';

/**
 * `delivery_controls` (fact 6.2): the throttle, and what of the workspace's caps, delay and quiet hours the campaign
 * obeys (docs/decisions/0018). There is no queue, and no limit of its own.
 */
export function readDeliveryControls(controls: RequestReader): ControlSettings {
  controls.only(false, 'send_message_in_offline_mode', 'queuing_enabled');
  controls.refuse(
    'max_time_to_show_message_of_same_camapign',
    'expiry_time_of_sync_data_in_hour',
    'send_limit_value',
    'send_limit_granularity_in_hours',
    'queue_duration',
  );
  const limit = controls.part('limit_send_config');
  limit.only(false, 'enabled');
  limit.refuse('max_count', 'window_value', 'window_unit');
  const ignoresCap = controls.flag('ignore_frequency_capping') ?? false;
  const hours = { minimum: 1, maximum: maxCapHours };
  return {
    devicesPerMinute: controls.integer('campaign_throttle_rpm', { minimum: 1, maximum: maxDevicesPerMinute }) ?? null,
    bypassesQuietHours: controls.flag('bypass_dnd') ?? false,
    ignoresCap,
    countsForCap: controls.flag('count_for_frequency_capping') ?? !ignoresCap,
    ignoresMinimumDelay: controls.flag('ignore_global_minimum_delay') ?? false,
    ownDelayHours: controls.integer('minimum_delay_between_two_notification_in_hour', hours) ?? null,
  };
}

export type ControlSettings = Pick<
  DeliverySettings,
  'devicesPerMinute' | 'bypassesQuietHours' | 'ignoresCap' | 'countsForCap' | 'ignoresMinimumDelay' | 'ownDelayHours'
>;

/** `advanced` (fact 6.2): time to live, priorities, and the apps that are meant. */
export function readAdvanced(advanced: RequestReader): DeliverySettings {
  const expiration = advanced.part('expiration_settings');
  expiration.refuse('remove_from_inbox_after_value', 'remove_from_inbox_after_type');
  const minutes = readMinutes(expiration) ?? defaultDeliverySettings.ttlMinutes.ANDROID;
  const priorities = advanced.part('platform_level_priority');
  const android = priorities.part('android_specific_priority').choice('send_with_priority', ['HIGH', 'NORMAL']);
  return {
    ...defaultDeliverySettings,
    ttlMinutes: { ANDROID: minutes, IOS: minutes, WEB: minutes },
    androidPriority: android ?? defaultDeliverySettings.androidPriority,
    iosPriority: readIosPriority(priorities.part('ios_specific_priority')),
    ...readAppIds(advanced, 'app_ids'),
  };
}

function readMinutes(expiration: RequestReader): number | undefined {
  const unit = expiration.choice('expire_notification_after_type', ['HOUR', 'DAY']) ?? 'HOUR';
  const unitMinutes = unit === 'DAY' ? 1_440 : 60;
  const range = { minimum: 0, maximum: maxTtlMinutes / unitMinutes };
  const value = expiration.integer('expire_notification_after_value', range);
  return value === undefined ? undefined : value * unitMinutes;
}

function readIosPriority(priority: RequestReader): 1 | 5 | 10 {
  const sent = priority.get('apns_priority');
  const words = { '1': 1, '5': 5, '10': 10 } as const;
  const found = sent === undefined ? '10' : Object.keys(words).find((word) => word === String(sent));
  if (found === undefined) priority.invalid('apns_priority', 'must be 1, 5 or 10');
  // What the phone does without being told.
  const level = priority.text('interruption_level');
  if (level !== undefined && level.toUpperCase() !== 'ACTIVE')
    priority.invalid('interruption_level', `must be ACTIVE: others ${unavailable.replace('is', 'are')}`);
  if (priority.get('relevance_score') !== undefined && Number(priority.get('relevance_score')) !== 0)
    priority.invalid('relevance_score', `must be 0: others ${unavailable.replace('is', 'are')}`);
  return words[(found ?? '10') as keyof typeof words];
}
