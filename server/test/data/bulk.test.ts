import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDataBundle } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
});
afterAll(() => bundle.end());

const url = '/v1/transition/';
const customer = (customerId: string, attributes: object = {}) => ({
  type: 'customer',
  customer_id: customerId,
  attributes,
});
const device = (customerId: string, pushId: string) => ({
  type: 'device',
  customer_id: customerId,
  device_id: 'phone',
  attributes: { platform: 'ANDROID', push_id: pushId },
});
const event = (customerId: string, action: string, more: object = {}) => ({
  type: 'event',
  customer_id: customerId,
  actions: [{ action, ...more }],
});
const bulk = (...elements: unknown[]) => ({ type: 'transition', elements });
const events = async () =>
  (await bundle.database`select name from events order by name`).map((row) => row.name as string);

test('users, devices and events are taken in their order, by the rules of the single calls', async () => {
  const answer = await bundle.call(
    url,
    bulk(customer('ada', { n: 1 }), customer('ada', { n: 2 }), device('ada', 'ada-1'), event('ada', 'Opened')),
  );
  expect([answer.status, answer.body.status]).toEqual([200, 'success']);
  expect(await bundle.attributes('ada')).toEqual({ n: 2 });
  expect(await bundle.identifiers('ada')).toEqual(['device:push_id:string=ada-1', 'n:double=2']);
  expect(await events()).toEqual(['Opened']);
});

test('events of many users, of a device that comes with them, and of one who was merged, are each their user’s', async () => {
  await bundle.call(url, bulk(customer('kept'), customer('gone')));
  await bundle.call('/v1/customer/merge', { merge_data: [{ merged_user: 'gone', retained_user: 'kept' }] });
  const ofDevice = { ...event('ida', 'Looked'), device_id: 'phone' };
  const answer = await bundle.call(
    url,
    bulk(
      ofDevice,
      customer('ida'),
      device('ida', 'ida-1'),
      event('gone', 'Left'),
      event('new', 'Came'),
      event('ida', 'Left'),
    ),
  );
  expect(answer.status).toBe(200);
  const rows = await bundle.database`
    select events.name, users.customer_id as customer, devices.push_id as push from events
    join users on users.bucket = events.bucket and users.id = events.user_id
    left join devices on devices.bucket = events.bucket and devices.id = events.device_row_id
    where events.name in ('Looked', 'Left', 'Came') order by 1, 2`;
  expect([...rows]).toEqual([
    { name: 'Came', customer: 'new', push: null },
    { name: 'Left', customer: 'ida', push: null },
    { name: 'Left', customer: 'kept', push: null },
    { name: 'Looked', customer: 'ida', push: 'ida-1' },
  ]);
});

test('elements that are refused are not reported and stop nothing; the API log names each (fact 5)', async () => {
  const answer = await bundle.call(
    url,
    bulk(
      customer('guest'),
      device('nobody-yet', 'x'),
      7,
      { type: 'person' },
      event('eve', 'Later', { user_time: '2030-01-01T00:00:00Z' }),
      customer('eve', { ok: true }),
    ),
  );
  expect([answer.status, answer.body.message]).toEqual([
    200,
    'Your request has been accepted and will be processed soon.',
  ]);
  expect(await bundle.attributes('eve')).toEqual({ ok: true });
  expect(await bundle.attributes('nobody-yet')).toBeUndefined();
  const { errorDetail } = bundle.calls.at(-1)!.facts;
  expect(errorDetail).toMatch(/^5 elements refused\. /);
  for (const told of [
    /elements\[0\]: ValueError: 'customer_id' is a reserved value/,
    /elements\[1\]: ValueError: 'customer_id' must exist/,
    /elements\[2\]: ValueError: 'elements' must be a list of objects/,
    /elements\[3\]: ValueError: 'type' must be/,
    /elements\[4\]: ValueError: 'actions\[0\]\.user_time' must not be in the future/,
  ])
    expect(errorDetail).toMatch(told);
});

test('the same Idempotency-Key takes the elements once', async () => {
  const headers = { 'idempotency-key': 'bulk-1' };
  const body = bulk(event('once', 'Once'));
  const [first, second] = [await bundle.call(url, body, { headers }), await bundle.call(url, body, { headers })];
  expect(second.body).toEqual(first.body);
  expect((await events()).filter((name) => name === 'Once')).toHaveLength(1);
});

