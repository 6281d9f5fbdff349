import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createKey } from '../../src/app/keys/keys.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { startCarillonBundle } from '../carillon-bundle.ts';
import type { CarillonBundle } from '../carillon-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

type Kind = 'data' | 'campaigns' | 'push' | 'oauth';
type Operation = { method: string; path: string; tags: string[]; parameters: { name: string; in: string }[] };

const canary = 'zq-canary-zq';
const secretOfVictim = { customer: `${canary}-customer`, push: `${canary}-token`, segment: `${canary} segment` };

let bundle: CarillonBundle;
let operations: Operation[];
/** Ids of the victim's things, by what they are. */
let victim: Record<'workspace' | 'campaign' | 'segment' | 'user' | 'device' | 'run', string>;
let intruder: { workspaceId: string; headers: Record<string, string>[] };

beforeAll(async () => {
  bundle = await startCarillonBundle();
  operations = await readOperations();
  victim = await seedVictim();
  intruder = await makeIntruder();
});
afterAll(() => bundle?.stop());

async function readOperations(): Promise<Operation[]> {
  const { paths } = (await bundle.call('GET', '/openapi.json')).json() as {
    paths: Record<string, Record<string, { tags?: string[]; parameters?: Operation['parameters'] }>>;
  };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { tags = [], parameters = [] }]) => ({
      method: method.toUpperCase(),
      path,
      tags,
      parameters,
    })),
  );
}

async function seedVictim(): Promise<typeof victim> {
  const { workspaceId, database } = bundle;
  const headers = bundle.basic();
  const post = async (path: string, body: unknown, more: Record<string, string> = {}) => {
    const answer = await bundle.call('POST', path, { headers: { ...headers, ...more }, body });
    expect([path, answer.status, answer.text]).toEqual([path, 200, answer.text]);
  };
  const customer_id = secretOfVictim.customer;
  await post(`/v1/customer/${workspaceId}`, {
    type: 'customer',
    customer_id,
    attributes: { u_em: `${canary}@example.com` },
  });
  await post(`/v1/device/${workspaceId}`, {
    type: 'device',
    customer_id,
    device_id: `${canary}-device`,
    attributes: { platform: 'ANDROID', push_id: secretOfVictim.push },
  });
  await post(`/v1/event/${workspaceId}`, { type: 'event', customer_id, actions: [{ action: canary }] });
  const cohort = { cohort_name: secretOfVictim.segment, cohort_id: canary, members: [{ uid: customer_id }] };
  await post(
    '/v1/integrations/cohortsync',
    { action: 'add_members', partner: canary, parameters: cohort },
    { 'svc-appkey': workspaceId },
  );
  const sent = await bundle.push({
    campaignName: `${canary} campaign`,
    targetAudience: 'All Users',
    targetPlatform: ['ANDROID'],
    payload: { ANDROID: { title: canary, message: canary } },
    campaignDelivery: { type: 'later', date: '01/01/2099', time: '10:00 AM' },
  });
  const find = async (rows: PromiseLike<readonly unknown[]>) => ((await rows)[0] as { id: string }).id;
  return {
    workspace: workspaceId,
    campaign: (sent.json() as { cid: string }).cid,
    segment: await find(database`select id from segments where name = ${secretOfVictim.segment}`),
    user: await find(database`select id from users where customer_id = ${customer_id}`),
    device: await find(database`select id from devices where push_id = ${secretOfVictim.push}`),
    run: 'f'.repeat(24),
  };
}

/** Somebody with every kind of credential, of another workspace. */
async function makeIntruder(): Promise<typeof intruder> {
  const { database } = bundle;
  const at = new Date('2026-01-01T00:00:00Z');
  const workspaceId = await insertTestWorkspace(database, at);
  const encryption = makeEncryption(Buffer.alloc(32, 1));
  const headers: Record<string, string>[] = [];
  for (const kind of ['data', 'campaigns', 'push', 'oauth'] as Kind[]) {
    const { secret } = await createKey({ encryption }, database, { workspaceId, kind, name: kind, at });
    const authorization =
      kind === 'oauth'
        ? `Bearer ${await fetchToken(workspaceId, secret)}`
        : `Basic ${Buffer.from(`${workspaceId}:${secret}`).toString('base64')}`;
    // With the header that names a workspace telling the truth, and not.
    for (const named of [workspaceId, victim.workspace])
      headers.push({ authorization, 'svc-appkey': named, 'x-svc-appkey': named });
  }
  return { workspaceId, headers };
}

