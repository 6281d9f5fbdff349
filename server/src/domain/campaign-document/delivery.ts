import { inboxTargets } from '../inbox.ts';
import type { InboxSettings } from '../inbox.ts';
import { inboxExpiryHours, maxKeptInboxHours, maxInboxTagCharacters, maxInboxTags } from '../limits/inbox.ts';
import { maxTopicKeyCharacters } from '../limits/topics.ts';
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
import {
  flag,
  list,
  number,
  only,
  partOrEmpty,
  readWith,
  refused,
  text,
  texts,
  whole,
  word,
} from '../../fields/combinators.ts';
import { withoutAbsent } from '../../fields/field.ts';
import type { ReadMember } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';

const maxAppIdCharacters = 64;

const unitMinutes = { MINUTES: 1, HOURS: 60, DAYS: 1_440 } as const;
type Unit = keyof typeof unitMinutes;

const maxWindowMinutes = maxCapHours * 60;

const sendConfig = partOrEmpty(
  {
    enabled: flag('Default false'),
    max_count: whole(1, maxCapMessages, 'Messages of this campaign to a user'),
    window_value: whole(1, maxWindowMinutes, 'Number of units, at most 30 days'),
    window_unit: word(Object.keys(unitMinutes) as Unit[], 'MINUTES, HOURS or DAYS'),
  },
  {
    read(config, read): Allowance | undefined {
      const isEnabled = read('enabled') ?? false;
      const messages = read('max_count');
      const unit = read('window_unit');
      const maximum = maxWindowMinutes / unitMinutes[unit ?? 'MINUTES'];
      const value = config.integer('window_value', { minimum: 1, maximum });
      if (!isEnabled) {
        for (const name of ['max_count', 'window_value', 'window_unit'])
          if (!config.isAbsent(name)) config.invalid(name, 'needs enabled');
        return undefined;
      }
      for (const name of ['max_count', 'window_value', 'window_unit']) config.requires(name);
      if (messages === undefined || value === undefined || unit === undefined) return undefined;
      return { messages, minutes: value * unitMinutes[unit] };
    },
  },
);

const controlMembers = {
  bypass_dnd: flag('Default false'),
  count_for_frequency_capping: flag('Default: messages that respect the cap count'),
  ignore_frequency_capping: flag('Default false'),
  ignore_global_minimum_delay: flag('Default false'),
  send_message_in_offline_mode: only(false),
  queuing_enabled: flag('Queues messages that a cap, a delay or quiet hours hold back; default false'),
  queue_duration: whole(1, maxQueueHours, 'Maximum hours in the queue; default 48'),
  campaign_throttle_rpm: whole(1, maxDevicesPerMinute, 'Devices a minute'),
  minimum_delay_between_two_notification_in_hour: whole(1, maxCapHours, 'Between messages of this campaign'),
  max_time_to_show_message_of_same_camapign: refused(number),
  expiry_time_of_sync_data_in_hour: refused(number),
  send_limit_value: whole(1, maxCapMessages, 'V1: messages of this campaign to a user'),
  send_limit_granularity_in_hours: whole(1, maxCapHours, 'V1: within this many hours'),
  limit_send_config: sendConfig,
};
type ReadControl = ReadMember<typeof controlMembers>;

/**
 * `delivery_controls` (fact 6.2): the throttle, which of the workspace's caps, delay and quiet hours apply to the campaign
 * (docs/decisions/0018), its queue, and its send limit per user (docs/decisions/0046).
 */
export const deliveryControls = partOrEmpty(controlMembers, {
  title: 'CampaignDeliveryControls',
  read(controls, read) {
    read('send_message_in_offline_mode');
    read('max_time_to_show_message_of_same_camapign');
    read('expiry_time_of_sync_data_in_hour');
    const sendLimit = readSendLimit(controls, read);
    const queueHours = readQueue(controls, read);
    const ignoresCap = read('ignore_frequency_capping') ?? false;
    return {
      devicesPerMinute: read('campaign_throttle_rpm') ?? null,
      bypassesQuietHours: read('bypass_dnd') ?? false,
      ignoresCap,
      countsForCap: read('count_for_frequency_capping') ?? !ignoresCap,
      ignoresMinimumDelay: read('ignore_global_minimum_delay') ?? false,
      ownDelayHours: read('minimum_delay_between_two_notification_in_hour') ?? null,
      ...(sendLimit && { sendLimit }),
      ...(queueHours !== undefined && { queueHours }),
    };
  },
});

