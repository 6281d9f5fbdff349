/** What earlier calls of the walk said, and who makes them. */
export type Walk = {
  workspaceId: string;
  dbName: string;
  keys: { oauth: string; data: string; push: string; campaigns: string; app: string };
  /** Where the receiver of this walk stands: files, and callbacks. */
  receiver: string;
  /** So many hours after the start of the walk, as campaigns take times. */
  inHours(hours: number): string;
  /** The reply to the newest call of an operation. */
  said(operationId: string): any;
};

export type ExampleCall = {
  operationId: string;
  /** Of the path, the query and the headers, by their names. */
  parameters?: Record<string, string>;
  body?: unknown;
  /** Repeats the call until its reply is this: what it tells of takes a moment. */
  until?: (answer: any) => boolean;
};

const restock = { event_name: 'restocked', event_attributes: { price: 4.5 } };
const page = { request_id: 'executions-1', limit: 5, page: 1 };
const search = { request_id: 'search-1', limit: 10, page: 1, campaign_fields: { channels: ['PUSH'], name: 'Autumn' } };
const image = 'https://shop.example/icon.png';
const android = {
  template_type: 'BASIC',
  basic_details: { title: 'Autumn sale', message: 'Hello {{UserAttribute.u_fn}}', notification_channel: 'news' },
};
const content = { content: { push: { android } } };
const varied = {
  variation_details: {
    ...{ no_of_variations: 2, distribution_type: 'MANUAL' },
    manual_distribution_percentage: { variation_1: 50, variation_2: 50 },
  },
  content: { default: { variation_1: content.content, variation_2: content.content } },
};
const campaign = {
  channel: 'PUSH',
  campaign_delivery_type: 'ONE_TIME',
  created_by: 'ada@example.com',
  campaign_content: content,
  segmentation_details: { is_all_user_campaign: true },
};
/** V1 wants these parts even where they say nothing else. */
const v1Parts = {
  delivery_controls: { bypass_dnd: true },
  advanced: { platform_level_priority: { android_specific_priority: { send_with_priority: 'HIGH' } } },
};
const named = (name: string, more: object = {}) => ({
  basic_details: { name, platforms: ['ANDROID'], tags: ['autumn'], ...more },
});
const toAda = {
  targetPlatform: ['ANDROID'],
  targetAudience: 'User',
  targetUserAttributes: { attribute: 'USER_ATTRIBUTE_UNIQUE_ID', comparisonParameter: 'is', attributeValue: 'ada' },
  campaignDelivery: { type: 'soon' },
};
const link = { type: 'richlanding', value: 'https://shop.example/offer?id=7' };
const filters = {
  filter_operator: 'and',
  filters: [{ filter_type: 'user_attributes', name: 'city', data_type: 'string', operator: 'exists' }],
};
const testMeta = { identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_values: ['ada'] };
const identified = { user_identifier_type: 'customer_id', user_identifier_value: 'linus' };

/** One call of every operation in an order in which each is taken; what a later one needs an earlier one made. */
export function* exampleCalls(walk: Walk): Generator<ExampleCall> {
  yield { operationId: 'readLiveness' };
  yield { operationId: 'readReadiness', parameters: { verbose: '' } };
  yield* tokenCalls(walk);
  yield* dataCalls(walk);
  yield* appCalls();
  yield* topicCalls();
  yield* eventStreamCalls(walk);
  yield* journeyCalls(walk);
  yield* pushCalls(walk);
  yield* liveActivityCalls();
  yield { operationId: 'removeEventStream', parameters: { id: walk.said('createEventStream').data.event_stream.id } };
  yield* segmentCalls(walk);
  yield* businessEventCalls();
  yield* v5Calls(walk);
  yield* v1Calls(walk);
  yield* winnerCalls(walk);
  yield* reportCalls(walk);
  yield* installationCalls(walk);
  yield* sourceCalls();
  yield* sandboxCalls(walk);
}

