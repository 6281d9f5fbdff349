import { describe, expect, test } from 'vitest';
import { defaultDeliverySettings } from '../../../src/domain/campaigns/delivery-settings.ts';
import { bodyWith, read } from './campaign-bodies.ts';
import type { Json } from './campaign-bodies.ts';
import { readCampaign } from '../../../src/domain/campaign-document/campaign.ts';

const event = { campaign_delivery_type: 'EVENT_TRIGGERED' };
const bought = { filter_operator: 'or', filters: [{ filter_type: 'actions', action_name: 'Bought' }] };
const onEvent = { ...event, trigger_condition: { included_filters: bought, trigger_delay_type: 'ASAP' } };
const onBusinessEvent = {
  campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
  'basic_details.business_event': 'Flight late',
};
const daily = {
  campaign_delivery_type: 'PERIODIC',
  scheduling_details: {
    delivery_type: 'AT_FIXED_TIME',
    start_time: '2026-03-10T10:00:00',
    expiry_time: '2026-04-10T10:00:00',
    periodic_details: { sending_frequency: 'DAILY' },
  },
};
const settings = defaultDeliverySettings;
const ttl = (minutes: number) => ({ ANDROID: minutes, IOS: minutes, WEB: minutes });
const controls = { ...settings, ignoresMinimumDelay: false };
const uid = {
  kind: 'attribute',
  name: 'uid',
  negate: false,
  dataType: 'string',
  test: { operator: 'exists' },
};
const group = (...filters: unknown[]) => ({ kind: 'group', operator: 'and', negate: false, filters });
const ofUsers = (...filters: unknown[]): Json => ({ filter_operator: 'and', filters });
const exists = { filter_type: 'user_attributes', name: 'uid', data_type: 'string', operator: 'exists' };
const segmentId = 'a'.repeat(24);
const inSegment = { filter_type: 'custom_segments', id: segmentId };

test('completes a minimal campaign with defaults', () => {
  expect(read({})).toMatchObject({
    told: [],
    deliveryType: 'ONE_TIME',
    unknownFields: [],
    basics: { name: 'Spring', tags: [], platforms: ['WEB'], businessEvent: undefined },
    definition: {
      name: 'Spring',
      tags: [],
      platforms: ['WEB'],
      businessEvent: undefined,
      deliveryType: 'ONE_TIME',
      variants: null,
      audience: { kind: 'all-users' },
      schedule: { kind: 'asap', timeZone: undefined },
      goals: [],
      settings: controls,
      trigger: undefined,
    },
  });
});

test('reports every missing part of an empty campaign, and no members of them', () => {
  const { faults, definition, deliveryType, basics } = readCampaign({});
  expect(faults).toEqual(
    [
      'channel',
      'campaign_delivery_type',
      'basic_details',
      'campaign_content',
      'segmentation_details',
      'scheduling_details',
    ].map((field) => ({ field, reason: 'missing' })),
  );
  expect({ definition, deliveryType }).toEqual({ definition: undefined, deliveryType: undefined });
  expect(basics).toEqual({ name: '', tags: [], platforms: [], businessEvent: undefined });
});

