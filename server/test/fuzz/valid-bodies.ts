import type { Caller } from './prepare-caller.ts';

/** What a valid request is made for: whose things there are to name, and a number that no other request has. */
export type BodyOptions = { caller: Caller; number: number };

const android = {
  template_type: 'BASIC',
  basic_details: { title: 'Hello {{UserAttribute.city}}', message: 'Text', notification_channel: 'news' },
};
const content = { content: { push: { android } } };
/** Two segments of the same filters are refused. */
const filters = (number: number): object => ({
  filter_operator: 'and',
  filters: [{ filter_type: 'user_attributes', name: `attribute_${number}`, data_type: 'string', operator: 'exists' }],
});
const testMeta = (caller: Caller): object => ({
  identifier: 'USER_ATTRIBUTE_UNIQUE_ID',
  identifier_values: [caller.customerIds[0]],
});
const dayMilliseconds = 86_400_000;

/** A time of the caller's clock, so many days from now, as campaigns take it. */
const inDays = ({ now }: Caller, days: number): string =>
  new Date(now.getTime() + days * dayMilliseconds).toISOString().slice(0, 19);

const schedules: readonly ((caller: Caller) => object)[] = [
  () => ({ scheduling_details: { delivery_type: 'ASAP' } }),
  (caller) => ({ scheduling_details: { delivery_type: 'AT_FIXED_TIME', start_time: inDays(caller, 2) } }),
  (caller) => ({
    campaign_delivery_type: 'PERIODIC',
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME',
      start_time: inDays(caller, 2),
      expiry_time: inDays(caller, 60),
      periodic_details: { sending_frequency: 'DAILY' },
    },
  }),
];

export const campaignBody = ({ caller, number }: BodyOptions): object => ({
  request_id: `r-${number}`,
  channel: 'PUSH',
  campaign_delivery_type: 'ONE_TIME',
  created_by: 'ada@example.com',
  basic_details: { name: `Campaign ${number}`, platforms: ['ANDROID'], tags: ['sale'] },
  campaign_content: content,
  segmentation_details: { is_all_user_campaign: true },
  ...schedules[number % schedules.length]!(caller),
  delivery_controls: { bypass_dnd: true },
  advanced: { platform_level_priority: { android_specific_priority: { send_with_priority: 'HIGH' } } },
});
/** Is sent when a business event comes. */
export const triggeredBody = (options: BodyOptions): object => ({
  ...(campaignBody(options) as Record<string, unknown>),
  campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
  basic_details: {
    name: `On event ${options.number}`,
    platforms: ['ANDROID'],
    business_event: options.caller.businessEvent,
  },
  scheduling_details: { delivery_type: 'ASAP' },
});
const changeBody = ({ number }: BodyOptions): object => ({
  request_id: `r-${number}`,
  updated_by: 'ada@example.com',
  campaign_content: content,
});
const testBody = ({ caller, number }: BodyOptions): object => ({
  request_id: `r-${number}`,
  channel: 'PUSH',
  basic_details: { name: `Test ${number}`, platforms: ['ANDROID'] },
  campaign_content: content,
  test_campaign_meta: testMeta(caller),
});
const fileBody = ({ caller, number }: BodyOptions): object => ({
  name: caller.fileSegment,
  attribute_name: 'uid',
  attribute_type: 'string',
  // Of a name that is nobody's (RFC 6761): it is accepted, and the fill fails.
  file_url: `https://files.invalid/${number}.csv`,
});
const statsBody = ({ caller, number }: BodyOptions): object => ({
  request_id: `r-${number}`,
  campaign_ids: [caller.liveCampaignId],
  start_date: inDays(caller, -3).slice(0, 10),
  end_date: inDays(caller, 0).slice(0, 10),
  attribution_type: number % 2 === 0 ? 'CLICK_THROUGH' : 'TOTAL_CONVERSIONS',
  metric_type: number % 2 === 0 ? 'TOTAL' : 'UNIQUE',
});
const searchBody = ({ number }: BodyOptions): object => ({
  request_id: `r-${number}`,
  limit: 10,
  page: 1,
  campaign_fields: { channels: ['PUSH'], name: 'a' },
});
const pageBody = ({ number }: BodyOptions): object => ({ request_id: `r-${number}`, limit: 5, page: 1 });
const eventName = ({ caller, number }: BodyOptions): object => ({
  request_id: `r-${number}`,
  event_name: caller.businessEvent,
  event_attributes: { price: 4.5 },
  triggered_by: 'ada@example.com',
});
const pushBody = ({ caller, number }: BodyOptions): object => ({
  appId: caller.workspaceId,
  campaignName: `Push ${number}`,
  requestType: 'push',
  targetPlatform: ['ANDROID', 'IOS', 'WEB'],
  ...(number % 3 === 0
    ? { targetAudience: 'All Users' }
    : {
        targetAudience: 'User',
        targetUserAttributes: {
          attribute: 'USER_ATTRIBUTE_UNIQUE_ID',
          comparisonParameter: 'is',
          attributeValue: 'ada',
        },
      }),
  payload: {
    ANDROID: { title: 'Title', message: 'Hello {{UserAttribute.city}}', defaultAction: clickAction },
    IOS: { title: 'Title', message: 'Text', defaultAction: clickAction },
    WEB: { title: 'Title', message: 'Text', redirectURL: clickAction.value, iconURL: 'https://shop.example/i.png' },
  },
  campaignDelivery: { type: 'soon' },
});
export const clickAction = { type: 'richlanding', value: 'https://shop.example/offer?id=7' };

