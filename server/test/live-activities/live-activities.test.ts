import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAppsBundle } from '../apps/apps-bundle.ts';
import type { AppsBundle } from '../apps/apps-bundle.ts';
import { maxDeliveryAttempts } from '../../src/domain/limits/delivery.ts';
import { until } from '../carillon-bundle.ts';

let bundle: AppsBundle;
beforeAll(async () => {
  bundle = await startAppsBundle();
  await bundle.addApp({ platform: 'IOS', appId: 'shop', identifier: 'com.example.shop', environment: 'sandbox' });
});
afterAll(() => bundle.stop());

const call = async (
  method: string,
  path: string,
  { key, ...body }: { key?: string } & Record<string, unknown> = {},
) => {
  const headers = { ...bundle.basic(bundle.keys.push), ...(key && { 'idempotency-key': key }) };
  const answer = await bundle.call(method, `/v1/live-activities${path}`, {
    headers,
    ...(method !== 'GET' && { body }),
  });
  return { status: answer.status, body: answer.json() };
};
const state = { app_id: 'shop', contentState: { step: 2, note: null, list: [1.5] } };
const start = {
  ...state,
  ...{ event: 'start', attributesType: 'OrderAttributes', attributes: { order: '17' } },
  alert: { title: 'Order 17', body: 'On its way' },
};
const token = (digits: string) => digits.repeat(32);
const messagesTo = async (address: string) =>
  (await bundle.inbox()).filter(({ deviceToken }) => deviceToken === address);
const outcomesOf = async (id: string) => {
  const { body } = await call('GET', `/${id}?app=shop`);
  return body.events.map((one: { event: string; outcome: string; code: string | null; devices: number }) =>
    [one.event, one.outcome, one.code, one.devices].join(' '),
  );
};

test('an activity is started, updated and ended on the phones whose tokens it has, each as Apple takes it', async () => {
  const added = await call('PUT', '/order-17/tokens', { app_id: 'shop', startTokens: [token('c1')] });
  expect(added).toEqual({
    status: 200,
    body: { app_id: 'shop', activityId: 'order-17', tokens: { start: 1, update: 0 } },
  });
  const staleDate = Math.floor(Date.now() / 1000) + 3_600;
  const started = await call('POST', '', { ...start, activityId: 'order-17', staleDate, priority: 5 });
  expect(started).toMatchObject({ status: 202, body: { event: 'start', devices: 1, timestamp: expect.any(Number) } });
  const [first] = await until(async () => {
    const found = await messagesTo(token('c1'));
    return found.length > 0 && found;
  });
  expect(first!.transport).toMatchObject({
    ...{ 'apns-topic': 'com.example.shop.push-type.liveactivity', 'apns-push-type': 'liveactivity' },
    ...{ 'apns-priority': '5', 'apns-expiration': String(staleDate) },
  });
  expect(first!.payload).toEqual({
    aps: {
      ...{ timestamp: started.body.timestamp, event: 'start', 'content-state': state.contentState },
      ...{ 'attributes-type': 'OrderAttributes', attributes: { order: '17' }, alert: start.alert },
      'stale-date': staleDate,
    },
  });

  // Told of twice, and by two requests: the token is there once.
  await call('PUT', '/order-17/tokens', { app_id: 'shop', tokens: [token('c2'), token('C2')] });
  await call('PUT', '/order-17/tokens', { app_id: 'shop', tokens: [token('c2'), token('c3')] });
  const updated = await call('POST', '', { ...state, activityId: 'order-17', event: 'update' });
  expect(updated.body).toMatchObject({ devices: 2 });
  expect(updated.body.timestamp).toBeGreaterThan(started.body.timestamp);
  await until(async () => (await messagesTo(token('c2'))).length === 1 && (await messagesTo(token('c3'))).length === 1);
  const ended = await call('POST', '', { ...state, activityId: 'order-17', event: 'end', dismissalDate: staleDate });
  await until(async () => (await messagesTo(token('c3'))).length === 2);
  const last = (await messagesTo(token('c3'))).map(({ payload }) => (payload as any).aps.event).sort();
  expect(last).toEqual(['end', 'update']);
  expect(ended.body.timestamp).toBeGreaterThan(updated.body.timestamp);
  await until(async () => (await outcomesOf('order-17')).every((line: string) => line.includes('ACCEPTED')));
  expect(await outcomesOf('order-17')).toEqual(['end ACCEPTED  2', 'update ACCEPTED  2', 'start ACCEPTED  1']);
  // The token that started it gets nothing else.
  expect(await messagesTo(token('c1'))).toHaveLength(1);
});

test('a request that is repeated with its key is one event', async () => {
  await call('PUT', '/order-18/tokens', { app_id: 'shop', tokens: [token('d1')] });
  const body = { ...state, activityId: 'order-18', event: 'update' };
  const once = { ...body, key: 'order-18-2' };
  const answers = [await call('POST', '', once), await call('POST', '', once)];
  expect(answers[0]!.status).toBe(202);
  expect(answers[1]).toEqual(answers[0]);
  await until(async () => (await outcomesOf('order-18')).join() === 'update ACCEPTED  1');
  await until(async () => (await messagesTo(token('d1'))).length > 0);
  expect(await messagesTo(token('d1'))).toHaveLength(1);
  const [stored] = await bundle.database`
    select count(*) as messages from live_activity_messages where activity_id = 'order-18'`;
  expect(Number(stored!.messages)).toBe(1);
  expect((await call('POST', '', { ...once, event: 'end' })).status).toBe(409);
});

