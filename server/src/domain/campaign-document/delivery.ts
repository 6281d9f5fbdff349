import { defaultDeliverySettings } from '../campaigns/delivery-settings.ts';
import type { DeliverySettings, Allowance } from '../campaigns/delivery-settings.ts';
import {
  maxDevicesPerMinute,
  maxTtlMinutes,
  maxNamedApps,
  maxCapHours,
  maxCapMessages,
  maxQueueHours,
} from '../limits/campaigns.ts';
import { unavailable } from '../../fields/reading-rules.ts';
import { list, readWith, text } from '../../fields/combinators.ts';
import { withoutAbsent } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';

const maxAppIdCharacters = 64;

/**
 * Reads `delivery_controls` (fact 6.2): the throttle, which of the workspace's caps, delay and quiet hours apply to the
 * campaign (docs/decisions/0018), its queue, and its send limit per user (docs/decisions/0046).
 */
export function readDeliveryControls(controls: RequestReader): DeliveryControlSettings {
  controls.only(false, 'send_message_in_offline_mode');
  controls.refuse('max_time_to_show_message_of_same_camapign', 'expiry_time_of_sync_data_in_hour');
  const sendLimit = readSendLimit(controls);
  const queueHours = readQueue(controls);
  const ignoresCap = controls.flag('ignore_frequency_capping') ?? false;
  const hours = { minimum: 1, maximum: maxCapHours };
  return {
    devicesPerMinute: controls.integer('campaign_throttle_rpm', { minimum: 1, maximum: maxDevicesPerMinute }) ?? null,
    bypassesQuietHours: controls.flag('bypass_dnd') ?? false,
    ignoresCap,
    countsForCap: controls.flag('count_for_frequency_capping') ?? !ignoresCap,
    ignoresMinimumDelay: controls.flag('ignore_global_minimum_delay') ?? false,
    ownDelayHours: controls.integer('minimum_delay_between_two_notification_in_hour', hours) ?? null,
    ...(sendLimit && { sendLimit }),
    ...(queueHours !== undefined && { queueHours }),
  };
}

export type DeliveryControlSettings = Pick<
  DeliverySettings,
  | 'devicesPerMinute'
  | 'bypassesQuietHours'
  | 'ignoresCap'
  | 'countsForCap'
  | 'ignoresMinimumDelay'
  | 'ownDelayHours'
  | 'sendLimit'
  | 'queueHours'
>;

const counts = { minimum: 1, maximum: maxCapMessages };

/** V1 has a number of messages and a number of hours, V5 an object that may be switched off. They mean the same. */
function readSendLimit(controls: RequestReader): Allowance | undefined {
  const messages = controls.integer('send_limit_value', counts);
  const hours = controls.integer('send_limit_granularity_in_hours', { minimum: 1, maximum: maxCapHours });
  if (messages !== undefined) controls.requires('send_limit_granularity_in_hours');
  if (hours !== undefined) controls.requires('send_limit_value');
  const config = readSendConfig(controls.part('limit_send_config'));
  if (messages === undefined || hours === undefined) return config;
  if (!config) return { messages, minutes: hours * 60 };
  controls.invalid('limit_send_config', 'cannot stand beside send_limit_value');
  return undefined;
}

const unitMinutes = { MINUTES: 1, HOURS: 60, DAYS: 1_440 } as const;

function readSendConfig(config: RequestReader): Allowance | undefined {
  const isEnabled = config.flag('enabled') ?? false;
  const messages = config.integer('max_count', counts);
  const unit = config.choice('window_unit', ['MINUTES', 'HOURS', 'DAYS']);
  const maximum = (maxCapHours * 60) / unitMinutes[unit ?? 'MINUTES'];
  const value = config.integer('window_value', { minimum: 1, maximum });
  if (!isEnabled) {
    for (const name of ['max_count', 'window_value', 'window_unit'])
      if (!config.isAbsent(name)) config.invalid(name, 'needs enabled');
    return undefined;
  }
  for (const name of ['max_count', 'window_value', 'window_unit']) config.requires(name);
  if (messages === undefined || value === undefined || unit === undefined) return undefined;
  return { messages, minutes: value * unitMinutes[unit] };
}

function readQueue(controls: RequestReader): number | undefined {
  const isEnabled = controls.flag('queuing_enabled') ?? false;
  const hours = controls.integer('queue_duration', { minimum: 1, maximum: maxQueueHours });
  if (isEnabled) return hours ?? maxQueueHours;
  if (hours !== undefined) controls.invalid('queue_duration', 'needs queuing_enabled');
  return undefined;
}

/** Reads `advanced` (fact 6.2): time to live, priorities, and the target apps. */
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
    ...withoutAbsent<Pick<DeliverySettings, 'appIds'>>({ appIds: appIds.read(advanced, 'app_ids') }),
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
  // ACTIVE is the phone's default.
  const level = priority.text('interruption_level');
  if (level !== undefined && level.toUpperCase() !== 'ACTIVE')
    priority.invalid('interruption_level', `must be ACTIVE: others ${unavailable.replace('is', 'are')}`);
  if (priority.get('relevance_score') !== undefined && Number(priority.get('relevance_score')) !== 0)
    priority.invalid('relevance_score', `must be 0: others ${unavailable.replace('is', 'are')}`);
  return words[(found ?? '10') as keyof typeof words];
}

/** Reads `control_group_details` (fact 6.2): the users that the campaign leaves out, for comparison. */
export function readControlGroups(groups: RequestReader): ControlGroupSettings {
  const isEnabled = groups.flag('is_campaign_control_group_enabled') ?? false;
  const percent = groups.integer('campaign_control_group_percentage', { minimum: 0, maximum: 100 });
  const isGlobal = groups.flag('is_global_control_group_enabled') ?? false;
  if (isEnabled) groups.requires('campaign_control_group_percentage');
  else if (percent !== undefined && percent > 0)
    groups.invalid('campaign_control_group_percentage', 'needs is_campaign_control_group_enabled');
  return {
    ...(isEnabled && percent !== undefined && percent > 0 ? { controlGroupPercent: percent } : {}),
    ...(isGlobal ? { leavesOutGlobalControlGroup: true } : {}),
  };
}

export type ControlGroupSettings = Pick<DeliverySettings, 'controlGroupPercent' | 'leavesOutGlobalControlGroup'>;

/**
 * The apps that a campaign is for; whether they exist is checked in the database. Unlike other lists, an empty one never
 * counts as absent: the campaign would reach all users although no app was named.
 */
export const appIds = readWith<string[]>(
  list(text({ minLength: 1, maxLength: maxAppIdCharacters }), {
    minItems: 1,
    maxItems: maxNamedApps,
    description: 'Apps whose devices are reached; absent: all',
  }),
  (reader, name) => {
    const sent = reader.members[name];
    if (Array.isArray(sent) && sent.length === 0) reader.invalid(name, 'must name an app');
    return reader.texts(name, { maxItems: maxNamedApps, maxCharacters: maxAppIdCharacters });
  },
);