test('a repeat under the same Idempotency-Key names the refused elements in the API log as well', async () => {
  const headers = { 'idempotency-key': 'bulk-2' };
  const body = bulk(device('not-there', 'x'), 7, customer('guest'), event('named', 'Named'));
  const told: unknown[] = [];
  for (let call = 0; call < 2; call += 1) {
    await bundle.call(url, body, { headers });
    told.push(bundle.calls.at(-1)!.facts.errorDetail);
  }
  expect(told[0]).toMatch(
    /^3 elements refused\. elements\[0\]: ValueError: 'customer_id' must exist; elements\[1\].*; elements\[2\]: /,
  );
  expect(told[1]).toBe(told[0]);
});

test('two concurrent bulk requests about the same users in opposite orders both succeed', async () => {
  const users = Array.from({ length: 30 }, (_, index) => `crossing-${index}`);
  const bodies = [users, users.toReversed(), users, users.toReversed()].map((ids, n) =>
    bulk(...ids.map((id) => customer(id, { [`n${n}`]: n }))),
  );
  const answers = await Promise.all(bodies.map((body) => bundle.call(url, body)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  expect(await bundle.attributes('crossing-7')).toEqual({ n0: 0, n1: 1, n2: 2, n3: 3 });
});

test.each([
  ['no type', { elements: [] }, 'MissingAttributeError'],
  ['another type', { type: 'bulk', elements: [] }, 'ValueError'],
  ['no elements', { type: 'transition' }, 'MissingAttributeError'],
  ['elements that are no list', { type: 'transition', elements: {} }, 'ValueError'],
])('a request with %s is refused', async (_name, body, type) => {
  const answer = await bundle.call(url, body);
  expect([answer.status, answer.body.error.type]).toEqual([400, type]);
});

test('over 100 KB is 413', async () => {
  const answer = await bundle.call(url, bulk(customer('large', { text: 'x'.repeat(100 * 1024) })));
  expect([answer.status, answer.body.error.message]).toEqual([413, 'The payload can not exceed 100KB']);
});

test('users and events are counted apart, all of a request or none, and the tighter limit is shown', async () => {
  const small = await makeDataBundle({ requestsPerMinute: 3 });
  try {
    const three = await small.call(url, bulk(customer('a'), customer('b'), event('a', 'One'), event('a', 'Two')));
    expect([three.status, three.headers['x-ratelimit-limit'], three.headers['x-ratelimit-remaining']]).toEqual([
      200,
      '3',
      '1',
    ]);
    const over = await small.call(url, bulk(customer('c'), event('c', 'Three'), event('c', 'Four')));
    expect([over.status, over.body.error.type]).toEqual([429, 'RateLimitError']);
    expect((await small.call(url, bulk(customer('c')))).status).toBe(200);
    small.clock.advance(60_000);
    expect((await small.call(url, bulk(customer('d'), event('d', 'Five')))).status).toBe(200);
  } finally {
    await small.end();
  }
});

test('a user whose time zone is no zone is refused by name and not made; an alias is stored as it was sent', async () => {
  const refused = await bundle.call(
    `/v1/customer/${bundle.workspaceId}`,
    customer('zoe', { time_zone: 'Mars/Phobos' }),
  );
  expect([refused.status, refused.body.error.type]).toEqual([400, 'ValueError']);
  expect(JSON.stringify(refused.body)).toContain('is not a time-zone name: Mars/Phobos');
  await bundle.call(
    url,
    bulk(
      customer('zoe', { time_zone: 5 }),
      customer('ian', { time_zone: 'IST' }),
      customer('ida', { time_zone: '' }),
      customer('ivy', { time_zone: null, n: 1 }),
    ),
  );
  expect(await bundle.attributes('zoe')).toBeUndefined();
  expect(await bundle.attributes('ian')).toEqual({ time_zone: 'IST' });
  expect(await bundle.attributes('ida')).toEqual({ time_zone: '' });
  expect(await bundle.attributes('ivy')).toEqual({ n: 1 });
});
