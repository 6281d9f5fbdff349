import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { maxSourceBatchBytes, maxSourceMessages } from '../../src/domain/limits/source.ts';
import { deleteOldSourceMessages } from '../../src/storage/source-messages.ts';
import { makeDataBundle, start } from '../data/data-bundle.ts';
import type { DataBundle } from '../data/data-bundle.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
});
afterAll(() => bundle.end());

const authorization = (key: string) => `Basic ${Buffer.from(`${key}:`).toString('base64')}`;
const success = { status: 200, body: { success: true } };

async function send(path: string, body: unknown, headers: Record<string, string> = {}) {
  const answer = await bundle.server.inject({
    method: 'POST',
    url: `/segment/v1/${path}`,
    headers: { authorization: authorization(bundle.key), 'content-type': 'application/json', ...headers },
    payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body),
  });
  return { status: answer.statusCode, body: answer.json() as unknown, headers: answer.headers };
}

const sendBatch = async (...batch: unknown[]) => {
  const { status, body } = await send('batch', { batch });
  expect({ status, body }).toEqual(success);
  return bundle.calls.at(-1)!.facts.errorDetail;
};

async function eventsOf(customerId: string) {
  const rows = await bundle.database`
    select events.name, events.attributes, events.occurred_at as at, events.platform, events.app_version as version
    from events join users on users.bucket = events.bucket and users.id = events.user_id
    where users.customer_id = ${customerId} order by events.occurred_at, events.name`;
  return rows as unknown as { name: string; attributes: object; at: Date; platform: string; version: string }[];
}
const namesOf = async (customerId: string) => (await eventsOf(customerId)).map(({ name }) => name);
const exists = async (customerId: string) => (await bundle.attributes(customerId)) !== undefined;