/** V1 has a number of messages and a number of hours, V5 an object that may be switched off. They mean the same. */
function readSendLimit(controls: RequestReader, read: ReadControl): Allowance | undefined {
  const messages = read('send_limit_value');
  const hours = read('send_limit_granularity_in_hours');
  if (messages !== undefined) controls.requires('send_limit_granularity_in_hours');
  if (hours !== undefined) controls.requires('send_limit_value');
  const config = read('limit_send_config');
  if (messages === undefined || hours === undefined) return config;
  if (!config) return { messages, minutes: hours * 60 };
  controls.invalid('limit_send_config', 'cannot be combined with send_limit_value');
  return undefined;
}

function readQueue(controls: RequestReader, read: ReadControl): number | undefined {
  const isEnabled = read('queuing_enabled') ?? false;
  const hours = read('queue_duration');
  if (isEnabled) return hours ?? maxQueueHours;
  if (hours !== undefined) controls.invalid('queue_duration', 'needs queuing_enabled');
  return undefined;
}

/** Undefined: the default time to live. */
const expiration = partOrEmpty(
  {
    expire_notification_after_value: whole(0, maxTtlMinutes / 60, 'At most seven days'),
    expire_notification_after_type: word(['HOUR', 'DAY'], 'HOUR or DAY'),
    remove_from_inbox_after_value: refused(number),
    remove_from_inbox_after_type: refused(),
  },
  {
    read(settings, read): number | undefined {
      read('remove_from_inbox_after_value');
      read('remove_from_inbox_after_type');
      const minutes = read('expire_notification_after_type') === 'DAY' ? unitMinutes.DAYS : unitMinutes.HOURS;
      const range = { minimum: 0, maximum: maxTtlMinutes / minutes };
      const value = settings.integer('expire_notification_after_value', range);
      return value === undefined ? undefined : value * minutes;
    },
  },
);

const iosPriorities = { '1': 1, '5': 5, '10': 10 } as const;
const othersUnavailable = unavailable.replace('is', 'are');

const iosPriority = partOrEmpty(
  {
    apns_priority: readWith<1 | 5 | 10>(text({ description: '1, 5 or 10' }), (priority, name) => {
      const sent = priority.get(name);
      if (sent === undefined) return undefined;
      const found = Object.entries(iosPriorities).find(([word]) => word === String(sent));
      if (found === undefined) priority.invalid(name, 'must be 1, 5 or 10');
      return found?.[1];
    }),
    // ACTIVE is the phone's default.
    interruption_level: readWith<never>(text({ description: 'ACTIVE' }), (priority, name) => {
      const level = priority.text(name);
      if (level !== undefined && level.toUpperCase() !== 'ACTIVE')
        priority.invalid(name, `must be ACTIVE: others ${othersUnavailable}`);
      return undefined;
    }),
    relevance_score: readWith<never>(whole(0, 0), (priority, name) => {
      if (priority.get(name) !== undefined && Number(priority.get(name)) !== 0)
        priority.invalid(name, `must be 0: others ${othersUnavailable}`);
      return undefined;
    }),
  },
  {
    read(_priority, read): 1 | 5 | 10 {
      const priority = read('apns_priority') ?? defaultDeliverySettings.iosPriority;
      read('interruption_level');
      read('relevance_score');
      return priority;
    },
  },
);

const androidPriority = partOrEmpty(
  { send_with_priority: word(['HIGH', 'NORMAL'], 'HIGH or NORMAL') },
  { read: (_priority, read) => read('send_with_priority') ?? defaultDeliverySettings.androidPriority },
);

