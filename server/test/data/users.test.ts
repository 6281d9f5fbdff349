import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeDataBundle, start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
});
afterAll(() => bundle.end());

const stateOf = async (customerId: string) =>
  Object.fromEntries(
    (await bundle.devices()).filter((row) => row.customer === customerId).map((row) => [row.device, row.state]),
  );
const idOf = async (customerId: string) =>
  (await bundle.database`select id from users where customer_id = ${customerId}`)[0]!.id as string;

describe('POST /v1/devices/manage', () => {
  const manage = (action: string, customerId: string, more: object = {}) =>
    bundle.call('/v1/devices/manage', {
      user_identifier_type: 'customer_id',
      user_identifier_value: customerId,
      action_type: action,
      ...more,
    });

  test('blocks all devices of a user when none is named, with reason and reference', async () => {
    await bundle.addUser('blocked');
    await bundle.addDevice('blocked', 'a');
    await bundle.addDevice('blocked', 'b', { svc_push_opted: false });
    const answer = await manage('block', 'blocked', { reason: 'stolen', client_reference_id: 'T-1' });
    expect([answer.status, answer.body.status]).toEqual([200, 'success']);
    expect(await stateOf('blocked')).toEqual({ a: 'BLOCKED', b: 'BLOCKED' });
    const rows = await bundle.database`
      select block_reason, block_reference, blocked_at from devices where push_id = 'token-blocked-a'`;
    expect([...rows]).toEqual([{ block_reason: 'stolen', block_reference: 'T-1', blocked_at: start }]);
  });

  test('a blocked device stays blocked when the app registers it, and is afterwards what the app said last', async () => {
    await bundle.addUser('again');
    await bundle.addDevice('again', 'a');
    await bundle.addDevice('again', 'b', { svc_push_opted: false });
    await manage('block', 'again');
    await bundle.addDevice('again', 'a', { svc_push_opted: false });
    expect(await stateOf('again')).toEqual({ a: 'BLOCKED', b: 'BLOCKED' });
    await manage('unblock', 'again');
    expect(await stateOf('again')).toEqual({ a: 'OPTED_OUT', b: 'OPTED_OUT' });
  });

  test('a device that a provider called dead is dead again after the block', async () => {
    await bundle.addUser('dead');
    await bundle.addDevice('dead', 'a');
    await bundle.database`
      update devices set state = 'GONE', gone_at = ${start}, gone_reason = 'UNREGISTERED'
      where push_id = 'token-dead-a'`;
    await manage('block', 'dead');
    expect(await stateOf('dead')).toEqual({ a: 'BLOCKED' });
    await manage('unblock', 'dead');
    expect(await stateOf('dead')).toEqual({ a: 'GONE' });
  });

  test.each([
    ['push_id', 'token-named-a'],
    ['svc_gaid', 'gaid-a'],
    ['unique_id', 'a'],
    ['device_unique_id', 'idfv-a'],
  ])('a device is named by its %s, in both forms', async (type, value) => {
    await bundle.addUser('named');
    await bundle.addDevice('named', 'a', { svc_gaid: 'gaid-a', idfv: 'idfv-a' });
    await bundle.addDevice('named', 'b');
    expect((await manage('block', 'named', { device_identifiers: [{ [type]: value }] })).status).toBe(200);
    expect(await stateOf('named')).toEqual({ a: 'BLOCKED', b: 'ACTIVE' });
    const other = { device_identifiers: [{ identifier_type: type, identifier: value }] };
    expect((await manage('unblock', 'named', other)).status).toBe(200);
    expect(await stateOf('named')).toEqual({ a: 'ACTIVE', b: 'ACTIVE' });
  });

  test('the user is named by id too', async () => {
    await bundle.addUser('by-id');
    await bundle.addDevice('by-id', 'a');
    for (const type of ['id', 'svc_id']) {
      const action = type === 'id' ? 'block' : 'unblock';
      await manage(action, await idOf('by-id'), { user_identifier_type: type });
      expect(await stateOf('by-id')).toEqual({ a: type === 'id' ? 'BLOCKED' : 'ACTIVE' });
    }
  });

  test.each([
    ['a user nobody knows', { user_identifier_value: 'nobody' }, 'ValueError', /user_identifier_value/],
    ['a type that is none', { user_identifier_type: 'email' }, 'ValueError', /user_identifier_type/],
    ['an action that is none', { action_type: 'ban' }, 'ValueError', /action_type/],
    ['no action', { action_type: undefined }, 'MissingAttributeError', /action_type/],
    ['an empty list', { device_identifiers: [] }, 'ValueError', /empty/],
    ['a list of nothing known', { device_identifiers: [{ serial: '1' }] }, 'MissingAttributeError', /gaid/],
    ['a device that is not there', { device_identifiers: [{ push_id: 'x' }] }, 'ValueError', /device_identifiers/],
    ['a reason that is no text', { reason: 4 }, 'ValueError', /reason/],
  ])('%s is refused, and nothing changes', async (...[, more, type, message]) => {
    await bundle.addUser('untouched');
    await bundle.addDevice('untouched', 'a');
    const answer = await manage('block', 'untouched', more);
    expect([answer.status, answer.body.error.type]).toEqual([400, type]);
    expect(answer.body.error.message).toMatch(message);
    expect(await stateOf('untouched')).toEqual({ a: 'ACTIVE' });
  });
});