describe('messages of Segment’s libraries', () => {
  test('set standard attributes under the names that other routes use, and others under their own', async () => {
    const traits = {
      ...{ id: 'ada', email: 'ada@example.com', phone: '+441', firstName: 'Ada', lastName: 'Lovelace', name: 'Ada L.' },
      ...{ plan: 'pro', address: { city: 'London' } },
    };
    const { status, body } = await send('identify', { userId: 'ada', traits });
    expect({ status, body }).toEqual(success);
    const stored = { u_em: 'ada@example.com', u_mb: '+441', u_fn: 'Ada', u_ln: 'Lovelace', u_n: 'Ada L.', plan: 'pro' };
    expect(await bundle.attributes('ada')).toEqual({ ...stored, address: { city: 'London' } });
    await send('i', { userId: 'ada', traits: { plan: null, name: 'Ada' } });
    expect(await bundle.attributes('ada')).toEqual({
      ...stored,
      plan: undefined,
      u_n: 'Ada',
      address: { city: 'London' },
    });
    expect(await bundle.identifiers('ada')).toContain('u_em:string=ada@example.com');
  });

  test.each([
    ['track', { event: 'Ordered', properties: { price: 3 } }, { name: 'Ordered', attributes: { price: 3 } }],
    ['t', { event: 'Ordered' }, { name: 'Ordered', attributes: {} }],
    [
      'page',
      { name: 'Home', category: 'Docs', properties: { url: '/' } },
      { name: 'Page Viewed', attributes: { url: '/', name: 'Home', category: 'Docs' } },
    ],
    ['screen', { name: 'Cart' }, { name: 'Screen Viewed', attributes: { name: 'Cart' } }],
    ['s', {}, { name: 'Screen Viewed', attributes: {} }],
  ])('are events by the path %s', async (path, message, event) => {
    const userId = `events-${path}`;
    expect((await send(path, { userId, ...message })).status).toBe(200);
    expect(await eventsOf(userId)).toMatchObject([{ ...event, at: start }]);
  });

  test('set the group of a user', async () => {
    await send('group', { userId: 'member', groupId: 7, traits: { id: 7, name: 'Acme', seats: 3 } });
    await send('g', { userId: 'member', groupId: 'acme', traits: { seats: null } });
    expect(await bundle.attributes('member')).toEqual({ group_id: 'acme', group_name: 'Acme' });
  });

  test('happened when the sender says, by the difference of its clock, and never after they were received', async () => {
    const sentAt = new Date(start.getTime() + 3_600_000).toISOString();
    const at = (seconds: number) => new Date(start.getTime() + 3_600_000 + seconds * 1000).toISOString();
    const message = (event: string, timestamp: string) => ({ type: 'track', userId: 'skewed', event, timestamp });
    await send('batch', { sentAt, batch: [message('before', at(-60)), message('after', at(60))] });
    await send('track', { userId: 'skewed', event: 'original', originalTimestamp: '2026-02-28T12:00:00Z' });
    expect((await eventsOf('skewed')).map(({ name, at: time }) => [name, time.toISOString()])).toEqual([
      ['original', '2026-02-28T12:00:00.000Z'],
      ['before', '2026-03-01T11:59:00.000Z'],
      ['after', '2026-03-01T12:00:00.000Z'],
    ]);
  });

  test('are stored when the clock of the sender is wrong by thousands of years', async () => {
    const message = { type: 'track', userId: 'ancient', event: 'dug up', timestamp: '0001-01-01T00:00:00Z' };
    for (const sentAt of ['9999-12-31T23:59:59Z', 8_640_000_000_000])
      expect((await send('batch', { sentAt, batch: [message] })).status).toBe(200);
    const year = Date.parse('0001-01-01T00:00:00Z');
    expect((await eventsOf('ancient')).map(({ at }) => at.getTime())).toEqual([year, year]);
  });

  test('count once by their messageId, in one request, in several, and in two at the same time', async () => {
    const message = { type: 'track', userId: 'once', event: 'Paid', messageId: 'node-\u0000-1' };
    const identify = { type: 'identify', userId: 'once', traits: { plan: 'a' }, messageId: 'i-1' };
    await sendBatch(message, message, identify);
    await sendBatch({ type: 'identify', userId: 'once', traits: { plan: 'b' }, messageId: 'i-2' });
    await Promise.all([sendBatch(message, identify), sendBatch(identify, message)]);
    expect(await namesOf('once')).toEqual(['Paid']);
    expect(await bundle.attributes('once')).toEqual({ plan: 'b' });
  });

  test('are remembered until housekeeping deletes them', async () => {
    await sendBatch({ type: 'track', userId: 'kept', event: 'Paid', messageId: 'kept-1' });
    const before = async (milliseconds: number) =>
      deleteOldSourceMessages(bundle.database, { before: new Date(start.getTime() + milliseconds), limit: 10_000 });
    expect(await before(0)).toBe(0);
    expect(await before(1)).toBeGreaterThan(0);
    await sendBatch({ type: 'track', userId: 'kept', event: 'Paid', messageId: 'kept-1' });
    expect(await namesOf('kept')).toEqual(['Paid', 'Paid']);
  });

  test('are of the workspace of their key, whatever ids they have', async () => {
    const other = await insertTestWorkspace(bundle.database, start);
    const key = await bundle.makeKey('data', other);
    const message = { type: 'identify', userId: 'both', traits: { plan: 'a' }, messageId: 'of-both' };
    await sendBatch(message);
    const batch = [{ ...message, traits: { plan: 'b' } }];
    expect(await send('batch', { batch }, { authorization: authorization(key) })).toMatchObject(success);
    const rows = await bundle.database`select workspace_id, attributes from users where customer_id = 'both'`;
    expect(new Map(rows.map((row) => [row.workspace_id, row.attributes]))).toEqual(
      new Map([
        [bundle.workspaceId, { plan: 'a' }],
        [other, { plan: 'b' }],
      ]),
    );
  });

  test('may be compressed, sent as text/plain, or to the path of the libraries for Ruby and Java', async () => {
    const batch = (event: string) => ({ batch: [{ type: 'track', userId: 'forms', event }] });
    await send('batch', gzipSync(JSON.stringify(batch('a'))), { 'content-encoding': 'gzip' });
    await send('b', batch('b'), { 'content-type': 'text/plain' });
    await send('import', batch('c'));
    expect(await namesOf('forms')).toEqual(['a', 'b', 'c']);
  });
});

describe('a user without a userId', () => {
  test('is merged into the user of the next identify with both ids', async () => {
    await sendBatch(
      { type: 'track', anonymousId: 'v-1', event: 'Looked' },
      { type: 'identify', anonymousId: 'v-1', traits: { plan: 'free' } },
    );
    expect(await namesOf('anonymous:v-1')).toEqual(['Looked']);
    await sendBatch({ type: 'identify', anonymousId: 'v-1', userId: 'eve', traits: { email: 'eve@example.com' } });
    await sendBatch({ type: 'track', anonymousId: 'v-1', event: 'Returned' });
    expect(await namesOf('eve')).toEqual(['Looked', 'Returned']);
    expect(await bundle.attributes('eve')).toEqual({ plan: 'free', u_em: 'eve@example.com' });
    expect(await exists('anonymous:v-1')).toBe(false);
  });

  test('does not make one user of two who sign in on the same device', async () => {
    await sendBatch({ type: 'track', anonymousId: 'shared', event: 'Looked' });
    await sendBatch({ type: 'identify', anonymousId: 'shared', userId: 'first', traits: { plan: 'a' } });
    await sendBatch({ type: 'identify', anonymousId: 'shared', userId: 'second', traits: { plan: 'b' } });
    expect(await bundle.attributes('first')).toEqual({ plan: 'a' });
    expect(await bundle.attributes('second')).toEqual({ plan: 'b' });
  });

  test('cannot have a placeholder as its id, which next to a userId is not read', async () => {
    expect(await sendBatch({ type: 'track', anonymousId: 'unknown', event: 'x' })).toContain(
      "'anonymousId' is a reserved value",
    );
    expect(await sendBatch({ type: 'identify', anonymousId: 'null', userId: 'placed', traits: {} })).toBeUndefined();
    expect(await exists('placed')).toBe(true);
  });
});