function* sourceCalls(): Generator<ExampleCall> {
  const [userId, anonymousId, messageId] = ['hedy', 'visit-7', 'node-next-1772366400000-4f2a'];
  const properties = { url: 'https://shop.example/' };
  yield { operationId: 'sourcePage', body: { anonymousId, name: 'Home', properties } };
  yield {
    operationId: 'sourceIdentify',
    body: { userId, anonymousId, traits: { email: 'hedy@example.com', firstName: 'Hedy', plan: 'pro' } },
  };
  yield {
    operationId: 'sourceTrack',
    body: { messageId, userId, event: 'Order Completed', properties: { total: 30 } },
  };
  yield { operationId: 'sourceScreen', body: { userId, name: 'Cart' } };
  yield { operationId: 'sourceGroup', body: { userId, groupId: 'acme', traits: { name: 'Acme' } } };
  yield { operationId: 'sourceAlias', body: { userId, previousId: 'hedy@example.com' } };
  yield {
    operationId: 'sourceBatch',
    body: {
      batch: [
        { type: 'identify', userId, traits: { phone: '+43 1 5550100' } },
        { type: 'track', userId, event: 'Order Completed', properties: { total: 30 }, messageId },
      ],
    },
  };
}

function* installationCalls({ said }: Walk): Generator<ExampleCall> {
  const access = { web_origins: ['https://shop.example'], attributes: ['favourite_team'] };
  yield { operationId: 'putAppAccess', body: access };
  yield { operationId: 'addIdentityKey', body: { algorithm: 'HS256' } };
  yield { operationId: 'readAppAccess' };
  const secret = { 'Carillon-Installation-Secret': 'k'.repeat(43) };
  const installation_id = '6f1c1c0e-5d3a-4a43-9a39-1d0a4bb1c7f2';
  const one = { ...secret, id: installation_id };
  yield {
    operationId: 'registerInstallation',
    parameters: secret,
    body: {
      installation_id,
      platform: 'ANDROID',
      push_token: 'phone-of-ada',
      locale: 'de',
      time_zone: 'Europe/Berlin',
    },
  };
  yield { operationId: 'updateInstallation', parameters: one, body: { opted_in: true, app_version: '4.1' } };
  // The node is a sandbox: in production the token is required.
  yield { operationId: 'identifyInstallation', parameters: one, body: { user_id: 'ada' } };
  yield { operationId: 'setInstallationTopics', parameters: one, body: { topics: { offers: false } } };
  yield { operationId: 'readInstallationTopics', parameters: one };
  yield { operationId: 'readInstallationInbox', parameters: { ...one, limit: '10' } };
  yield { operationId: 'countInstallationInbox', parameters: one };
  yield { operationId: 'markInstallationInbox', parameters: one, body: { all: true, read: true } };
  yield { operationId: 'removeTopic', parameters: { topic: 'offers' } };
  yield {
    operationId: 'reportAppEvents',
    parameters: secret,
    body: {
      installation_id,
      events: [
        { id: 'event-0001', type: 'event', name: 'Opened', attributes: { screen: 'offers' } },
        { id: 'event-0002', type: 'set', attributes: { favourite_team: 'Kestrels' } },
      ],
    },
  };
  yield {
    operationId: 'reportAppReceipts',
    parameters: secret,
    body: { installation_id, receipts: [{ id: 'receipt-0001', token: 'of-no-message', type: 'shown' }] },
  };
  yield { operationId: 'logoutInstallation', parameters: one };
  yield { operationId: 'removeIdentityKey', parameters: { kid: said('addIdentityKey').kid } };
}

function* winnerCalls({ said }: Walk): Generator<ExampleCall> {
  const parameters = { id: said('createCampaignV1CoreServices').campaign_id };
  yield { operationId: 'nameCampaignWinner', parameters, body: { request_id: 'winner-1', variation: 'variation_2' } };
  yield { operationId: 'getCampaignWinner', parameters };
  yield { operationId: 'takeBackCampaignWinner', parameters };
}

