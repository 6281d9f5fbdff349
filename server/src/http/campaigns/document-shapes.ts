import { Type } from 'typebox';
import {
  maxConversionWindowHours,
  maxNamedApps,
  maxCapHours,
  maxCapMessages,
  maxLimitedUsers,
  maxQueueHours,
  maxVariations,
  maxBestTimeHours,
  maxTriggerDelayDays,
} from '../../domain/limits/campaigns.ts';
import { flag, number, part, text, texts, tree, whole, named } from '../openapi/shapes.ts';
import { pushContent as push } from './push-content.ts';

const basicDetails = named(
  'CampaignBasicDetails',
  part({
    name: text(),
    platforms: Type.Optional(Type.Array(Type.String(), { description: 'ANDROID, IOS, WEB' })),
    platform_specific_details: part({
      android: part({ push_amp_plus_enabled: flag('false') }),
      ios: part({
        send_to_all_eligible_device: flag('true'),
        exclude_provisional_push_devices: flag('false'),
        send_to_only_provisional_push_enabled_devices: flag('false'),
      }),
    }),
    tags: texts(),
    team: text('Default Team'),
    business_event: text('Name of the event of a BUSINESS_EVENT_TRIGGERED campaign'),
    geofences: Type.Optional(Type.Array(Type.Unsafe<unknown>({}), { description: 'Refused' })),
    broadcast_live_activity_id: text('Refused'),
    send_to_triggered_platform_only: flag('false'),
  }),
);

const variations = named(
  'CampaignVariations',
  Type.Record(Type.String(), Type.Object({ push }), { description: 'variation_1, variation_2 …' }),
);

const campaignContent = named(
  'CampaignContent',
  part({
    locales: texts(),
    variation_details: part({
      no_of_variations: whole(1, maxVariations),
      distribution_type: text('MANUAL or SHERPA: learned'),
      sherpa_metric: text('CLICKS, or GOAL: the primary goal'),
      sherpa_minimum_percentage: whole(0, 50, 'What each variation gets at least'),
      manual_distribution_percentage: Type.Optional(
        Type.Record(Type.String(), Type.Integer({ minimum: 0, maximum: 100 }), {
          description: 'Percent of the users by variation, 100 together',
        }),
      ),
    }),
    content: Type.Optional(
      Type.Object(
        { push, default: Type.Optional(variations) },
        {
          additionalProperties: variations,
          description: '`push`, or `push` below each locale (`default` and language tags) and each variation',
        },
      ),
    ),
  }),
);

const periodicDetails = named(
  'CampaignPeriod',
  part({
    sending_frequency: text('DAILY, WEEKLY or MONTHLY'),
    repeat_frequency: whole(1, 365, 'Days; weeks up to 52, months up to 12'),
    no_of_occurences: whole(1, 1_000),
    repeat_on_date_of_month: Type.Optional(Type.Array(Type.Integer({ minimum: 1, maximum: 31 }))),
    repeat_on_days_of_week: Type.Optional(Type.Array(Type.String(), { description: 'MONDAY to SUNDAY' })),
    repeat_on_days_of_week_for_month: Type.Optional(
      Type.Array(Type.Object({ week_granularity: text('FIRST to FIFTH, or LAST'), repeat_on_days_of_week: texts() })),
    ),
  }),
);