describe('alias', () => {
  const alias = (previousId: string, userId: string) => ({ type: 'alias', previousId, userId });

  test('merges the user with the previous id, a visitor, or nobody yet', async () => {
    await bundle.addUser('old', { plan: 'pro' });
    await sendBatch(alias('old', 'new'));
    expect([await exists('old'), await bundle.attributes('new')]).toEqual([false, { plan: 'pro' }]);
    await sendBatch(
      { type: 'track', anonymousId: 'visit', event: 'Looked' },
      alias('visit', 'new'),
      alias('later', 'new'),
    );
    await sendBatch({ type: 'track', userId: 'later', event: 'Came' });
    expect(await namesOf('new')).toEqual(['Came', 'Looked']);
  });

  test('leaves a name that was merged before with its user', async () => {
    await sendBatch(alias('taken', 'owner'), alias('taken', 'stranger'), alias('owner', 'owner'));
    await sendBatch({ type: 'track', userId: 'taken', event: 'Came' });
    expect([await namesOf('owner'), await namesOf('stranger')]).toEqual([['Came'], []]);
  });
});

describe('the device of a message', () => {
  const device = { id: 'phone-1', type: 'android', token: 'fcm-token-1', model: 'Pixel 9' };
  const context = { device, app: { version: '2.1' }, os: { version: '16' }, locale: 'de-de' };

  test('is registered by identify and when the app starts, and not by other events', async () => {
    const track = (event: string, userId: string) => ({ type: 'track', userId, event, context });
    await sendBatch(track('Ordered', 'dora'));
    expect((await bundle.devices()).filter(({ customer }) => customer === 'dora')).toEqual([]);
    expect(await sendBatch(track('Application Opened', 'dora'))).toBeUndefined();
    const registered = { device: 'phone-1', push: 'fcm-token-1', platform: 'ANDROID' };
    expect(await bundle.devices()).toMatchObject([{ customer: 'dora', ...registered }]);
    await sendBatch({ type: 'identify', userId: 'dana', traits: {}, context });
    expect(await bundle.devices()).toMatchObject([{ customer: 'dana', ...registered }]);
    expect(await eventsOf('dora')).toMatchObject([{ platform: 'ANDROID', version: '2.1' }, {}]);
  });

  test('does not hold back its message if its token cannot be one', async () => {
    const broken = { device: { id: 'phone-2', type: 'ios', token: 'no hex' } };
    expect(await sendBatch({ type: 'identify', userId: 'ian', traits: { plan: 'pro' }, context: broken })).toMatch(
      /^1 messages? rejected/,
    );
    expect(await bundle.attributes('ian')).toEqual({ plan: 'pro' });
  });
});

describe('a message that is wrong', () => {
  test.each([
    [{ type: 'track', event: 'x' }, "batch[0]: MissingAttributeError: 'userId' is not found"],
    [{ type: 'track', userId: 'u' }, "'event' is not found"],
    [{ type: 'delete', userId: 'u' }, "'type' must be"],
    [{ type: { toString: 1, valueOf: 1 }, userId: 'u' }, "'type' must be"],
    [{ type: 'track', userId: 'guest', event: 'x' }, "'userId' is a reserved value"],
    [{ type: 'track', userId: 'u', event: 'x', properties: { text: 'a\u0000' } }, "'text' must not hold NUL"],
    [JSON.parse('{"type":"track","userId":"u","event":"x","properties":{"a":{"__proto__":1}}}'), '__proto__'],
    [{ type: 'track', userId: 'u', event: 'x', timestamp: 'yesterday' }, "'timestamp' must be"],
    [{ type: 'track', userId: 'u', event: 'x', properties: { text: 'x'.repeat(33_000) } }, 'at most 32 KB'],
    [{ type: 'identify', userId: 'u', traits: { _id: 1 } }, "'_id' is a reserved name"],
    [{ type: 'alias', userId: 'u' }, "'previousId' is not found"],
    [{ type: 'group', userId: 'u' }, "'groupId' is not found"],
    [7, 'must be a list of objects'],
  ])('is dropped with 200, and the API log says why: %j', async (message, fault) => {
    const good = { type: 'track', userId: 'beside', event: 'Fine', properties: { constructor: 'Ferrari' } };
    const before = (await namesOf('beside')).length;
    expect(await sendBatch(message, good)).toContain(fault);
    expect((await namesOf('beside')).length).toBe(before + 1);
  });

  test('is one after the documented number', async () => {
    const batch = Array.from({ length: maxSourceMessages + 1 }, () => 0 as unknown);
    batch[0] = { type: 'track', userId: 'many', event: 'first' };
    batch[maxSourceMessages] = { type: 'track', userId: 'many', event: 'last' };
    expect(await sendBatch(...batch)).toContain(`${maxSourceMessages} messages rejected`);
    expect(await namesOf('many')).toEqual(['first']);
  });
});