function* reportCalls({ workspaceId, said }: Walk): Generator<ExampleCall> {
  yield {
    operationId: 'requestReportFile',
    parameters: { '*-APPKEY': workspaceId },
    body: {
      ...{ request_id: 'report-1', start_date: '2026-01-01', end_date: '2026-01-31' },
      ...{ attribution_type: 'CLICK_THROUGH', metric_type: 'TOTAL' },
    },
  };
  yield {
    operationId: 'listReportFiles',
    parameters: { '*-APPKEY': workspaceId },
    until: ({ report_files: [file] }) => file.state === 'READY',
  };
  const { file_name, signature: Signature } = said('requestReportFile');
  yield { operationId: 'readReportFile', parameters: { app_id: workspaceId, file_name, Signature } };
}

function* tokenCalls({ workspaceId, keys, said }: Walk): Generator<ExampleCall> {
  const client = { client_id: workspaceId, client_secret: keys.oauth };
  yield { operationId: 'generateToken', body: { grant_type: 'client_credentials', ...client } };
  const { refresh_token, access_token } = said('generateToken').data;
  const { client_id } = client;
  yield { operationId: 'refreshToken', body: { grant_type: 'refresh_token', client_id, refresh_token } };
  yield { operationId: 'revokeToken', body: { token: access_token, ...client } };
}

function* liveActivityCalls(): Generator<ExampleCall> {
  const contentState = { step: 2 };
  const order = { id: 'order-17' };
  yield {
    operationId: 'addLiveActivityTokens',
    parameters: order,
    body: { startTokens: ['c1'.repeat(32)], tokens: ['c2'.repeat(32)] },
  };
  yield {
    operationId: 'sendLiveActivityEvent',
    body: {
      ...{ activityId: order.id, event: 'start', attributesType: 'OrderAttributes', attributes: { order: '17' } },
      ...{ contentState, alert: { title: 'Order 17', body: 'On its way' }, priority: 10 },
    },
  };
  yield {
    operationId: 'readLiveActivity',
    parameters: order,
    until: ({ events }) => events[0].outcome === 'ACCEPTED',
  };
}

function* appCalls(): Generator<ExampleCall> {
  const courier = { app: 'courier' };
  yield {
    operationId: 'putApp',
    parameters: courier,
    body: {
      ...{ platform: 'ANDROID', name: 'Couriers', identifier: 'com.example.courier', mode: 'notification' },
      ...{ restrictPackage: true, defaults: { channel_id: 'orders', color: '#0a7d5a' } },
    },
  };
  yield { operationId: 'listApps' };
  yield { operationId: 'readApp', parameters: { ...courier, platform: 'ANDROID' } };
  yield { operationId: 'removeApp', parameters: { ...courier, platform: 'ANDROID' } };
}

function* topicCalls(): Generator<ExampleCall> {
  yield {
    operationId: 'createTopic',
    body: { key: 'offers', name: 'Offers', description: 'Sales, about once a week', default: 'opted_out', position: 1 },
  };
  yield { operationId: 'listTopics' };
  yield { operationId: 'readTopic', parameters: { topic: 'offers' } };
  yield { operationId: 'changeTopic', parameters: { topic: 'offers' }, body: { name: 'Offers and sales' } };
  yield { operationId: 'setUserTopics', parameters: { customer_id: 'ada' }, body: { topics: { offers: true } } };
  yield { operationId: 'readUserTopics', parameters: { customer_id: 'ada' } };
  yield { operationId: 'makePreferenceLink', parameters: { customer_id: 'ada' }, body: { days: 7 } };
}

function* eventStreamCalls({ receiver, said }: Walk): Generator<ExampleCall> {
  yield {
    operationId: 'createEventStream',
    body: { url: `${receiver}/events`, events: ['clicked'], user_attributes: ['city'] },
  };
  const { id } = said('createEventStream').data.event_stream;
  yield { operationId: 'changeEventStream', parameters: { id }, body: { device_attributes: ['platform', 'app_id'] } };
  yield { operationId: 'getEventStream', parameters: { id } };
  yield { operationId: 'listEventStreams' };
  yield { operationId: 'listDeadEventBatches', parameters: { id, limit: '10' } };
  yield { operationId: 'resendDeadEventBatches', parameters: { id }, body: {} };
}

