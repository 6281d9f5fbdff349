import { defaultDeliverySettings } from '../campaign/delivery-settings.ts';
import type { DeliverySettings } from '../campaign/delivery-settings.ts';
import { unavailable } from './part.ts';
import type { Part } from './part.ts';

/**
 * `delivery_controls` (facts 6.2): there is no frequency cap, no quiet hours, no minimum delay and no queue, so that of
 * each flag only the value that asks for what happens anyway is taken, as in the push API (docs/decisions/0008).
 *
 * @returns the throttle: devices a minute
 */
export function readDeliveryControls(controls: Part): number | null {
  controls.only(true, 'bypass_dnd', 'ignore_frequency_capping', 'ignore_global_minimum_delay');
  controls.only(false, 'count_for_frequency_capping', 'send_message_in_offline_mode', 'queuing_enabled');
  controls.refuse(
    'minimum_delay_between_two_notification_in_hour',
    'max_time_to_show_message_of_same_camapign',
    'expiry_time_of_sync_data_in_hour',
    'send_limit_value',
    'send_limit_granularity_in_hours',
    'queue_duration',
  );
  const limit = controls.part('limit_send_config');
  limit.only(false, 'enabled');
  limit.refuse('max_count', 'window_value', 'window_unit');
  return controls.integer('campaign_throttle_rpm', { minimum: 1, maximum: 10_000_000 }) ?? null;
}

const mostTtlMinutes = 10_080;

/** `advanced` (facts 6.2): time to live and priorities. */
export function readAdvanced(advanced: Part): DeliverySettings {
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
  };
}

function readMinutes(expiration: Part): number | undefined {
  const unit = expiration.choice('expire_notification_after_type', ['HOUR', 'DAY']) ?? 'HOUR';
  const unitMinutes = unit === 'DAY' ? 1_440 : 60;
  const range = { minimum: 0, maximum: mostTtlMinutes / unitMinutes };
  const value = expiration.integer('expire_notification_after_value', range);
  return value === undefined ? undefined : value * unitMinutes;
}

function readIosPriority(priority: Part): 1 | 5 | 10 {
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
