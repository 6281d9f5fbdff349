import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCarillonBundle } from '../../server/test/carillon-bundle.ts';
import type { CarillonBundle } from '../../server/test/carillon-bundle.ts';
import { openSignedInClient } from '../../server/test/console/signed-in-client.ts';
import { hostsOfDataCenter, makeCallbackReceiver, makeCarillonClient, signPushV2 } from '../src/index.ts';
import type { CarillonClientOptions, CarillonError, CarillonFault } from '../src/index.ts';
import { signPushV2 as signOnServer } from '../../server/src/domain/crypto/signatures.ts';

let bundle: CarillonBundle;
let dbName: string;
beforeAll(async () => {
  // The receiver of callbacks stands on this machine.
  bundle = await startCarillonBundle({ CARILLON_ALLOWED_NETWORKS: '127.0.0.0/8' });
  const [found] = await bundle.database`select db_name from workspaces where id = ${bundle.workspaceId}`;
  dbName = (found as { db_name: string }).db_name;
});
afterAll(() => bundle?.stop());

const makeClient = (more: Partial<CarillonClientOptions> = {}) =>
  makeCarillonClient({
    ...{ baseUrl: bundle.url, workspaceId: bundle.workspaceId, dbName },
    ...{ dataKey: bundle.keys.data, pushKey: bundle.keys.push, campaignsKey: bundle.keys.campaigns },
    ...more,
  });

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Of everything that is refused, the error. */
const faultOf = (promise: Promise<unknown>): Promise<CarillonError> =>
  promise.then(
    () => expect.fail('nothing was refused'),
    (error: CarillonError) => error,
  );

const toAll = {
  targetPlatform: ['ANDROID' as const],
  targetAudience: 'All Users' as const,
  payload: { ANDROID: { title: 'T', message: 'M' } },
  campaignDelivery: { type: 'soon' as const },
};
const draft = {
  ...({ channel: 'PUSH', campaign_delivery_type: 'ONE_TIME', created_by: 'ada@example.com' } as const),
  basic_details: { name: 'Made by the client', platforms: ['ANDROID'] },
};