describe('POST /v1/customers/export', () => {
  const ask = (identifiers: object[], more: object = {}) =>
    bundle.call('/v1/customers/export', { data: { identifiers, ...more } });
  const byCustomer = (identifier: string) => ({ identifier_type: 'customer_id', identifier });

  test('gives users in the order asked for, and names those it does not know', async () => {
    await bundle.addUser('one', { u_fn: 'One', tags: ['a'], deep: { x: [1] } });
    await bundle.addUser('two', { n: 2.5, yes: true });
    const id = await idOf('two');
    const answer = await ask([{ identifier_type: 'id', identifier: id }, byCustomer('none'), byCustomer('one')]);
    expect(answer.body).toEqual({
      status: 'success',
      type: 'export_users',
      data: {
        users_not_found: [byCustomer('none')],
        users: [
          { user_attributes: { n: 2.5, yes: true, id, customer_id: 'two' } },
          {
            user_attributes: { u_fn: 'One', tags: ['a'], deep: { x: [1] }, id: await idOf('one'), customer_id: 'one' },
          },
        ],
      },
    });
  });

  test('gives only the fields that were asked for, and the customer id', async () => {
    await bundle.addUser('few', { a: 1, b: 2, c: 3 });
    const answer = await ask([byCustomer('few')], { user_fields_to_export: ['b', 'none'] });
    expect(answer.body.data.users).toEqual([{ user_attributes: { b: 2, customer_id: 'few' } }]);
  });

  test('takes a type of null as none', async () => {
    const answer = await bundle.call('/v1/customers/export', {
      type: null,
      data: { identifiers: [byCustomer('none')], user_fields_to_export: null },
    });
    expect(answer.body.status).toBe('success');
  });

  test('takes 20 and no more; each counts', async () => {
    const twenty = Array.from({ length: 20 }, (_, index) => byCustomer(`x${index}`));
    const before = Number((await ask([byCustomer('x')])).headers['x-ratelimit-remaining']);
    const answer = await ask(twenty);
    expect([answer.status, answer.body.data.users_not_found.length]).toEqual([200, 20]);
    expect(Number(answer.headers['x-ratelimit-remaining'])).toBe(before - 20);
    expect((await ask([...twenty, byCustomer('y')])).body.error).toMatchObject({
      type: 'LimitBreached',
      message: 'max limit allowed is 20',
    });
  });

  test.each([
    ['no data', {}, 'MissingAttributeError'],
    ['another type', { type: 'export', data: { identifiers: [byCustomer('x')] } }, 'ValueError'],
    ['an empty list', { data: { identifiers: [] } }, 'ValueError'],
    ['a kind that is none', { data: { identifiers: [{ identifier_type: 'email', identifier: 'x' }] } }, 'ValueError'],
    ['fields that are no list', { data: { identifiers: [byCustomer('x')], user_fields_to_export: 'a' } }, 'ValueError'],
  ])('%s is refused', async (_name, body, type) => {
    expect((await bundle.call('/v1/customers/export', body)).body.error.type).toBe(type);
  });
});

describe('POST /v1/integrations/authentication', () => {
  const check = (body: object, headers: Record<string, string> = { 'svc-appkey': bundle.workspaceId }) =>
    bundle.server.inject({ method: 'POST', url: '/v1/integrations/authentication', headers, payload: body });
  const credentials = () => ({ app_id: bundle.workspaceId, app_secret: bundle.key, source: 'shop', region: 'dc_01' });

  test('right credentials are told the name; the secret stays out of the log, the source is in it', async () => {
    const answer = await check(credentials());
    expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'success', app_name: 'Test workspace' }]);
    expect(answer.headers['x-ratelimit-limit']).toBe('1000');
    const call = bundle.calls.at(-1)!;
    expect(call.requestBody).toBeUndefined();
    expect(call.facts.errorDetail).toBe('connection test of shop');
  });

  test.each([null, ''])('a source and a region of %j are none', async (nothing) => {
    expect((await check({ ...credentials(), source: nothing, region: nothing })).statusCode).toBe(200);
  });

  test.each([
    ['a wrong secret', { app_secret: 'wrong' }, 401, 'Authentication required'],
    ['another region', { region: '02' }, 400, 'ValueError'],
    ['a region that is none', { region: 'moon' }, 400, 'ValueError'],
    ['no secret', { app_secret: undefined }, 400, 'MissingAttributeError'],
  ])('%s is refused', async (...[, more, status, type]) => {
    const answer = await check({ ...credentials(), ...more });
    expect([answer.statusCode, answer.json().error.type]).toEqual([status, type]);
  });

  test('the header must name the same workspace, and the key must be for data', async () => {
    expect((await check(credentials(), {})).json().error).toMatchObject({
      type: 'Missing header value',
      message: 'The SVC-APPKEY Header is required',
    });
    expect((await check(credentials(), { 'svc-appkey': 'OTHER' })).statusCode).toBe(409);
    const push = await check({ ...credentials(), app_secret: await bundle.makeKey('push') });
    expect([push.statusCode, push.json().code]).toEqual([403, 'ER007']);
  });
});