function* journeyCalls({ said }: Walk): Generator<ExampleCall> {
  const id = () => said('createJourney').data.journey.id;
  const message = { platforms: ['ANDROID'], campaign_content: content };
  const graph = {
    entry: { type: 'api' },
    first_step: 'hello',
    steps: [
      { type: 'send', id: 'hello', message, next: 'two-days' },
      { type: 'wait', id: 'two-days', duration: { value: 2, unit: 'DAYS' }, next: null },
    ],
  };
  yield { operationId: 'createJourney', body: { name: 'Cart', graph } };
  yield { operationId: 'removeJourney', parameters: { id: id() } };
  yield { operationId: 'createJourney', body: { name: 'Welcome', graph } };
  yield { operationId: 'changeJourney', parameters: { id: id() }, body: { name: 'Welcome 2026' } };
  yield { operationId: 'validateJourney', parameters: { id: id() } };
  yield { operationId: 'publishJourney', parameters: { id: id() }, body: {} };
  yield { operationId: 'getJourney', parameters: { id: id() } };
  yield { operationId: 'listJourneys', parameters: { status: 'ACTIVE', limit: '10' } };
  const users = [{ customer_id: 'linus', attributes: { product: 'Lamp' } }];
  yield { operationId: 'enterJourney', parameters: { id: id() }, body: { users } };
  yield { operationId: 'readJourneyFigures', parameters: { id: id(), from: '2026-01-01' } };
  yield { operationId: 'listUsersAtStep', parameters: { id: id(), step: 'hello', limit: '10' } };
  yield { operationId: 'readJourneyHistory', parameters: { id: id(), customer_id: 'linus' } };
  for (const action of ['pause', 'resume', 'stop']) yield { operationId: `${action}Journey`, parameters: { id: id() } };
}

function* dataCalls({ workspaceId, keys }: Walk): Generator<ExampleCall> {
  const app = { app_id: workspaceId };
  const linus = { customer_id: 'linus' };
  const event = { type: 'event', ...linus, actions: [{ action: 'bought', attributes: { price: 4.5 } }] };
  yield {
    operationId: 'testConnection',
    parameters: { '*-APPKEY': workspaceId },
    body: { ...app, app_secret: keys.data },
  };
  yield {
    operationId: 'upsertCustomer',
    parameters: app,
    body: { type: 'customer', ...linus, attributes: { u_fn: 'Linus', city: 'Oslo' } },
  };
  const attributes = { platform: 'ANDROID', push_id: 'linus-token', model: 'Phone' };
  yield {
    operationId: 'upsertDevice',
    parameters: app,
    body: { type: 'device', ...linus, device_id: 'phone', attributes },
  };
  yield { operationId: 'trackEvents', parameters: { workspace_id: workspaceId }, body: event };
  yield {
    operationId: 'upsertCustomerByQuery',
    parameters: app,
    body: { type: 'customer', ...linus, attributes: { email: 'linus@example.com' } },
  };
  yield {
    operationId: 'upsertDeviceByQuery',
    parameters: app,
    body: { type: 'device', ...linus, device_id: 'phone', attributes },
  };
  yield { operationId: 'trackEventsByQuery', parameters: app, body: event };
  yield {
    operationId: 'importInBulkByQuery',
    parameters: app,
    body: { type: 'transition', elements: [event] },
  };
  const users = ['margaret', 'maggie', 'nobody'].map((customer_id) => ({ type: 'customer', customer_id }));
  yield {
    operationId: 'importInBulk',
    parameters: { workspace_id: workspaceId },
    body: { type: 'transition', elements: [...users, event] },
  };
  yield {
    operationId: 'blockDevices',
    parameters: app,
    body: { ...identified, action_type: 'block', reason: 'lost' },
  };
  const identifiers = [
    { identifier_type: 'customer_id', identifier: 'linus' },
    { identifier_type: 'customer_id', identifier: 'unknown' },
  ];
  yield { operationId: 'exportCustomers', parameters: app, body: { type: 'export_users', data: { identifiers } } };
  yield {
    operationId: 'mergeCustomers',
    parameters: app,
    body: { merge_data: [{ merged_user: 'maggie', retained_user: 'margaret' }] },
  };
  yield {
    operationId: 'deleteCustomer',
    parameters: app,
    body: { identity_type: 'customer_id', identity_value: 'nobody' },
  };
}