describe('every family, against a running node', () => {
  test('users, devices, events and many at once', async () => {
    const { users, devices, events, bulk } = makeClient();
    await users.upsert({ customer_id: 'linus', attributes: { u_fn: 'Linus' } });
    await devices.register({
      ...{ customer_id: 'linus', device_id: 'phone' },
      attributes: { platform: 'ANDROID', push_id: 'linus-token' },
    });
    await events.track({ customer_id: 'linus', actions: [{ action: 'bought' }] });
    await bulk.load(['grace', 'maggie'].map((customer_id) => ({ type: 'customer' as const, customer_id })));
    await users.merge([{ merged_user: 'maggie', retained_user: 'grace' }]);
    await users.remove('grace');
    const known = { identifier_type: 'customer_id', identifier: 'linus' };
    const found = await users.export([known, { ...known, identifier: 'nobody' }]);
    expect(found.users).toMatchObject([{ user_attributes: { u_fn: 'Linus' } }]);
    expect(found.users_not_found).toEqual([{ ...known, identifier: 'nobody' }]);
  });

  test('a campaign of V5 from draft to search, page by page; of V1 with its runs; business events; stats', async () => {
    const { campaigns, campaignsV1, businessEvents, stats, push } = makeClient();
    const { id } = await campaigns.create(draft);
    expect(await campaigns.validate(id)).toMatchObject({ valid: false });
    await campaigns.change(id, { basic_details: { tags: ['client'] } });
    const { cid } = await push.sendV2({ ...toAll, campaignName: 'To be found' });
    const found = await collect(campaigns.search({ campaign_fields: { name: 'To be found' } }));
    expect(found.map((one) => one.campaign_id)).toEqual([cid]);
    expect(await campaigns.get(cid)).toMatchObject({ campaign_id: cid });
    expect((await collect(campaignsV1.search({ campaign_fields: { name: 'To be found' } }))).length).toBe(1);
    expect((await collect(campaignsV1.list())).length).toBeGreaterThan(0);
    expect((await collect(campaigns.list())).length).toBeGreaterThan(0);
    await businessEvents.create({ event_name: 'restocked', created_by: 'ada@example.com' });
    expect(await collect(businessEvents.list())).toMatchObject([{ event_name: 'restocked' }]);
    const dates = { start_date: '2026-01-01', end_date: '2026-01-02' };
    const asked = { ...dates, request_id: 's', campaign_ids: [cid], metric_type: 'TOTAL' as const };
    expect(await stats.read({ ...asked, attribution_type: 'VIEW_THROUGH' })).toMatchObject({ response_id: 's' });
  });

  test('a segment of a file is waited for until its callback came, whose signature is checked', async () => {
    const { client: console } = await openSignedInClient(bundle);
    const callbacks = makeCallbackReceiver({ secret: await console.keys.readWebhookSecret(bundle.workspaceId) });
    const statuses: number[] = [];
    const server = createServer((request, response) => {
      if (request.method === 'GET') return response.setHeader('content-type', 'text/csv').end('ada\nnobody\n');
      let rawBody = '';
      request.on('data', (piece) => (rawBody += piece));
      request.on('end', async () => {
        const forged = await callbacks.take({ headers: request.headers, rawBody: rawBody.replace('201', '400') });
        statuses.push(forged, await callbacks.take({ headers: request.headers, rawBody }));
        response.writeHead(statuses.at(-1)!).end();
      });
      return undefined;
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { segments } = makeClient();
      const file = { attribute_name: 'uid', attribute_type: 'string' as const, file_url: `${origin}/members.csv` };
      const create = { ...file, name: 'Readers', callback_url: `${origin}/done`, expiry_time: 30 };
      const outcome = await segments.untilProcessed({ create }, { callbacks });
      expect(outcome).toMatchObject({ status: 201, segment_name: 'Readers', values_found: 2, user_count: 1 });
      await expect.poll(() => statuses).toEqual([401, 200]);
      expect(await segments.list({ name: 'Readers' })).toMatchObject([{ name: 'Readers', type: 'FILE' }]);
      await segments.archive({ name: 'Readers' });
    } finally {
      server.close();
    }
  });

  test('the stronger signature is the one the server checks, and goes along when it is wanted', async () => {
    const signed = { id: 'id', timestamp: 1_700_000_000, rawBody: '{"a":"ü"}' };
    expect(await signPushV2({ ...signed, pushKey: 'key' })).toBe(
      signOnServer({ ...signed, timestamp: String(signed.timestamp) }, 'key'),
    );
    const seen: (string | null)[] = [];
    const watching: typeof fetch = (address, given) => {
      seen.push(new Headers(given?.headers).get('X-SVC-PushAPI-Signature-V2'));
      return fetch(address, given);
    };
    // What goes along is checked, also where the workspace does not want it.
    for (const [pushSignatures, campaignName] of [
      ['name', 'Signed by name'],
      ['body', 'Signed by body'],
    ] as const) {
      const { push } = makeClient({ pushSignatures, fetch: watching });
      await expect(push.send({ ...toAll, campaignName })).resolves.toMatchObject({ status: 'Success' });
    }
    expect(seen).toEqual([null, expect.stringMatching(/./)]);
    const changing: typeof fetch = (address, given) =>
      fetch(address, { ...given, body: (given!.body as string).replace('"T"', '"Another"') });
    const { push } = makeClient({ pushSignatures: 'body', fetch: changing });
    const forged = await faultOf(push.send({ ...toAll, campaignName: 'Changed on its way' }));
    expect(forged.code).toBe('Signature is not verified');
  });
});

describe('faults', () => {
  test('every kind of refusal of the service is told apart and holds its whole body', async () => {
    const { segments, campaigns, campaignsV1, push, stats, users, call } = makeClient();
    const missing = '0'.repeat(24);
    const faults: [CarillonFault['kind'], Promise<unknown>][] = [
      ['token', makeClient({ oauthKey: 'no' }).tokens!.get()],
      [
        'gateway',
        makeClient({ dataKey: undefined as never, oauthKey: 'no', fetch: wrongToken }).users.upsert({
          customer_id: 'a',
        }),
      ],
      ['push', push.send({ ...toAll, campaignName: 'abc' })],
      ['data', users.upsert({ customer_id: '' })],
      ['file-segment', segments.archive({ name: 'unknown' })],
      ['filter-segment', segments.get(missing)],
      ['campaign-v1', campaignsV1.stop([missing])],
      ['campaign-v5', campaigns.get(missing)],
      ['stats', stats.read({} as never)],
      ['problem', call('reportInteraction', { body: { token: 'x', kind: 'click', id: '1' } })],
    ];
    const told = await Promise.all(faults.map(async ([, promise]) => (await faultOf(promise)).fault));
    expect(told.map(({ kind }) => kind)).toEqual(faults.map(([kind]) => kind));
    for (const fault of told) expect(fault).toMatchObject({ body: expect.any(Object) });
  });

  const wrongToken: typeof fetch = async (url, init) =>
    /oauth/.test(String(url))
      ? Response.json({ data: { access_token: 'cat_wrong', expires_in: 900, refresh_token: 'r' } })
      : fetch(url, init);

  test("what is not the service's, and what is not there, are kinds of their own", async () => {
    const html = makeClient({ fetch: async () => new Response('<html>', { status: 502 }) });
    expect((await faultOf(html.users.remove('a'))).fault).toEqual({ kind: 'foreign', text: '<html>' });
    // The error of another service, which has no list of details.
    const text = '{"error":{"type":"Bad","message":"No"}}';
    const other = makeClient({ fetch: async () => new Response(text, { status: 400 }) });
    expect((await faultOf(other.users.remove('a'))).fault).toEqual({ kind: 'foreign', text });
    const signIn = makeClient({ fetch: async () => new Response('<html>', { status: 200 }) });
    expect((await faultOf(signIn.users.remove('a'))).fault).toEqual({ kind: 'foreign', text: '<html>' });
    const nothing = makeClient({ baseUrl: 'http://127.0.0.1:1', maxRepeats: 0 });
    expect(await faultOf(nothing.users.remove('a'))).toMatchObject({ status: 0, fault: { kind: 'unreachable' } });
  });
});

describe('patience', () => {
  test('a connection that broke after a push was taken is tried again with the same key, and one campaign is made', async () => {
    const keys: unknown[] = [];
    const client = makeClient({
      fetch: async (url, init) => {
        keys.push(new Headers(init!.headers).get('idempotency-key'));
        const answer = await fetch(url, init);
        if (keys.length === 1) throw new TypeError('broken');
        return answer;
      },
    });
    const { cid } = await client.push.send({ ...toAll, campaignName: 'Sent once' });
    expect(keys.length).toBe(2);
    expect(new Set(keys).size).toBe(1);
    expect(await bundle.database`select id from campaigns where name = 'Sent once'`).toEqual([{ id: cid }]);
  });

  test('what would be done twice is not repeated when nobody knows what became of it', async () => {
    let calls = 0;
    const broken = async () => {
      calls += 1;
      throw new TypeError('broken');
    };
    const { fault } = await faultOf(makeClient({ fetch: broken }).segments.archive({ name: 'any' }));
    expect([fault, calls]).toEqual([{ kind: 'unreachable' }, 1]);
  });

  test('a token that was revoked elsewhere is refreshed once for all who are refused', async () => {
    const asked: string[] = [];
    const { oauth } = bundle.keys;
    const client = makeCarillonClient({
      ...{ baseUrl: bundle.url, workspaceId: bundle.workspaceId, oauthKey: oauth },
      fetch: (url, init) => {
        asked.push(new URL(String(url)).pathname);
        return fetch(url, init);
      },
    });
    const body = new URLSearchParams({
      token: await client.tokens!.get(),
      client_id: bundle.workspaceId,
      client_secret: oauth,
    });
    expect((await fetch(`${bundle.url}/v1/oauth/revoke`, { method: 'POST', body })).status).toBe(200);
    await Promise.all(['a', 'b', 'c', 'd'].map((customer_id) => client.users.upsert({ customer_id })));
    expect(asked.filter((path) => path.startsWith('/v1/oauth'))).toEqual(['/v1/oauth/token', '/v1/oauth/refresh']);
  });

  test('a signal ends the wait for a busy service, with its own reason', async () => {
    const ending = new AbortController();
    const client = makeClient({
      fetch: async () => {
        queueMicrotask(() => setImmediate(() => ending.abort(new Error('no longer wanted'))));
        return new Response('{}', { status: 429, headers: { 'retry-after': '60' } });
      },
    });
    await expect(client.users.remove('a', { signal: ending.signal })).rejects.toThrow('no longer wanted');
  });

  test('pages are asked for until one is not full', async () => {
    const pages: number[] = [];
    const client = makeClient({
      fetch: async (_url, init) => {
        const { page, limit } = JSON.parse(String(init!.body)) as { page: number; limit: number };
        pages.push(page);
        const campaigns = Array.from({ length: page < 3 ? limit : 2 }, (_, at) => ({ campaign_id: `${page}-${at}` }));
        return Response.json({ response_id: 'r', type: 'campaign', data: { campaigns } });
      },
    });
    const found = await collect(client.campaigns.search());
    expect([found.length, pages]).toEqual([32, [1, 2, 3]]);
  });
});

test('each family is called at its host of a data center', async () => {
  const asked: string[] = [];
  const client = makeClient({
    baseUrl: hostsOfDataCenter({ serviceDomain: 'push.example', dataCenter: '02' }),
    ...{ oauthKey: 'k', maxRepeats: 0 },
    fetch: async (url) => {
      asked.push(new URL(String(url)).host);
      return new Response('', { status: 500 });
    },
  });
  await faultOf(client.tokens!.get());
  await faultOf(client.push.send({ ...toAll, campaignName: 'To a host' }));
  await faultOf(client.segments.list());
  await faultOf(client.campaigns.get('0'));
  expect(asked).toEqual(['oauth2', 'pushapi', 'api', 'api'].map((host) => `${host}-02.push.example`));
});