describe('a campaign (fact 6.2)', () => {
  test.each<[Json, Json]>([
    [{ 'basic_details.name': ' Spring ' }, { name: 'Spring' }],
    [{ 'basic_details.tags': ['a', 'b', 'a'] }, { tags: ['a', 'b'] }],
    [{ 'basic_details.team': 'Default Team', 'basic_details.platforms': ['web', 'WEB'] }, { platforms: ['WEB'] }],
    [{ 'basic_details.team': 'default' }, {}],
    [onBusinessEvent, { businessEvent: 'Flight late', deliveryType: 'BUSINESS_EVENT_TRIGGERED' }],
    [onEvent, { deliveryType: 'EVENT_TRIGGERED', trigger: { events: [{ eventName: 'Bought' }] } }],
    [
      {
        'basic_details.platform_specific_details': {
          android: { push_amp_plus_enabled: false },
          ios: {
            send_to_all_eligible_device: true,
            exclude_provisional_push_devices: false,
            send_to_only_provisional_push_enabled_devices: false,
          },
        },
        'basic_details.send_to_triggered_platform_only': false,
        'segmentation_details.send_campaign_to_opt_out_users': false,
        'delivery_controls.send_message_in_offline_mode': false,
      },
      {},
    ],

    [
      { segmentation_details: { included_filters: ofUsers(inSegment) } },
      { audience: { kind: 'segment', id: segmentId } },
    ],
    [
      { segmentation_details: { included_filters: ofUsers({ ...inSegment, negate: true }) } },
      {
        audience: {
          kind: 'filter',
          included: { filter: group({ kind: 'segment', id: segmentId, negate: true }) },
          excluded: undefined,
        },
      },
    ],
    [
      { segmentation_details: { included_filters: { ...ofUsers(inSegment), negate: true } } },
      { audience: { kind: 'filter', included: { filter: { negate: true } } } },
    ],
    [
      { segmentation_details: { included_filters: ofUsers(inSegment, exists) } },
      { audience: { kind: 'filter', included: { sent: ofUsers(inSegment, exists) } } },
    ],
    [
      { segmentation_details: { included_filters: ofUsers(exists) } },
      { audience: { kind: 'filter', included: { sent: ofUsers(exists), filter: group(uid) }, excluded: undefined } },
    ],
    [
      { segmentation_details: { included_filters: ofUsers(inSegment), excluded_filters: ofUsers(exists) } },
      {
        audience: {
          kind: 'filter',
          included: { sent: ofUsers(inSegment) },
          excluded: { sent: ofUsers(exists), filter: group(uid) },
        },
      },
    ],
    [
      { 'segmentation_details.excluded_filters': ofUsers(inSegment) },
      { audience: { kind: 'filter', included: { filter: group(uid) }, excluded: { sent: ofUsers(inSegment) } } },
    ],

    [
      { 'delivery_controls.campaign_throttle_rpm': 10_000_000 },
      { settings: { ...controls, devicesPerMinute: 10_000_000 } },
    ],
    [{ 'delivery_controls.bypass_dnd': true }, { settings: { ...controls, bypassesQuietHours: true } }],
    [
      { 'delivery_controls.ignore_frequency_capping': true },
      { settings: { ...controls, ignoresCap: true, countsForCap: false } },
    ],
    [
      { 'delivery_controls.ignore_frequency_capping': true, 'delivery_controls.count_for_frequency_capping': true },
      { settings: { ...controls, ignoresCap: true, countsForCap: true } },
    ],
    [{ 'delivery_controls.count_for_frequency_capping': false }, { settings: { ...controls, countsForCap: false } }],
    [{ 'delivery_controls.ignore_global_minimum_delay': true }, { settings }],
    [
      { 'delivery_controls.minimum_delay_between_two_notification_in_hour': 720 },
      { settings: { ...controls, ownDelayHours: 720 } },
    ],
    [
      { delivery_controls: { send_limit_value: 100, send_limit_granularity_in_hours: 720 } },
      { settings: { ...controls, sendLimit: { messages: 100, minutes: 43_200 } } },
    ],
    ...(
      [
        ['MINUTES', 43_200, 43_200],
        ['HOURS', 720, 43_200],
        ['DAYS', 30, 43_200],
        ['DAYS', 1, 1_440],
      ] as const
    ).map(([unit, value, minutes]): [Json, Json] => [
      {
        'delivery_controls.limit_send_config': { enabled: true, max_count: 1, window_value: value, window_unit: unit },
      },
      { settings: { ...controls, sendLimit: { messages: 1, minutes } } },
    ]),
    [{ 'delivery_controls.limit_send_config.enabled': false }, { settings: controls }],
    [{ 'delivery_controls.queuing_enabled': true }, { settings: { ...controls, queueHours: 48 } }],
    [{ delivery_controls: { queuing_enabled: true, queue_duration: 1 } }, { settings: { ...controls, queueHours: 1 } }],

    [
      { 'advanced.expiration_settings.expire_notification_after_value': 0 },
      { settings: { ...controls, ttlMinutes: ttl(0) } },
    ],
    [
      { 'advanced.expiration_settings.expire_notification_after_value': 168 },
      { settings: { ...controls, ttlMinutes: ttl(10_080) } },
    ],
    [
      {
        'advanced.expiration_settings': { expire_notification_after_value: 7, expire_notification_after_type: 'DAY' },
      },
      { settings: { ...controls, ttlMinutes: ttl(10_080) } },
    ],
    [
      { 'advanced.platform_level_priority.android_specific_priority.send_with_priority': 'normal' },
      { settings: { ...controls, androidPriority: 'NORMAL' } },
    ],
    ...[1, '5', 10].map((sent): [Json, Json] => [
      {
        'advanced.platform_level_priority.ios_specific_priority': {
          apns_priority: sent,
          interruption_level: 'Active',
          relevance_score: 0,
        },
      },
      { settings: { ...controls, iosPriority: Number(sent) } },
    ]),
    [{ 'advanced.app_ids': ['a', 'b'] }, { settings: { ...controls, appIds: ['a', 'b'] } }],

    [
      { control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 100 } },
      { settings: { ...controls, controlGroupPercent: 100 } },
    ],
    [
      { control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 0 } },
      { settings: controls },
    ],
    [{ 'control_group_details.campaign_control_group_percentage': 0 }, { settings: controls }],
    [
      { 'control_group_details.is_global_control_group_enabled': true },
      { settings: { ...controls, leavesOutGlobalControlGroup: true } },
    ],

    [
      { campaign_audience_limit: { limit: 1, frequency: 'TOTAL' } },
      { settings: { ...controls, audienceLimit: { users: 1, of: 'CAMPAIGN' } } },
    ],
    [
      {
        campaign_audience_limit: {
          is_campaign_audience_limit_enabled: true,
          limit: 9_999_999_999,
          frequency: 'INSTANCE',
          metric: 'SENT',
          metrics: 'SENT',
        },
      },
      { settings: { ...controls, audienceLimit: { users: 9_999_999_999, of: 'RUN' } } },
    ],
    [{ 'campaign_audience_limit.is_campaign_audience_limit_enabled': false }, { settings: controls }],
    [
      { ...onEvent, campaign_audience_limit: { limit: 5, frequency: 'TOTAL' } },
      { settings: { ...controls, audienceLimit: { users: 5, of: 'CAMPAIGN' } } },
    ],

    [
      {
        conversion_goal_details: {
          attribution_window_in_hours: 36,
          goals: [{ goal_name: 'G', goal_event_name: 'Bought', is_primary_goal: true }],
        },
      },
      { goals: [{ name: 'G', eventName: 'Bought' }] },
    ],
    [
      {
        conversion_goal_details: {
          attribution_window_in_hours: 144,
          goals: [
            {
              goal_name: 'G',
              goal_event_name: 'Bought',
              revenue_attribute: 'price',
              revenue_currency: 'EUR',
              goal_event_attribute: { name: 'city', type: 'string', operator: 'is', value: 'Rome' },
            },
            { goal_name: 'H', goal_event_name: 'Came', is_primary_goal: false, revenue_attribute: 'price' },
          ],
        },
      },
      {
        goals: [
          {
            name: 'G',
            eventName: 'Bought',
            attribute: { name: 'city', type: 'string', operator: 'is', value: 'Rome' },
            windowHours: 144,
            revenue: { attribute: 'price', currency: 'EUR' },
          },
          { name: 'H', eventName: 'Came', windowHours: 144, revenue: { attribute: 'price' } },
        ],
      },
    ],
    [{ utm_params: {}, connector: null, sender_name: '' }, {}],
  ])('has %j parsed as %j', (changes, definition) => {
    const { told, definition: found } = read(changes);
    expect(told).toEqual([]);
    expect(found).toMatchObject(definition);
    if (definition.settings) expect(found!.settings).toStrictEqual(definition.settings);
    if (definition.goals) expect(found!.goals).toStrictEqual(definition.goals);
  });

  test('reports unknown members of filters with their paths (decision D5)', () => {
    const tree = { ...ofUsers(exists), hue: 1 };
    const trigger = { ...onEvent.trigger_condition, included_filters: { ...bought, hue: 1 } };
    const changes = {
      ...event,
      trigger_condition: trigger,
      segmentation_details: { included_filters: tree, excluded_filters: tree },
    };
    expect(read(changes).unknownFields).toEqual([
      'segmentation_details.included_filters.hue',
      'segmentation_details.excluded_filters.hue',
      'trigger_condition.included_filters.hue',
    ]);
  });
});