function* pushCalls({ workspaceId, said }: Walk): Generator<ExampleCall> {
  const message = { title: 'Your code', message: '4711', defaultAction: link };
  yield {
    operationId: 'sendPushV21',
    // The signature is computed by who makes the call.
    parameters: {
      'X-*-APPKEY': workspaceId,
      'X-*-PushAPI-Signature': '',
      'X-*-Query-Type': 'user',
      'Idempotency-Key': 'sign-in-4711',
    },
    body: { campaignName: 'Sign-in codes', ...toAda, payload: { ANDROID: message } },
  };
  yield {
    operationId: 'readInbox',
    parameters: { limit: '1', wait: '10000' },
    until: ({ messages }) => messages.length > 0,
  };
  yield { operationId: 'readCounters', until: ({ ANDROID }) => ANDROID?.accepted > 0 };
  const { svc_report_token: token, svc_click_proof: proof } = said('readInbox').messages[0].payload.data;
  yield { operationId: 'reportInteraction', body: { token, kind: 'impression', id: 'report-1' } };
  yield { operationId: 'followClick', parameters: { token: `${token}.${proof}`, to: link.value } };
  yield {
    operationId: 'sendPushV21Priority',
    parameters: { 'X-*-APPKEY': workspaceId, 'X-*-PushAPI-Signature': '', 'X-*-Query-Type': 'user' },
    body: { campaignName: 'Sign-in codes', ...toAda, payload: { ANDROID: message } },
  };
  yield {
    operationId: 'sendPushV2Priority',
    body: {
      ...{ appId: workspaceId, signature: '', campaignName: 'Sign-in codes' },
      ...{ ...toAda, payload: { ANDROID: message } },
    },
  };
  yield {
    operationId: 'sendPushV2',
    body: {
      appId: workspaceId,
      signature: '',
      campaignName: 'Autumn news',
      targetPlatform: ['ANDROID', 'IOS', 'WEB'],
      targetAudience: 'All Users',
      payload: {
        ANDROID: { title: 'Autumn', message: 'New in the shop' },
        IOS: { title: 'Autumn', message: 'New in the shop' },
        WEB: { title: 'Autumn', message: 'New in the shop', redirectURL: link.value, iconURL: image },
      },
      campaignDelivery: { type: 'later', date: '01/31/2099', time: '09:30 AM' },
      campaignTags: ['autumn'],
    },
  };
}

