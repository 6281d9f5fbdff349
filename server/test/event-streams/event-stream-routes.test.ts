import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { buildServer } from '../../src/http/server/build-server.ts';
import { eventStreamRoutes } from '../../src/http/event-streams.ts';
import { makeCampaignBundle } from '../campaigns/campaign-bundle.ts';
import type { CampaignBundle } from '../campaigns/campaign-bundle.ts';
import { makeEncryption } from '../../src/domain/crypto/encryption.ts';
import { makeVendorHeaders } from '../../src/http/route/vendor-headers.ts';
import { makeLog } from '../../src/log.ts';

let bundle: CampaignBundle;
let server: Awaited<ReturnType<typeof buildServer>>;
let data: Record<string, string>;
beforeAll(async () => {
  bundle = await makeCampaignBundle();
  const { database, clock } = bundle;
  const encryption = makeEncryption(Buffer.alloc(32, 9));
  server = await buildServer({ log: makeLog({ level: 'silent', pretty: false }), clock, trustProxy: false }, [
    eventStreamRoutes({ database, clock, encryption, vendorHeaders: makeVendorHeaders('SVC') }),
  ]);
  data = bundle.headersOf({ ...bundle.own, key: await bundle.makeKey('data', bundle.own.workspaceId) });
});
afterEach(() => bundle.database`delete from event_streams`);
afterAll(async () => {
  await server.close();
  await bundle.end();
});

type Call = { body?: unknown; headers?: Record<string, string> };
async function call(method: 'GET' | 'POST' | 'PATCH' | 'DELETE' | 'PUT', path: string, { body, headers }: Call = {}) {
  bundle.clock.advance(1000);
  return server.inject({
    method,
    url: `/v1/event-streams${path}`,
    headers: { ...data, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { payload: JSON.stringify(body) }),
  });
}
const url = 'https://receiver.example/events';
const faultsOf = (reply: { json(): any }) => reply.json().error.details.map((detail: any) => detail.message);

test('a stream is made with its secret, shown without it, changed and removed', async () => {
  const made = await call('POST', '', { body: { url, user_attributes: ['city'] } });
  expect(made.statusCode).toBe(201);
  const { event_stream: stream, secret } = made.json().data;
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(stream).toMatchObject({
    ...{ url, events: ['delivered', 'clicked', 'cleared', 'control_group'], user_attributes: ['city'] },
    ...{ device_attributes: [], delivered_events: 0, last_delivered_at: null, pending_batches: 0, dead_batches: 0 },
  });
  const changed = await call('PATCH', `/${stream.id}`, {
    body: { events: ['clicked'], device_attributes: ['platform'] },
  });
  expect(changed.json().data.event_stream).toMatchObject({ events: ['clicked'], url, user_attributes: ['city'] });
  const listed = (await call('GET', '')).json().data.event_streams;
  expect(listed).toEqual([(await call('GET', `/${stream.id}`)).json().data.event_stream]);
  expect(JSON.stringify(listed)).not.toContain('whsec_');
  expect((await call('DELETE', `/${stream.id}`)).json().data).toEqual({ removed: true });
  for (const [method, path, body] of [
    ['GET', `/${stream.id}`],
    ['PATCH', `/${stream.id}`, {}],
    ['DELETE', `/${stream.id}`],
    ['GET', `/${stream.id}/dead-batches`],
    ['POST', `/${stream.id}/dead-batches/resend`, {}],
  ] as const)
    expect((await call(method, path, { body })).statusCode).toBe(404);
});

test('two changes of different members at once both stand', async () => {
  const { id } = (await call('POST', '', { body: { url } })).json().data.event_stream;
  const changes = [
    { events: ['clicked'] },
    { user_attributes: ['city'] },
    { device_attributes: ['platform'] },
    { url: `${url}/2` },
  ];
  await Promise.all(changes.map((body) => call('PATCH', `/${id}`, { body })));
  const { event_stream: stream } = (await call('GET', `/${id}`)).json().data;
  expect(stream).toMatchObject(Object.assign({}, ...changes));
});

test('a workspace has five of them, and another workspace none of these', async () => {
  const made = [];
  for (let nth = 0; nth < 5; nth += 1) made.push(await call('POST', '', { body: { url } }));
  expect(made.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201, 201]);
  const sixth = await call('POST', '', { body: { url } });
  expect([sixth.statusCode, sixth.json().error.message]).toEqual([409, 'A workspace has at most 5 event streams.']);
  const other = await bundle.makeWorkspace();
  const headers = bundle.headersOf({ ...other, key: await bundle.makeKey('data', other.workspaceId) });
  expect((await call('GET', '', { headers })).json().data.event_streams).toEqual([]);
  const { id } = made[0]!.json().data.event_stream;
  expect((await call('GET', `/${id}`, { headers })).statusCode).toBe(404);
  expect((await call('DELETE', `/${id}`, { headers })).statusCode).toBe(404);
});

test('a repeated request makes one stream, and is told its secret again (decision D4)', async () => {
  const headers = { 'idempotency-key': 'once' };
  const [first, again] = [
    await call('POST', '', { body: { url }, headers }),
    await call('POST', '', { body: { url }, headers }),
  ];
  expect(again.json().data).toEqual(first.json().data);
  expect((await call('GET', '')).json().data.event_streams).toHaveLength(1);
  expect((await call('POST', '', { body: { url: `${url}/2` }, headers })).statusCode).toBe(409);
});

test('what is wrong is told all at once, and what is unknown is warned of (decision D5)', async () => {
  const wrong = { url: 'ftp://a', events: ['opened'], user_attributes: [1], device_attributes: ['gaid'] };
  const refused = await call('POST', '', { body: wrong });
  expect(refused.statusCode).toBe(400);
  expect(faultsOf(refused).map((fault: string) => fault.split(' ')[0])).toEqual([
    'url',
    'events',
    'device_attributes',
    'user_attributes',
  ]);
  expect(faultsOf(await call('POST', '', { body: {} }))).toEqual(['url is required.']);
  expect(faultsOf(await call('POST', '', { body: { url: 'https://u:p@a.example' } }))).toHaveLength(1);
  const made = await call('POST', '', { body: { url, secret: 'mine' } });
  expect(made.headers['x-svc-warning']).toBe('unknown field "secret"');
});

test('it takes the data key alone, since data of users leave', async () => {
  expect((await call('GET', '', { headers: bundle.headersOf(bundle.own) })).statusCode).toBe(403);
  expect((await call('GET', '', { headers: { authorization: 'Basic eDp5' } })).statusCode).toBe(401);
  expect((await call('PUT', '', { body: {} })).statusCode).toBe(405);
});
