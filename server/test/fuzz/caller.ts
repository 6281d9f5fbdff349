import { createECDH, randomBytes } from 'node:crypto';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import type { Database } from '../../src/storage/database.ts';
import type { FuzzTarget } from './fuzz-routes.ts';

/** What a caller may know, so that requests get past the first look: credentials of each kind and names of things. */
export type Caller = {
  workspaceId: string;
  dbName: string;
  keys: { data: string; campaigns: string; push: string; oauth: string };
  accessToken: string;
  refreshToken: string;
  now: Date;
  customerIds: readonly [string, string, string];
  fileSegment: string;
  filterSegmentId: string;
  businessEvent: string;
  draftId: string;
  liveCampaignId: string;
  /** What came with a message to report it, and the proof for its link; of nothing while no message came. */
  reportToken: string;
  clickProof: string;
  subscription: object;
  /** Ids of things that are there, and of one that is not. */
  ids: readonly string[];
};

/** Puts right what hostile requests have changed, and makes anew what valid ones name. */
export async function prepareCaller(target: FuzzTarget, number: number): Promise<Caller> {
  const { url, database, workspaceId, keys } = target;
  const basic = (secret: string): string => `Basic ${Buffer.from(`${workspaceId}:${secret}`).toString('base64')}`;
  const post = async (path: string, { body, key }: { body: unknown; key?: string }): Promise<any> => {
    const headers = {
      'content-type': 'application/json',
      'svc-appkey': workspaceId,
      ...(key === undefined ? {} : { authorization: basic(key) }),
    };
    const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok || text.includes('"Fail"')) throw new Error(`${path}: ${answer.status} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  await post('/sandbox/clock', { body: { reset: true } });
  await post('/sandbox/faults', { body: {} });
  const form = { grant_type: 'client_credentials', client_id: workspaceId, client_secret: keys.oauth };
  const token = await fetch(`${url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { data } = (await token.json()) as { data: { access_token: string; refresh_token: string } };
  const [{ dbName, now }] = (await database`
    select db_name as "dbName", now() from workspaces where id = ${workspaceId}`) as unknown as [
    { dbName: string; now: Date },
  ];
  const customerIds = ['one', 'two', 'three'].map((name) => `${name} of ${number}`) as [string, string, string];
  const caller: Caller = {
    ...{ workspaceId, dbName, keys, now, customerIds },
    ...{ accessToken: data.access_token, refreshToken: data.refresh_token },
    fileSegment: `Segment of ${number}`,
    filterSegmentId: '',
    businessEvent: 'restocked',
    draftId: '',
    liveCampaignId: '',
    subscription: makeSubscription(),
    ...(await findReport(url)),
    ids: [],
  };
  for (const customerId of customerIds) {
    const user = { type: 'customer', customer_id: customerId, attributes: { city: 'Oslo' } };
    await post(`/v1/customer/${workspaceId}`, { body: user, key: keys.data });
    const device = { type: 'device', customer_id: customerId, device_id: customerId };
    const attributes = { platform: 'ANDROID', push_id: `token-${customerId.replaceAll(' ', '-')}` };
    await post(`/v1/device/${workspaceId}`, { body: { ...device, attributes }, key: keys.data });
  }
  return { ...caller, ...(await makeThings(target, { caller, number, post })) };
}

type Making = {
  caller: Caller;
  number: number;
  post: (path: string, sending: { body: unknown; key?: string }) => Promise<any>;
};

async function makeThings(
  { database, workspaceId, keys }: FuzzTarget,
  { caller, number, post }: Making,
): Promise<Partial<Caller>> {
  const make = (name: string, own: number): unknown => validBodyOf(`POST ${name}`, { caller, number: own });
  // Numbers that no request has; of three schedules this one and the next keep a campaign live.
  const own = 1_000_000_000 + 3 * number;
  const draft = await post('/v5/campaigns', { body: campaignBody({ caller, number: own }), key: keys.campaigns });
  const live = await post('/v1/campaigns', { body: campaignBody({ caller, number: own + 1 }), key: keys.campaigns });
  const filter = await post('/v3/custom-segments', { body: make('/v3/custom-segments', own), key: keys.data });
  if ((await countEvents(database, caller)) === 0) {
    const event = { ...(make('/v1.0/business_event', own) as object), event_name: caller.businessEvent };
    await post('/v1.0/business_event', { body: event, key: keys.campaigns });
    await post('/v1/campaigns', { body: triggeredBody({ caller, number: own + 2 }), key: keys.campaigns });
  }
  const fileSegmentId = await insertFileSegment(database, caller);
  const push = make('/v2/transaction/sendpush', own) as { campaignName: string };
  const signature = signPush({ appId: workspaceId, campaignName: push.campaignName, key: keys.push });
  await post('/v2/transaction/sendpush', { body: { ...push, signature } });
  const found = await database`
    (select id from campaigns where workspace_id = ${workspaceId} order by id desc limit 3)
    union all (select id from users where workspace_id = ${workspaceId} order by id limit 1)`;
  const made = {
    draftId: draft.data.id as string,
    liveCampaignId: live.campaign_id as string,
    filterSegmentId: (filter.data ?? filter).id as string,
  };
  const ids = [...Object.values(made), fileSegmentId, ...found.map((row) => row.id as string), 'f'.repeat(24)];
  return { ...made, ids };
}

async function countEvents(database: Database, { workspaceId, businessEvent }: Caller): Promise<number> {
  const rows = await database`
    select 1 from business_events where workspace_id = ${workspaceId} and name = ${businessEvent}`;
  return rows.length;
}

/** As a fill leaves it: no file is asked for. */
async function insertFileSegment(database: Database, { workspaceId, fileSegment, now }: Caller): Promise<string> {
  const id = randomBytes(12).toString('hex');
  await database`
    insert into segments (id, workspace_id, name, kind, state, source, attribute_name, attribute_type, version,
      user_count, created_by, created_at, updated_at)
    values (${id}, ${workspaceId}, ${fileSegment}, 'FILE', 'READY', 'API', 'uid', 'string', 1, 0, 'fuzz', ${now}, ${now})
    on conflict do nothing`;
  return id;
}

async function findReport(url: string): Promise<Pick<Caller, 'reportToken' | 'clickProof'>> {
  const { messages } = (await (await fetch(`${url}/sandbox/inbox?limit=1000`)).json()) as {
    messages: { platform: string; payload: { data?: Record<string, string> } }[];
  };
  const data = messages.find(({ platform, payload }) => platform === 'ANDROID' && payload.data?.svc_click_proof)
    ?.payload.data;
  return { reportToken: data?.svc_report_token ?? 'none', clickProof: data?.svc_click_proof ?? 'none' };
}

function makeSubscription(): object {
  const ecdh = createECDH('prime256v1');
  const p256dh = ecdh.generateKeys('base64url', 'uncompressed');
  return {
    endpoint: `https://push.simulator.invalid/push/${randomBytes(6).toString('hex')}`,
    keys: { p256dh, auth: randomBytes(16).toString('base64url') },
  };
}

/** What a valid request is made for: whose things there are to name, and a number that no other request has. */
type BodyOptions = { caller: Caller; number: number };

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

const campaignBody = ({ caller, number }: BodyOptions): object => ({
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
const triggeredBody = (options: BodyOptions): object => ({
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
const validBodies: Record<string, (options: BodyOptions) => unknown> = {
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