/** A body that its route takes, by the route's name; of V1 also under its other prefix. */
export const validBodies: Record<string, (options: BodyOptions) => unknown> = {
  'POST /v2/transaction/sendpush': pushBody,
  'POST /v2.1/transaction/sendpush': pushBody,
  'POST /v1/customer/{app_id}': ({ number }) => ({
    type: 'customer',
    customer_id: `user ${number % 50}`,
    attributes: { city: 'Oslo', age: number % 90, since: '2026-01-01T00:00:00Z', tags: ['a', 'b'] },
  }),
  'POST /v1/device/{app_id}': ({ number }) => ({
    type: 'device',
    customer_id: `user ${number % 50}`,
    device_id: `device ${number % 60}`,
    attributes: { platform: 'ANDROID', push_id: `token-${number % 60}`, model: 'Phone', svc_push_opted: true },
  }),
  'POST /v1/event/{workspace_id}': ({ caller, number }) => ({
    type: 'event',
    customer_id: `user ${number % 50}`,
    actions: [
      { action: 'bought', attributes: { price: 4.5 }, platform: 'ANDROID', current_time: caller.now.toISOString() },
    ],
  }),
  'POST /v1/transition/{workspace_id}': ({ number }) => ({
    type: 'transition',
    elements: [{ type: 'customer', customer_id: `user ${number % 50}`, attributes: { city: 'Bern' } }],
  }),
  'POST /v1/devices/manage': ({ caller, number }) => ({
    user_identifier_type: 'customer_id',
    user_identifier_value: caller.customerIds[0],
    action_type: number % 2 === 0 ? 'block' : 'unblock',
    reason: 'lost',
  }),
  'POST /v1/customers/export': ({ caller }) => ({
    type: 'export_users',
    data: { identifiers: [{ identifier_type: 'customer_id', identifier: caller.customerIds[0] }] },
  }),
  'POST /v1/customer/merge': ({ caller: { customerIds } }) => ({
    merge_data: [{ merged_user: customerIds[1], retained_user: customerIds[0] }],
  }),
  'POST /v1/customer/delete': ({ caller: { customerIds } }) => ({
    identity_type: 'customer_id',
    identity_value: customerIds[2],
  }),
  'POST /v1/integrations/authentication': ({ caller }) => ({
    app_id: caller.workspaceId,
    app_secret: caller.keys.data,
    source: 'partner',
  }),
  'POST /v2/custom-segments/file-segment': (options) => ({
    ...fileBody(options),
    name: `Segment ${options.number}`,
    expiry_time: 30,
  }),
  'PUT /v2/custom-segments/file-segment/add-users': fileBody,
  'PUT /v2/custom-segments/file-segment/remove-users': fileBody,
  'PUT /v2/custom-segments/file-segment/replace': fileBody,
  'PATCH /v2/custom-segments/archive': ({ caller }) => ({ name: caller.fileSegment }),
  'PATCH /v2/custom-segments/unarchive': ({ caller }) => ({ name: caller.fileSegment }),
  'POST /v3/custom-segments': ({ number }) => ({ name: `Filter ${number}`, included_filters: filters(number) }),
  'PATCH /v3/custom-segments/{id}': ({ number }) => ({ name: `Filter ${number}`, included_filters: filters(number) }),
  'POST /v1/integrations/cohortsync': ({ caller, number }) => ({
    action: number % 2 === 0 ? 'add_members' : 'remove_members',
    partner: 'partner',
    parameters: { cohort_name: 'Cohort', cohort_id: 'c1', members: [{ uid: caller.customerIds[0] }] },
  }),
  'POST /v1/campaigns': campaignBody,
  'PATCH /v1/campaigns/{id}': changeBody,
  'POST /v1/campaigns/status': ({ caller, number }) => ({
    request_id: `r-${number}`,
    action: number % 2 === 0 ? 'PAUSE' : 'RESUME',
    campaign_ids: [caller.liveCampaignId],
  }),
  'POST /v1/campaigns/test': testBody,
  'POST /v1/campaigns/meta': searchBody,
  'POST /v1/campaigns/search': searchBody,
  'POST /v1/campaigns/{parent_id}/executions': pageBody,
  'POST /v5/campaigns': campaignBody,
  'POST /v5/campaigns/test': testBody,
  'POST /v5/campaigns/preview': ({ caller, number }) => ({
    request_id: `r-${number}`,
    channel: 'PUSH',
    campaign_content: content,
    identifier: 'USER_ATTRIBUTE_UNIQUE_ID',
    identifier_value: caller.customerIds[0],
  }),
  'PATCH /v5/campaigns/{id}': changeBody,
  'PATCH /v5/campaigns/{id}/status': ({ number }) => ({ action: number % 2 === 0 ? 'PAUSE' : 'RESUME' }),
  'POST /v5/campaigns/search': searchBody,
  'POST /v5/campaigns/meta': searchBody,
  'POST /v5/campaigns/{parent_campaign_id}/executions': pageBody,
  'POST /v1.0/business_event': ({ number }) => ({
    event_name: `event ${number}`,
    event_attributes: [{ attribute_name: 'price', attribute_data_type: 'float' }],
    created_by: 'ada@example.com',
  }),
  'POST /v1.0/business_event/trigger': eventName,
  'POST /v1.0/business_event/search': ({ caller }) => ({ event_names: [caller.businessEvent] }),
  'POST /v5/business-events/triggers': eventName,
  'POST /v5/business-events/search': ({ caller }) => ({ event_names: [caller.businessEvent], limit: 5 }),
  'POST /v1/campaign-stats': statsBody,
  'POST /v1/campaign-reports': statsBody,
  'POST /v1/live-activities': ({ number }) => ({
    ...{ activityId: `activity-${number % 50}`, event: 'update', contentState: { step: number } },
  }),
  'PUT /v1/live-activities/{id}/tokens': ({ number }) => ({ tokens: [`c1${String(number % 50).padStart(62, '0')}`] }),
  'PUT /v1/apps/{app}': ({ number }) => ({ platform: 'ANDROID', identifier: `com.example.app${number % 50}` }),
  'POST /v1/interactions': ({ caller, number }) => ({
    token: caller.reportToken,
    kind: 'impression',
    id: `report ${number}`,
  }),
  'POST /sandbox/clock': () => ({ reset: true }),
  'POST /sandbox/faults': () => ({}),
  'POST /sandbox/browser/devices': ({ caller, number }) => ({
    customerId: `user ${number % 50}`,
    subscription: caller.subscription,
  }),
};

/** The body of a route, undefined for one that is asked without. */
export function validBodyOf(name: string, options: BodyOptions): unknown {
  return validBodies[name.replace('/core-services/v1/', '/v1/')]?.(options);
}