function* segmentCalls({ workspaceId, dbName, receiver, said }: Walk): Generator<ExampleCall> {
  const parameters = { '*-DBNAME': dbName };
  const file = { attribute_name: 'uid', attribute_type: 'string', file_url: `${receiver}/members.csv` };
  const name = 'Readers';
  yield {
    operationId: 'createFileSegment',
    parameters: { ...parameters, 'Idempotency-Key': 'readers-1' },
    body: { name, ...file, callback_url: `${receiver}/callback`, expiry_time: 30 },
  };
  for (const operationId of ['addUsersOfFile', 'removeUsersOfFile', 'replaceUsersByFile'])
    yield { operationId, parameters, body: { name, ...file } };
  yield { operationId: 'archiveSegment', parameters, body: { name } };
  yield { operationId: 'unarchiveSegment', parameters, body: { name } };
  const cities = { name: 'Cities', included_filters: filters };
  yield {
    operationId: 'createFilterSegment',
    parameters,
    body: cities,
  };
  const { id } = said('createFilterSegment').data;
  yield { operationId: 'listSegments', parameters: { ...parameters, name: cities.name } };
  yield {
    operationId: 'getSegment',
    parameters: { ...parameters, id },
    until: ({ data }) => data.status === 'READY',
  };
  const updated_by = 'ada@example.com';
  yield {
    operationId: 'changeFilterSegment',
    parameters: { ...parameters, id },
    body: { name: 'All cities', updated_by },
  };
  const cohort = { cohort_name: 'Buyers', cohort_id: 'c-1', members: [{ uid: 'ada' }] };
  yield {
    operationId: 'syncCohort',
    parameters: { '*-APPKEY': workspaceId },
    body: { action: 'add_members', partner: 'analytics', parameters: cohort },
  };
}

function* businessEventCalls(): Generator<ExampleCall> {
  const event_attributes = [{ attribute_name: 'price', attribute_data_type: 'float' }];
  yield {
    operationId: 'createBusinessEvent',
    body: { event_name: restock.event_name, event_attributes, created_by: 'ada@example.com' },
  };
  yield { operationId: 'listBusinessEvents', parameters: { limit: '5' } };
  yield { operationId: 'searchBusinessEventsV1', body: { event_names: [restock.event_name] } };
  yield { operationId: 'searchBusinessEvents', body: { event_names: [restock.event_name], limit: 5 } };
}

function* v5Calls({ workspaceId, inHours, said }: Walk): Generator<ExampleCall> {
  const parameters = { '*-APPKEY': workspaceId };
  const scheduling_details = { delivery_type: 'AT_FIXED_TIME', start_time: inHours(48) };
  yield {
    operationId: 'createCampaign',
    parameters,
    body: { request_id: 'draft-1', ...campaign, ...named('Autumn sale'), scheduling_details },
  };
  const { id } = said('createCampaign').data;
  const tags = { basic_details: { tags: ['autumn', 'sale'] } };
  yield {
    operationId: 'changeCampaign',
    parameters: { id },
    body: { request_id: 'draft-2', ...tags, updated_by: 'ada@example.com' },
  };
  yield { operationId: 'validateCampaign', parameters: { id } };
  yield {
    operationId: 'previewCampaign',
    body: { draft_id: id, identifier: 'USER_ATTRIBUTE_UNIQUE_ID', identifier_value: 'ada' },
  };
  yield {
    operationId: 'testCampaign',
    body: { request_id: 'test-1', draft_id: id, test_campaign_meta: testMeta },
  };
  yield {
    operationId: 'changeCampaignStatus',
    parameters: { id },
    body: { request_id: 'publish-1', action: 'PUBLISH' },
  };
  yield { operationId: 'getCampaign', parameters: { id } };
  yield { operationId: 'searchCampaigns', body: search };
  yield { operationId: 'listCampaignMeta', body: search };
  yield {
    operationId: 'explainDelivery',
    parameters: { id: said('sendPushV21').cid, customer_id: 'ada' },
    // A campaign ends shortly after its run.
    until: ({ data }) => data.campaign_status === 'SENT',
  };
  yield { operationId: 'readCampaignInbox', parameters: { id } };
}

