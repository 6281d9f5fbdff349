import { createECDH, randomBytes } from 'node:crypto';
import type { Database } from '../../src/storage/database.ts';
import { signPush } from '../../src/domain/crypto/signatures.ts';
import { campaignBody, triggeredBody, validBodyOf } from './valid-bodies.ts';
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