describe('a request', () => {
  test.each([
    ['half a batch', 'batch', '{"batch": ['],
    ['an empty body', 'batch', ''],
    ['a list', 'batch', '[]'],
    ['a batch that is a number', 'batch', '{"batch": 7}'],
    ['no batch', 'batch', '{}'],
    ['a batch over 500 KB', 'batch', JSON.stringify({ batch: [], filler: 'x'.repeat(maxSourceBatchBytes) })],
    ['a message over 32 KB', 'track', JSON.stringify({ userId: 'u', event: 'x', filler: 'x'.repeat(33_000) })],
  ])('with %s is refused with 400, as Segment does', async (_what, path, body) => {
    expect(await send(path, body)).toMatchObject({ status: 400, body: { success: false } });
  });

  test('of the largest size is stored, with the members that libraries add to each message', async () => {
    const message = (index: number) => ({
      ...{ type: 'track', userId: 'bulky', event: 'Seen', messageId: `bulky-${index}`, timestamp: start.toISOString() },
      ...{ properties: { a: 1, b: 2 }, integrations: {}, _metadata: { nodeVersion: '26', jsRuntime: 'node' } },
      context: { library: { name: 'analytics-node', version: '3.1.0' } },
    });
    const batch = Array.from({ length: 1_700 }, (_, index) => message(index));
    const text = JSON.stringify({ batch });
    expect(text.length).toBeGreaterThan(450_000);
    expect((await send('batch', text)).status).toBe(200);
    expect((await eventsOf('bulky')).length).toBe(1_700);
  });

  test('needs a data key, in the header or the body, and the log stores none', async () => {
    const message = { userId: 'auth', event: 'x' };
    expect((await send('track', message, { authorization: authorization(`${bundle.key}x`) })).status).toBe(401);
    expect((await send('track', message, { authorization: authorization(await bundle.makeKey('push')) })).status).toBe(
      401,
    );
    expect((await send('track', message, { authorization: `Bearer ${bundle.key}` })).status).toBe(401);
    const post = (body: object) =>
      bundle.server.inject({
        method: 'POST',
        url: '/segment/v1/track',
        headers: { 'content-type': 'application/json' },
        payload: JSON.stringify(body),
      });
    expect((await post(message)).statusCode).toBe(401);
    expect((await post({ ...message, writeKey: 'cdk_wrong' })).statusCode).toBe(401);
    expect((await post({ ...message, writeKey: bundle.key })).statusCode).toBe(200);
    expect(await namesOf('auth')).toEqual(['x']);
    const call = bundle.calls.at(-1)!;
    expect(call.facts.workspaceId).toBe(bundle.workspaceId);
    expect(JSON.stringify(call)).not.toContain(bundle.key);
    expect(call.requestBody).toContain('"writeKey":"[redacted]"');
  });

  test('is not answered for pages: a key of a page is no secret', async () => {
    const preflight = await bundle.server.inject({
      method: 'OPTIONS',
      url: '/segment/v1/b',
      headers: { origin: 'https://shop.example' },
    });
    expect([preflight.statusCode, preflight.headers['access-control-allow-origin']]).toEqual([405, undefined]);
  });
});

test('a request over the limit is refused with the time to wait, and leaves nothing', async () => {
  const small = await makeDataBundle({ requestsPerMinute: 2 });
  try {
    const batch = ['a', 'b', 'c'].map((event) => ({ type: 'track', userId: 'u', event }));
    const answer = await small.server.inject({
      method: 'POST',
      url: '/segment/v1/batch',
      headers: { authorization: authorization(small.key), 'content-type': 'application/json' },
      payload: JSON.stringify({ batch }),
    });
    expect([answer.statusCode, Number(answer.headers['retry-after']) > 0]).toEqual([429, true]);
    expect(await small.attributes('u')).toBeUndefined();
  } finally {
    await small.end();
  }
});