const unavailable = 'is not available in this version';

describe('an invalid campaign (fact 6.2)', () => {
  test.each<[Json, string[]]>([
    [{ channel: 'EMAIL' }, ['channel: must be one of PUSH in this version, not "EMAIL"']],
    [
      { campaign_delivery_type: 'LOCATION_TRIGGERED' },
      [
        'campaign_delivery_type: must be one of ONE_TIME, PERIODIC, EVENT_TRIGGERED, BUSINESS_EVENT_TRIGGERED in this version, not "LOCATION_TRIGGERED"',
      ],
    ],
    [{ connector: 'x', sender_name: 'y' }, [`connector: ${unavailable}`, `sender_name: ${unavailable}`]],
    [{ utm_params: { utm_source: 'x' } }, ['utm_params.utm_medium: missing']],
    [{ trigger_condition: { a: 1 } }, ['trigger_condition: is for campaigns of type EVENT_TRIGGERED']],
    [event, ['trigger_condition: missing']],

    [{ 'basic_details.name': undefined }, ['basic_details.name: missing']],
    [{ 'basic_details.name': 'a'.repeat(257) }, ['basic_details.name: must have at most 256 characters']],
    [
      { 'basic_details.team': 'Blue Team' },
      ['basic_details.team: must be Default Team: other teams are not available in this version'],
    ],
    [
      { 'basic_details.team': 'default teams' },
      ['basic_details.team: must be Default Team: other teams are not available in this version'],
    ],
    [
      { 'basic_details.team': 'a default' },
      ['basic_details.team: must be Default Team: other teams are not available in this version'],
    ],
    [
      { 'basic_details.geofences': [1], 'basic_details.broadcast_live_activity_id': 'x' },
      [`basic_details.geofences: ${unavailable}`, `basic_details.broadcast_live_activity_id: ${unavailable}`],
    ],
    [
      { 'basic_details.send_to_triggered_platform_only': true },
      [`basic_details.send_to_triggered_platform_only: must be false: true ${unavailable}`],
    ],
    [
      {
        'basic_details.platform_specific_details': {
          android: { push_amp_plus_enabled: true },
          ios: {
            send_to_all_eligible_device: false,
            exclude_provisional_push_devices: true,
            send_to_only_provisional_push_enabled_devices: true,
          },
        },
      },
      [
        `android.push_amp_plus_enabled: must be false: true ${unavailable}`,
        `ios.send_to_all_eligible_device: must be true: false ${unavailable}`,
        `ios.exclude_provisional_push_devices: must be false: true ${unavailable}`,
        `ios.send_to_only_provisional_push_enabled_devices: must be false: true ${unavailable}`,
      ].map((told) => `basic_details.platform_specific_details.${told}`),
    ],
    [
      { 'basic_details.business_event': 'x' },
      ['basic_details.business_event: is for campaigns of type BUSINESS_EVENT_TRIGGERED'],
    ],
    [{ campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED' }, ['basic_details.business_event: missing']],
    [
      { 'basic_details.tags': Array.from({ length: 101 }, (_, tag) => `t${tag}`) },
      ['basic_details.tags: must be a list of at most 100 items'],
    ],
    [{ 'basic_details.platforms': ['WEB', 'TV'] }, ['basic_details.platforms: must hold only ANDROID, IOS, WEB']],
    [{ 'basic_details.platforms': undefined }, ['basic_details.platforms: missing']],
    [
      { 'basic_details.platforms': ['WEB', 'WEB', 'WEB', 'WEB'] },
      ['basic_details.platforms: must be a list of at most 3 items'],
    ],

    [{ segmentation_details: {} }, ['segmentation_details: missing']],
    [{ segmentation_details: { is_all_user_campaign: false } }, ['segmentation_details.included_filters: missing']],
    [
      { 'segmentation_details.included_filters': ofUsers(exists) },
      ['segmentation_details.included_filters: must be absent when is_all_user_campaign is true'],
    ],
    [
      { 'segmentation_details.excluded_filters': ofUsers() },
      ['segmentation_details.excluded_filters: is not a usable filter: filters must be a list of at least one filter'],
    ],
    [
      { 'segmentation_details.send_campaign_to_opt_out_users': true },
      [`segmentation_details.send_campaign_to_opt_out_users: must be false: true ${unavailable}`],
    ],

    [
      {
        delivery_controls: {
          send_message_in_offline_mode: true,
          max_time_to_show_message_of_same_camapign: 1,
          expiry_time_of_sync_data_in_hour: 1,
        },
      },
      [
        `delivery_controls.send_message_in_offline_mode: must be false: true ${unavailable}`,
        `delivery_controls.max_time_to_show_message_of_same_camapign: ${unavailable}`,
        `delivery_controls.expiry_time_of_sync_data_in_hour: ${unavailable}`,
      ],
    ],
    [
      { 'delivery_controls.campaign_throttle_rpm': 0 },
      ['delivery_controls.campaign_throttle_rpm: must be a whole number from 1 to 10000000'],
    ],
    [
      { 'delivery_controls.minimum_delay_between_two_notification_in_hour': 721 },
      ['delivery_controls.minimum_delay_between_two_notification_in_hour: must be a whole number from 1 to 720'],
    ],
    [
      { 'delivery_controls.minimum_delay_between_two_notification_in_hour': 0 },
      ['delivery_controls.minimum_delay_between_two_notification_in_hour: must be a whole number from 1 to 720'],
    ],
    [{ 'delivery_controls.send_limit_value': 1 }, ['delivery_controls.send_limit_granularity_in_hours: missing']],
    [{ 'delivery_controls.send_limit_granularity_in_hours': 1 }, ['delivery_controls.send_limit_value: missing']],
    [
      { delivery_controls: { send_limit_value: 101, send_limit_granularity_in_hours: 721 } },
      [
        'delivery_controls.send_limit_value: must be a whole number from 1 to 100',
        'delivery_controls.send_limit_granularity_in_hours: must be a whole number from 1 to 720',
      ],
    ],
    [
      {
        delivery_controls: {
          send_limit_value: 1,
          send_limit_granularity_in_hours: 1,
          limit_send_config: { enabled: true, max_count: 1, window_value: 1, window_unit: 'HOURS' },
        },
      },
      ['delivery_controls.limit_send_config: cannot be combined with send_limit_value'],
    ],
    [
      { 'delivery_controls.limit_send_config': { max_count: 1, window_value: 1, window_unit: 'HOURS' } },
      ['max_count', 'window_value', 'window_unit'].map(
        (name) => `delivery_controls.limit_send_config.${name}: needs enabled`,
      ),
    ],
    [
      { 'delivery_controls.limit_send_config': { enabled: true } },
      ['max_count', 'window_value', 'window_unit'].map(
        (name) => `delivery_controls.limit_send_config.${name}: missing`,
      ),
    ],
    [
      { 'delivery_controls.limit_send_config': { enabled: true, max_count: 0, window_value: 0, window_unit: 'DAYS' } },
      [
        'delivery_controls.limit_send_config.max_count: must be a whole number from 1 to 100',
        'delivery_controls.limit_send_config.window_value: must be a whole number from 1 to 30',
      ],
    ],
    [
      {
        'delivery_controls.limit_send_config': { enabled: true, max_count: 1, window_value: 721, window_unit: 'HOURS' },
      },
      ['delivery_controls.limit_send_config.window_value: must be a whole number from 1 to 720'],
    ],
    [
      { 'delivery_controls.limit_send_config': { enabled: true, max_count: 1, window_value: 1, window_unit: 'WEEKS' } },
      [
        'delivery_controls.limit_send_config.window_unit: must be one of MINUTES, HOURS, DAYS in this version, not "WEEKS"',
      ],
    ],
    [{ 'delivery_controls.queue_duration': 5 }, ['delivery_controls.queue_duration: needs queuing_enabled']],
    [
      { delivery_controls: { queuing_enabled: true, queue_duration: 49 } },
      ['delivery_controls.queue_duration: must be a whole number from 1 to 48'],
    ],
    [
      { delivery_controls: { queuing_enabled: true, queue_duration: 0 } },
      ['delivery_controls.queue_duration: must be a whole number from 1 to 48'],
    ],

    [
      { 'advanced.expiration_settings': { remove_from_inbox_after_value: 1, remove_from_inbox_after_type: 'DAY' } },
      [
        `advanced.expiration_settings.remove_from_inbox_after_value: ${unavailable}`,
        `advanced.expiration_settings.remove_from_inbox_after_type: ${unavailable}`,
      ],
    ],
    [
      { 'advanced.expiration_settings.expire_notification_after_value': 169 },
      ['advanced.expiration_settings.expire_notification_after_value: must be a whole number from 0 to 168'],
    ],
    [
      { 'advanced.expiration_settings': { expire_notification_after_value: 8, expire_notification_after_type: 'DAY' } },
      ['advanced.expiration_settings.expire_notification_after_value: must be a whole number from 0 to 7'],
    ],
    [
      { 'advanced.expiration_settings.expire_notification_after_type': 'WEEK' },
      [
        'advanced.expiration_settings.expire_notification_after_type: must be one of HOUR, DAY in this version, not "WEEK"',
      ],
    ],
    [
      { 'advanced.platform_level_priority.android_specific_priority.send_with_priority': 'LOW' },
      [
        'advanced.platform_level_priority.android_specific_priority.send_with_priority: must be one of HIGH, NORMAL in this version, not "LOW"',
      ],
    ],
    [
      {
        'advanced.platform_level_priority.ios_specific_priority': {
          apns_priority: 7,
          interruption_level: 'Critical',
          relevance_score: 0.5,
        },
      },
      [
        'apns_priority: must be 1, 5 or 10',
        'interruption_level: must be ACTIVE: others are not available in this version',
        'relevance_score: must be 0: others are not available in this version',
      ].map((told) => `advanced.platform_level_priority.ios_specific_priority.${told}`),
    ],
    [{ 'advanced.app_ids': [] }, ['advanced.app_ids: must name an app']],
    [
      { 'advanced.app_ids': Array.from({ length: 21 }, (_, app) => `a${app}`) },
      ['advanced.app_ids: must be a list of at most 20 items'],
    ],
    [{ 'advanced.app_ids': ['a'.repeat(65)] }, ['advanced.app_ids: must hold texts of 1 to 64 characters']],

    [
      { 'control_group_details.campaign_control_group_percentage': 1 },
      ['control_group_details.campaign_control_group_percentage: needs is_campaign_control_group_enabled'],
    ],
    [
      { 'control_group_details.is_campaign_control_group_enabled': true },
      ['control_group_details.campaign_control_group_percentage: missing'],
    ],
    [
      { control_group_details: { is_campaign_control_group_enabled: true, campaign_control_group_percentage: 101 } },
      ['control_group_details.campaign_control_group_percentage: must be a whole number from 0 to 100'],
    ],

    [
      { campaign_audience_limit: { limit: 0, frequency: 'TOTAL' } },
      ['campaign_audience_limit.limit: must be a whole number from 1 to 9999999999'],
    ],
    [{ campaign_audience_limit: { limit: 1 } }, ['campaign_audience_limit.frequency: missing']],
    [{ campaign_audience_limit: { frequency: 'TOTAL' } }, ['campaign_audience_limit.limit: missing']],
    [
      { campaign_audience_limit: { limit: 1, frequency: 'TOTAL', metric: 'OPENED', metrics: 'CLICKED' } },
      [
        'campaign_audience_limit.metric: must be one of SENT in this version, not "OPENED"',
        'campaign_audience_limit.metrics: must be one of SENT in this version, not "CLICKED"',
      ],
    ],
    [
      { campaign_audience_limit: { is_campaign_audience_limit_enabled: true } },
      ['campaign_audience_limit.limit: missing', 'campaign_audience_limit.frequency: missing'],
    ],
    [
      {
        campaign_audience_limit: {
          is_campaign_audience_limit_enabled: false,
          limit: 1,
          frequency: 'TOTAL',
          metric: 'SENT',
          metrics: 'SENT',
        },
      },
      ['limit', 'frequency', 'metric', 'metrics'].map(
        (name) => `campaign_audience_limit.${name}: needs is_campaign_audience_limit_enabled`,
      ),
    ],
    [
      { campaign_audience_limit: { metric: 'SENT' } },
      ['campaign_audience_limit.limit: missing', 'campaign_audience_limit.frequency: missing'],
    ],
    [
      { ...onEvent, campaign_audience_limit: { limit: 1, frequency: 'INSTANCE' } },
      ['campaign_audience_limit.frequency: must be TOTAL for a campaign of type EVENT_TRIGGERED'],
    ],

    [
      { 'conversion_goal_details.attribution_window_in_hours': 145 },
      ['conversion_goal_details.attribution_window_in_hours: must be a whole number from 1 to 144'],
    ],
    [
      { 'conversion_goal_details.attribution_window_in_hours': 0 },
      ['conversion_goal_details.attribution_window_in_hours: must be a whole number from 1 to 144'],
    ],
    [
      {
        'conversion_goal_details.goals': [
          {},
          { goal_name: 'a'.repeat(257), goal_event_name: 'a'.repeat(257), is_primary_goal: true },
          { goal_name: 'G', goal_event_name: 'E', revenue_currency: 'EUR' },
          { goal_name: 'G', goal_event_name: 'E', revenue_currency: 'Euro', revenue_attribute: 'p' },
          { goal_name: 'G', goal_event_name: 'E', goal_event_attribute: { name: 'a' } },
        ],
      },
      [
        '[0].goal_name: missing',
        '[0].goal_event_name: missing',
        '[1].is_primary_goal: must be false: the first goal is the primary one',
        '[1].goal_name: must have at most 256 characters',
        '[1].goal_event_name: must have at most 256 characters',
        '[2].revenue_currency: needs revenue_attribute',
        '[3].revenue_currency: must be a code of three letters (ISO 4217)',
        '[4].goal_event_attribute.type: missing',
        '[4].goal_event_attribute.operator: missing',
      ].map((told) => `conversion_goal_details.goals${told}`),
    ],
    [
      {
        'conversion_goal_details.goals': [
          {
            goal_name: 'G',
            goal_event_name: 'E',
            revenue_attribute: 'a'.repeat(257),
            revenue_currency: 'aEUR',
            goal_event_attribute: { type: 'date', operator: 'is', value: 1 },
          },
          {
            goal_name: 'G',
            goal_event_name: 'E',
            goal_event_attribute: { name: 'a', type: 'string', operator: 'near', value: 1 },
          },
          {
            goal_name: 'G',
            goal_event_name: 'E',
            goal_event_attribute: { name: 'a', type: 'string', operator: 'contains', value: true },
          },
        ],
      },
      [
        '[0].goal_event_attribute.name: missing',
        '[0].goal_event_attribute.type: must be one of string, numeric in this version, not "date"',
        '[0].revenue_attribute: must have at most 256 characters',
        '[0].revenue_currency: must be a code of three letters (ISO 4217)',
        '[0].revenue_currency: needs revenue_attribute',
        '[1].goal_event_attribute.operator: OPERATORS',
        '[2].goal_event_attribute.value: must be a text',
      ].map((told) => `conversion_goal_details.goals${told}`),
    ],
    [
      { 'conversion_goal_details.goals': Array(6).fill({ goal_name: 'G', goal_event_name: 'E' }) },
      ['conversion_goal_details.goals: must be a list of at most 5 items'],
    ],
  ])('has %j', (changes, told) => {
    const { told: found, definition } = read(changes);
    expect(found.map((one) => one.replace(/operator: must be one of .*/, 'operator: OPERATORS'))).toEqual(told);
    expect(definition).toBeUndefined();
  });

  test('reports only the part if a part is missing', () => {
    expect(readCampaign({ ...bodyWith({}), basic_details: undefined }).faults).toEqual([
      { field: 'basic_details', reason: 'missing' },
    ]);
    expect(read({ ...daily, 'scheduling_details.periodic_details': undefined }).told).toEqual([
      'scheduling_details.periodic_details: missing',
    ]);
  });
});