/** Under both of its prefixes. */
function* v1Calls(walk: Walk): Generator<ExampleCall> {
  const { workspaceId, inHours, said } = walk;
  const parameters = { '*-APPKEY': workspaceId };
  const onEvent = {
    ...campaign,
    ...v1Parts,
    campaign_delivery_type: 'BUSINESS_EVENT_TRIGGERED',
    ...named('Back in the shop', { business_event: restock.event_name }),
    scheduling_details: { delivery_type: 'ASAP' },
  };
  yield { operationId: 'createCampaignV1', parameters, body: { request_id: 'live-1', ...onEvent } };
  yield { operationId: 'triggerBusinessEventV1', body: restock };
  yield {
    operationId: 'triggerBusinessEvent',
    body: { request_id: 'trigger-1', ...restock, triggered_by: 'ada@example.com' },
  };
  const daily = {
    ...campaign,
    ...v1Parts,
    campaign_delivery_type: 'PERIODIC',
    ...named('Daily news'),
    campaign_content: varied,
    scheduling_details: {
      delivery_type: 'AT_FIXED_TIME',
      start_time: inHours(1),
      expiry_time: inHours(240),
      periodic_details: { sending_frequency: 'DAILY', repeat_frequency: 1 },
    },
  };
  yield { operationId: 'createCampaignV1CoreServices', parameters, body: { request_id: 'live-2', ...daily } };
  for (const suffix of ['', 'CoreServices']) {
    const id = said(`createCampaignV1${suffix}`).campaign_id;
    const request = (name: string) => ({ request_id: `${name}${suffix}` });
    const changed = { ...request('change'), basic_details: { tags: ['autumn'] }, updated_by: 'ada@example.com' };
    yield { operationId: `changeCampaignV1${suffix}`, parameters: { ...parameters, id }, body: changed };
    // The daily one has to run when the clock is moved.
    const actions = suffix === '' ? ['PAUSE'] : ['PAUSE', 'RESUME'];
    for (const action of actions)
      yield {
        operationId: `changeCampaignStatusV1${suffix}`,
        parameters,
        body: { ...request(action.toLowerCase()), action, campaign_ids: [id] },
      };
    const test = { ...request('test'), channel: 'PUSH', ...named('Autumn sale'), campaign_content: content };
    yield {
      operationId: `testCampaignV1${suffix}`,
      parameters,
      body: { ...test, test_campaign_meta: testMeta },
    };
    yield { operationId: `listCampaignMetaV1${suffix}`, parameters, body: { ...search, ...request('meta') } };
    yield { operationId: `searchCampaignsV1${suffix}`, parameters, body: { ...search, ...request('search') } };
    yield {
      operationId: `readCampaignStats${suffix}`,
      parameters,
      body: {
        ...request('stats'),
        campaign_ids: [said('sendPushV21').cid],
        start_date: inHours(-48).slice(0, 10),
        end_date: inHours(0).slice(0, 10),
        attribution_type: 'TOTAL_CONVERSIONS',
        metric_type: 'TOTAL',
      },
    };
  }
}

function* sandboxCalls({ workspaceId, said }: Walk): Generator<ExampleCall> {
  const parameters = { '*-APPKEY': workspaceId };
  yield { operationId: 'setFaults', body: { fcm: { status: 503, count: 1 } } };
  yield { operationId: 'listRefusals' };
  yield { operationId: 'clearInbox' };
  yield { operationId: 'readClock' };
  yield { operationId: 'moveClock', body: { advanceSeconds: 7_200 }, until: ({ advancing }) => advancing === null };
  const parent = said('createCampaignV1CoreServices').campaign_id;
  const isSent = ({ executions }: { executions: { status: string }[] }): boolean => executions[0]?.status === 'SENT';
  yield {
    operationId: 'listExecutions',
    parameters: { parent_campaign_id: parent },
    body: page,
    until: ({ data }) => isSent(data),
  };
  for (const suffix of ['', 'CoreServices'])
    yield {
      operationId: `listExecutionsV1${suffix}`,
      parameters: { ...parameters, parent_id: parent },
      body: { ...page, request_id: `executions${suffix}` },
    };
  yield { operationId: 'openBrowserPage' };
  yield {
    operationId: 'registerBrowser',
    body: {
      customerId: 'linus',
      subscription: {
        endpoint: 'https://push.simulator.invalid/push/1a2b3c',
        // The receiver's key of RFC 8291 Appendix A.
        keys: {
          p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
          auth: 'BTBZMqHH6r4Tts7J_aSIgg',
        },
      },
    },
  };
  yield { operationId: 'resetSandbox' };
}