async function fetchToken(workspaceId: string, secret: string): Promise<string> {
  const form = { grant_type: 'client_credentials', client_id: workspaceId, client_secret: secret };
  const answer = await fetch(`${bundle.url}/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) });
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** All rows of the victim in every table, but the log of calls and when its keys were used. */
async function readVictim(): Promise<Record<string, string[]>> {
  const { database } = bundle;
  const tables = await database`
    select relname as name from pg_attribute join pg_class on pg_class.oid = attrelid
    join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = 'public' and relkind = 'r' and attname = 'workspace_id' and relname <> 'api_log' order by 1`;
  const rows: Record<string, string[]> = {};
  for (const { name } of tables) {
    const found = await database`
      select (to_jsonb(given) - 'last_used_at')::text as text from ${database(name as string)} as given
      where workspace_id = ${victim.workspace} order by 1`;
    rows[name as string] = found.map((row) => row.text as string);
  }
  return rows;
}

const identity = { identity_type: 'customer_id', identity_value: secretOfVictim.customer };
const identifiers = () => [
  { identifier_type: 'customer_id', identifier: secretOfVictim.customer },
  { identifier_type: 'id', identifier: victim.user },
];
/** Bodies that would read, change or remove the victim's person, by the last words of the path. */
/** The routes that name the workspace in the path accept it in the query, too. */
const bodies = (): Record<string, unknown[]> => {
  const inPath = bodiesInPath();
  const inQuery = Object.entries(inPath).flatMap(([route, sent]) =>
    /\/\{\w+\}$/.test(route) ? [[route.replace(/\/\{\w+\}$/, ''), sent] as const] : [],
  );
  return { ...inPath, ...Object.fromEntries(inQuery) };
};

const bodiesInPath = (): Record<string, unknown[]> => ({
  'POST /v1/customer/{app_id}': [
    {
      type: 'customer',
      customer_id: secretOfVictim.customer,
      update_existing_only: true,
      attributes: { stolen: true },
    },
  ],
  'POST /v1/device/{app_id}': [
    {
      type: 'device',
      customer_id: secretOfVictim.customer,
      device_id: `${canary}-device`,
      attributes: { platform: 'ANDROID', push_id: secretOfVictim.push },
    },
  ],
  'POST /v1/event/{workspace_id}': [
    { type: 'event', customer_id: 'intruder', device_id: `${canary}-device`, actions: [{ action: 'Stolen' }] },
  ],
  'POST /v1/transition/{workspace_id}': [
    {
      type: 'transition',
      elements: [
        { type: 'customer', customer_id: secretOfVictim.customer, update_existing_only: true, attributes: {} },
      ],
    },
  ],
  'POST /v1/devices/manage': [
    { user_identifier_type: 'customer_id', user_identifier_value: secretOfVictim.customer, action_type: 'block' },
    { user_identifier_type: 'id', user_identifier_value: victim.user, action_type: 'block' },
  ],
  'POST /v1/customers/export': [{ data: { identifiers: identifiers() } }],
  'POST /v1/customer/merge': [
    { merge_data: [{ merged_user: secretOfVictim.customer, retained_user: 'intruder' }] },
    { merge_data: [{ merged_user: 'intruder', retained_user: secretOfVictim.customer }] },
  ],
  'POST /v1/customer/delete': [identity, { identity_type: 'id', identity_value: victim.user }],
  'POST /v1/integrations/authentication': [
    { app_id: victim.workspace, app_secret: 'x' },
    { app_id: intruder.workspaceId, app_secret: bundle.keys.data },
  ],
});

async function forgetLimits(): Promise<void> {
  const { database } = bundle;
  await database`delete from limit_windows`;
  await database`delete from limit_marks where workspace_id = ${intruder.workspaceId}`;
  await database`delete from limit_counters where workspace_id = ${intruder.workspaceId}`;
}

type Sent = { method: string; path: string; headers: Record<string, string>; body?: unknown };
/** Sends a call and looks at its answer: nothing of the victim, no success with the victim's name, no fault of ours. */
async function send({ method, path, headers, body }: Sent): Promise<number> {
  const call = () => bundle.call(method, path, { headers, ...(body === undefined ? {} : { body }) });
  let answer = await call();
  if (answer.status === 429) {
    // A limit would hide what is behind it.
    await forgetLimits();
    answer = await call();
  }
  const what = `${method} ${path} ${answer.status} ${answer.text}`;
  expect(answer.status, what).toBeLessThan(500);
  // What the intruder wrote itself may come back; the victim's own data must not.
  const own = JSON.stringify(body ?? {});
  for (const secret of [`${canary}@example.com`, secretOfVictim.push, secretOfVictim.segment, `${canary} campaign`])
    if (!own.includes(secret)) expect(answer.text, what).not.toContain(secret);
  return answer.status;
}

const urlOf = (path: string, values: Record<string, string>): string =>
  path.replace(/\{([^}]+)\}/g, (_whole, name: string) => encodeURIComponent(values[name]!));

test('every route of the data family, in the name of either workspace, reads and writes nothing of another’s', async () => {
  const documented = operations.filter(({ tags }) => tags.includes('Data'));
  expect(documented.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(Object.keys(bodies()).sort());
  await bundle.database`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    values (${intruder.workspaceId}, 48, 'eeeeeeeeeeeeeeeeeeeeeeee', 'intruder', '2026-01-01', '2026-01-01')`;
  const before = await readVictim();
  for (const { method, path, parameters } of documented) {
    for (const named of [victim.workspace, intruder.workspaceId]) {
      const values = { app_id: named, workspace_id: named };
      const query = parameters.some((parameter) => parameter.in === 'query') ? `?app_id=${named}` : '';
      for (const body of bodies()[`${method} ${path}`]!) {
        for (const headers of intruder.headers) {
          const status = await send({ method, path: `${urlOf(path, values)}${query}`, headers, body });
          if (named === victim.workspace && /\{|\?/.test(`${path}${query}`)) expect([401, 403, 409]).toContain(status);
        }
      }
    }
  }
  expect(await readVictim()).toEqual(before);
});

describe('every documented route with an id in its path', () => {
  test('answers another workspace’s credentials as if the thing were not there, and changes nothing', async () => {
    const withId = operations.filter(({ path }) => path.includes('{') && !path.startsWith('/sandbox'));
    expect(withId.length).toBeGreaterThan(8);
    const before = await readVictim();
    const answered = new Map<string, Set<number>>();
    for (const { method, path } of withId) {
      const statuses = new Set<number>();
      for (const id of Object.values(victim)) {
        const values = new Proxy({} as Record<string, string>, { get: () => id });
        for (const headers of intruder.headers) {
          const body = method === 'GET' ? undefined : { request_id: 'r', type: 'customer', limit: 10, page: 1 };
          statuses.add(await send({ method, path: urlOf(path, values), headers, body }));
        }
      }
      answered.set(`${method} ${path}`, statuses);
    }
    for (const [route, statuses] of answered)
      for (const status of statuses)
        expect([route, [400, 401, 403, 404, 409].includes(status), status]).toEqual([route, true, status]);
    expect(await readVictim()).toEqual(before);
    // Of some thousand requests.
  }, 240_000);

  test('the same ids are there for their owner, so that the walk above proves something', async () => {
    const campaign = await bundle.call('GET', `/v5/campaigns/${victim.campaign}`, {
      headers: bundle.basic(bundle.keys.campaigns),
    });
    const segment = await bundle.call('GET', `/v3/custom-segments/${victim.segment}`, {
      headers: { ...bundle.basic(), 'svc-appkey': bundle.workspaceId },
    });
    expect([campaign.status, segment.status]).toEqual([200, 200]);
    expect(campaign.text).toContain(canary);
    expect(segment.text).toContain(canary);
  });
});

test('the secret of an OAuth key is no password: every route that takes Basic refuses it (decision D20)', async () => {
  const walked = operations.filter(
    ({ tags, path }) =>
      !['Tokens', 'Push', 'Interactions', 'Sandbox', 'Health', 'Apps of phones and sites', 'Segment source'].includes(
        tags[0]!,
      ) &&
      // Its credential is the signature of the file (fact 7).
      !path.startsWith('/campaign_reports/'),
  );
  expect(walked.length).toBeGreaterThan(50);
  const named = { 'svc-appkey': bundle.workspaceId, 'x-svc-appkey': bundle.workspaceId };
  const values = new Proxy({} as Record<string, string>, { get: () => bundle.workspaceId });
  for (const { method, path } of walked) {
    // This one takes the secret in the body.
    const body = path.endsWith('/authentication') ? { app_id: bundle.workspaceId, app_secret: bundle.keys.oauth } : {};
    const { status } = await bundle.call(method, urlOf(path, values), {
      headers: { ...bundle.basic(bundle.keys.oauth), ...named },
      ...(method === 'GET' ? {} : { body }),
    });
    // V1 of campaigns and of business events documents no 403 (fact 0.1).
    const isV1 = /^(\/core-services)?\/v1(\.0)?\/(campaigns|business_event)/.test(path);
    expect([method, path, status]).toEqual([method, path, isV1 ? 401 : 403]);
  }
});