test('a phone that is gone loses its token, and one for which Apple asks for patience is tried again', async () => {
  const [gone, busy] = [`dead0410${'0'.repeat(56)}`, token('e1')];
  await call('PUT', '/order-19/tokens', { app_id: 'shop', tokens: [gone, busy] });
  const faults = { apns: { status: 503, headers: { 'retry-after': '1' }, device: busy, count: 1 } };
  expect((await bundle.call('POST', '/sandbox/faults', { body: faults })).status).toBe(204);
  await call('POST', '', { ...state, activityId: 'order-19', event: 'update' });
  await until(async () => (await outcomesOf('order-19')).every((line: string) => !line.includes('WAITING')));
  expect((await outcomesOf('order-19')).sort()).toEqual(['update ACCEPTED  1', 'update GONE Unregistered 1']);
  const [row] = await bundle.database`select attempts from live_activity_messages where token = ${busy}`;
  expect(row!.attempts).toBe(2);
  expect((await call('GET', '/order-19?app=shop')).body.tokens).toEqual({ start: 0, update: 1 });
});

test('an event whose workers died at every attempt is set aside, and not tried again', async () => {
  const [deadly, other] = [token('a7'), token('a8')];
  await call('PUT', '/order-21/tokens', { app_id: 'shop', tokens: [deadly, other] });
  const faults = { apns: { status: 503, headers: { 'retry-after': '300' }, device: deadly, count: 1 } };
  expect((await bundle.call('POST', '/sandbox/faults', { body: faults })).status).toBe(204);
  await call('POST', '', { ...state, activityId: 'order-21', event: 'update' });
  await until(async () => (await outcomesOf('order-21')).sort().join().includes('WAITING'));
  // As the claims of workers leave it that die before they store an outcome.
  await until(async () => {
    const rows = await bundle.database`
      update live_activity_messages set attempts = ${maxDeliveryAttempts}, next_at = created_at
      where token = ${deadly} and state = 'WAITING' and attempts = 1 and lease_until is null returning 1`;
    return rows.length === 1;
  });
  await until(async () => !(await outcomesOf('order-21')).join().includes('WAITING'));
  expect((await outcomesOf('order-21')).sort()).toEqual(['update ACCEPTED  1', 'update FAILED SET_ASIDE 1']);
  expect(await messagesTo(deadly)).toEqual([]);
});

test('what waits of an event that a newer one overtook is not sent', async () => {
  const late = token('f1');
  await call('PUT', '/order-20/tokens', { app_id: 'shop', tokens: [late] });
  const faults = { apns: { status: 503, headers: { 'retry-after': '300' }, device: late, count: 1 } };
  expect((await bundle.call('POST', '/sandbox/faults', { body: faults })).status).toBe(204);
  await call('POST', '', { ...state, activityId: 'order-20', event: 'update' });
  await until(async () => (await outcomesOf('order-20')).join().includes('WAITING'));
  await until(async () => {
    const [row] = await bundle.database`select attempts, lease_until from live_activity_messages where token = ${late}`;
    return row!.attempts === 1 && row!.lease_until === null;
  });
  await call('POST', '', { ...state, activityId: 'order-20', event: 'end' });
  expect((await outcomesOf('order-20')).at(-1)).toMatch(/^update SUPERSEDED/);
});

test('what Apple would not take is refused by its name, and nothing is stored', async () => {
  const refusalOf = async (body: object) => {
    const answer = await call('POST', '', { activityId: 'wrong', ...body });
    return [answer.status, answer.body.field, answer.body.detail];
  };
  const update = { ...state, event: 'update' };
  expect(await refusalOf({ ...update, app_id: 'courier' })).toEqual([
    ...[400, 'app_id', '"courier" is no app of this workspace on IOS'],
  ]);
  expect(await refusalOf({ ...update, activityId: 'a b' })).toEqual([
    ...[400, 'activityId', 'takes 1 to 64 letters, digits, dots, - and _'],
  ]);
  expect(await refusalOf({ ...start, alert: undefined })).toEqual([400, 'alert', 'is required']);
  expect(await refusalOf({ ...start, attributesType: '' })).toEqual([400, 'attributesType', 'is required']);
  expect(await refusalOf({ ...update, attributes: {} })).toEqual([400, 'attributes', 'is of a start']);
  expect(await refusalOf({ ...update, contentState: 'x' })).toEqual([400, 'contentState', 'must be an object']);
  expect(await refusalOf({ ...update, priority: 1 })).toEqual([400, 'priority', 'must be 5 or 10']);
  expect((await refusalOf({ ...update, staleDate: 1_790_000_000_000 })).slice(0, 2)).toEqual([400, 'staleDate']);
  expect(await refusalOf({ ...update, contentState: { text: 'x'.repeat(4_096) } })).toEqual([
    ...[400, 'contentState', expect.stringMatching(/^makes 41\d\d bytes; the limit is 4096$/)],
  ]);
  const tokens = await call('PUT', '/wrong/tokens', { app_id: 'shop', tokens: ['not-hexadecimal'] });
  expect([tokens.status, tokens.body.field]).toEqual([400, 'tokens']);
  expect((await call('PUT', '/wrong/tokens', { app_id: 'shop' })).body.field).toBe('tokens');
  expect((await call('GET', '/wrong?app=shop')).status).toBe(404);
  const ofData = await bundle.call('POST', '/v1/live-activities', { headers: bundle.basic(), body: {} });
  expect(ofData.status).toBe(403);
});