const priorities = partOrEmpty(
  { android_specific_priority: androidPriority, ios_specific_priority: iosPriority },
  {
    read: (_priorities, read) => ({
      androidPriority: read('android_specific_priority'),
      iosPriority: read('ios_specific_priority'),
    }),
  },
);

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

/** The topic that users must be in; whether it exists is checked in the database. Like `appIds`, an empty text is never absent. */
const topicKey = readWith<string>(
  text({
    maxLength: maxTopicKeyCharacters,
    description: 'Key of a topic: users who are not in it are left out. Absent: none',
  }),
  (reader, name) => {
    const sent = reader.members[name];
    if (sent === '') reader.invalid(name, 'must name a topic');
    return sent === '' ? undefined : reader.text(name, maxTopicKeyCharacters);
  },
);

/** Whether messages are kept in the inbox of the app or site, as well as or instead of being pushed (decision 0102). */
const inbox = partOrEmpty(
  {
    send_to: word(
      ['PUSH', ...inboxTargets],
      'PUSH: no inbox, the default. INBOX: no push. BOTH: a push, and the inbox of every user. EITHER: a push, and the inbox of users whom no push reaches',
    ),
    inbox_expiry: whole(1, maxKeptInboxHours, `Hours for which the message can be read; default ${inboxExpiryHours}`),
    tags: texts({
      maxItems: maxInboxTags,
      maxCharacters: maxInboxTagCharacters,
      description: 'Apps can read the messages of one tag',
    }),
  },
  {
    title: 'CampaignInbox',
    read(inbox, read): InboxSettings | undefined {
      const sendTo = read('send_to') ?? 'PUSH';
      const expiryHours = read('inbox_expiry') ?? inboxExpiryHours;
      const tags = read('tags') ?? [];
      if (sendTo !== 'PUSH') return { sendTo, expiryHours, ...(tags.length > 0 && { tags: [...new Set(tags)] }) };
      for (const name of ['inbox_expiry', 'tags'])
        if (!inbox.isAbsent(name)) inbox.invalid(name, `needs send_to ${inboxTargets.join(', ')}`);
      return undefined;
    },
  },
);

/** `advanced` (fact 6.2): time to live, priorities, the target apps, the topic, and the inbox. */
export const advanced = partOrEmpty(
  { expiration_settings: expiration, platform_level_priority: priorities, app_ids: appIds, topic: topicKey, inbox },
  {
    title: 'CampaignAdvanced',
    read(_advanced, read): DeliverySettings & { topicKey: string | undefined } {
      const minutes = read('expiration_settings') ?? defaultDeliverySettings.ttlMinutes.ANDROID;
      return {
        ...defaultDeliverySettings,
        ttlMinutes: { ANDROID: minutes, IOS: minutes, WEB: minutes },
        ...read('platform_level_priority'),
        ...withoutAbsent<Pick<DeliverySettings, 'appIds' | 'inbox'>>({ appIds: read('app_ids'), inbox: read('inbox') }),
        topicKey: read('topic'),
      };
    },
  },
);

/** `control_group_details` (fact 6.2): the users that the campaign leaves out, for comparison. */
export const controlGroups = partOrEmpty(
  {
    is_campaign_control_group_enabled: flag('Default false'),
    campaign_control_group_percentage: whole(0, 100, 'Percent of its users that get no message'),
    is_global_control_group_enabled: flag("Excludes the workspace's control group; default false"),
  },
  {
    read(groups, read): Pick<DeliverySettings, 'controlGroupPercent' | 'leavesOutGlobalControlGroup'> {
      const isEnabled = read('is_campaign_control_group_enabled') ?? false;
      const percent = read('campaign_control_group_percentage');
      const isGlobal = read('is_global_control_group_enabled') ?? false;
      if (isEnabled) groups.requires('campaign_control_group_percentage');
      else if (percent !== undefined && percent > 0)
        groups.invalid('campaign_control_group_percentage', 'needs is_campaign_control_group_enabled');
      return {
        ...(isEnabled && percent !== undefined && percent > 0 ? { controlGroupPercent: percent } : {}),
        ...(isGlobal ? { leavesOutGlobalControlGroup: true } : {}),
      };
    },
  },
);