/** The parts of a push campaign's record (fact 6.2). They document the fields and identify unknown ones. */
export const campaignPartShapes = {
  channel: Type.String({ description: 'PUSH' }),
  campaign_delivery_type: Type.String({
    description: 'ONE_TIME, PERIODIC, EVENT_TRIGGERED or BUSINESS_EVENT_TRIGGERED',
  }),
  basic_details: basicDetails,
  campaign_content: campaignContent,
  trigger_condition: named(
    'CampaignTrigger',
    part(
      {
        included_filters: tree('Filters of type actions: the events that start it'),
        secondary_included_filters: tree('Filters of type actions: what must be true from the event to the due time'),
        trigger_delay_type: text('ASAP or DELAY'),
        trigger_delay_value: whole(1, maxTriggerDelayDays * 1_440, 'With DELAY; at most 30 days'),
        trigger_delay_granularity: text('MINUTES, HOURS or DAYS'),
        trigger_relation: text('AFTER (default), or BEFORE with trigger_attr'),
        trigger_attr: text(
          'An attribute that says a time, of the event or else of its user; default: the time of the event',
        ),
        intelligent_delay_optimization: tree('Refused'),
      },
      'Of an EVENT_TRIGGERED campaign',
    ),
  ),
  segmentation_details: named(
    'CampaignAudience',
    part({
      is_all_user_campaign: flag(),
      included_filters: tree('As in filter segments'),
      excluded_filters: tree('As in filter segments'),
      send_campaign_to_opt_out_users: flag('false'),
    }),
  ),
  scheduling_details: named(
    'CampaignSchedule',
    part({
      delivery_type: text('ASAP, AT_FIXED_TIME, SEND_IN_USER_TIMEZONE or SEND_IN_BTS: at the best time of each user'),
      start_time: text('YYYY-MM-DDThh:mm:ss'),
      expiry_time: text('YYYY-MM-DDThh:mm:ss'),
      timezone: text('V5; default: the zone of the workspace. V1 is in UTC'),
      periodic_details: periodicDetails,
      bts_details: part({
        window_in_hours: whole(1, maxBestTimeHours, 'From the start; default 24'),
        if_best_time_is_unknown: text('SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND'),
        if_best_time_is_outside: text('SEND_AT_START (default), SEND_AT_END or DO_NOT_SEND'),
      }),
      user_timezone_details: part({
        send_if_user_timezone_has_passed: flag('Default false: not sent to them'),
      }),
    }),
  ),
  delivery_controls: named(
    'CampaignDeliveryControls',
    part({
      bypass_dnd: flag('Default false'),
      count_for_frequency_capping: flag('Default: what is not ignored counts'),
      ignore_frequency_capping: flag('Default false'),
      ignore_global_minimum_delay: flag('Default false'),
      send_message_in_offline_mode: flag('false'),
      queuing_enabled: flag('Whoever a cap, a delay or quiet hours hold back is sent to later; default false'),
      queue_duration: whole(1, maxQueueHours, 'Hours that they wait at most; default 48'),
      campaign_throttle_rpm: whole(1, 10_000_000, 'Devices a minute'),
      minimum_delay_between_two_notification_in_hour: whole(1, 720, 'Between messages of this campaign'),
      max_time_to_show_message_of_same_camapign: number('Refused'),
      expiry_time_of_sync_data_in_hour: number('Refused'),
      send_limit_value: whole(1, maxCapMessages, 'V1: messages of this campaign to a user'),
      send_limit_granularity_in_hours: whole(1, maxCapHours, 'V1: within so many hours'),
      limit_send_config: part({
        enabled: flag('Default false'),
        max_count: whole(1, maxCapMessages, 'Messages of this campaign to a user'),
        window_value: whole(1, maxCapHours * 60, 'Within so many units; 30 days at most'),
        window_unit: text('MINUTES, HOURS or DAYS'),
      }),
    }),
  ),
  advanced: named(
    'CampaignAdvanced',
    part({
      expiration_settings: part({
        expire_notification_after_value: whole(0, 168, 'At most seven days'),
        expire_notification_after_type: text('HOUR or DAY'),
        remove_from_inbox_after_value: number('Refused'),
        remove_from_inbox_after_type: text('Refused'),
      }),
      platform_level_priority: part({
        android_specific_priority: part({ send_with_priority: text('HIGH or NORMAL') }),
        ios_specific_priority: part({
          apns_priority: text('1, 5 or 10'),
          interruption_level: text('ACTIVE'),
          relevance_score: whole(0, 0),
        }),
      }),
      app_ids: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
          minItems: 1,
          maxItems: maxNamedApps,
          description: 'Apps whose devices are reached; absent: all',
        }),
      ),
    }),
  ),
  conversion_goal_details: named(
    'CampaignGoals',
    part({
      attribution_window_in_hours: whole(
        1,
        maxConversionWindowHours,
        'How long after a message an event counts; default 36',
      ),
      goals: Type.Optional(
        Type.Array(
          Type.Object({
            goal_name: text(),
            goal_event_name: text(),
            goal_event_attribute: tree('name, type, operator, value'),
            is_primary_goal: flag('The first goal'),
            revenue_attribute: text('The number attribute of the event that says what it brought'),
            revenue_currency: text('Three letters (ISO 4217); nothing is converted'),
          }),
        ),
      ),
    }),
  ),
  control_group_details: part({
    is_campaign_control_group_enabled: flag('Default false'),
    campaign_control_group_percentage: whole(0, 100, 'Of its users, who get nothing of it'),
    is_global_control_group_enabled: flag("Leaves the workspace's control group out; default false"),
  }),
  utm_params: tree('Refused'),
  campaign_audience_limit: named(
    'CampaignAudienceLimit',
    part({
      is_campaign_audience_limit_enabled: flag('Default: true where there is a limit'),
      limit: whole(1, maxLimitedUsers, 'Users to whom it is sent, each once a run; the others are left out'),
      frequency: text('TOTAL: in all runs together; INSTANCE: in each'),
      metric: text('SENT'),
      metrics: text('V1: SENT'),
    }),
  ),
  connector: Type.Optional(Type.Unsafe<unknown>({ description: 'Refused' })),
  sender_name: text('Refused'),
};
