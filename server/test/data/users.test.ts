import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeInteractionReports } from '../../src/app/interactions.ts';
import { makeInteractionTokens } from '../../src/domain/events/interactions.ts';
import { makeEraseLogBodies } from '../../src/engine/housekeeping/erase-log-bodies.ts';
import { makeEraseDueUsers } from '../../src/engine/housekeeping/erase-users.ts';
import { addressHash } from '../../src/domain/users/devices.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { insertApiLogEntries } from '../../src/storage/installation/api-log.ts';
import { idBytes } from '../../src/storage/ledger/ledger-encoding.ts';
import { isAnybodyWaiting } from '../is-anybody-waiting.ts';
import { addHistory, addRun } from './add-history.ts';
import { makeDataBundle, start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

describe('user requests', () => {
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

    test('blocks all devices of a user if none is named, with reason and reference', async () => {
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

    test('keeps a blocked device blocked when the app registers it, and restores the latest choice of the app', async () => {
      await bundle.addUser('again');
      await bundle.addDevice('again', 'a');
      await bundle.addDevice('again', 'b', { svc_push_opted: false });
      await manage('block', 'again');
      await bundle.addDevice('again', 'a', { svc_push_opted: false });
      expect(await stateOf('again')).toEqual({ a: 'BLOCKED', b: 'BLOCKED' });
      await manage('unblock', 'again');
      expect(await stateOf('again')).toEqual({ a: 'OPTED_OUT', b: 'OPTED_OUT' });
    });

    test('restores a device that a provider reported as gone to that state', async () => {
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
    ])('finds a device by its %s, in both forms', async (type, value) => {
      await bundle.addUser('named');
      await bundle.addDevice('named', 'a', { svc_gaid: 'gaid-a', idfv: 'idfv-a' });
      await bundle.addDevice('named', 'b');
      expect((await manage('block', 'named', { device_identifiers: [{ [type]: value }] })).status).toBe(200);
      expect(await stateOf('named')).toEqual({ a: 'BLOCKED', b: 'ACTIVE' });
      const other = { device_identifiers: [{ identifier_type: type, identifier: value }] };
      expect((await manage('unblock', 'named', other)).status).toBe(200);
      expect(await stateOf('named')).toEqual({ a: 'ACTIVE', b: 'ACTIVE' });
    });

    test('finds the user by id, too', async () => {
      await bundle.addUser('by-id');
      await bundle.addDevice('by-id', 'a');
      for (const type of ['id', 'svc_id']) {
        const action = type === 'id' ? 'block' : 'unblock';
        await manage(action, await idOf('by-id'), { user_identifier_type: type });
        expect(await stateOf('by-id')).toEqual({ a: type === 'id' ? 'BLOCKED' : 'ACTIVE' });
      }
    });

    test.each([
      ['an unknown user', { user_identifier_value: 'nobody' }, 'ValueError', /user_identifier_value/],
      ['an unknown type', { user_identifier_type: 'email' }, 'ValueError', /user_identifier_type/],
      ['an unknown action', { action_type: 'ban' }, 'ValueError', /action_type/],
      ['no action', { action_type: undefined }, 'MissingAttributeError', /action_type/],
      ['an empty list', { device_identifiers: [] }, 'ValueError', /empty/],
      ['a list of nothing known', { device_identifiers: [{ serial: '1' }] }, 'MissingAttributeError', /gaid/],
      ['a device that is not there', { device_identifiers: [{ push_id: 'x' }] }, 'ValueError', /device_identifiers/],
      ['a reason that is not a text', { reason: 4 }, 'ValueError', /reason/],
    ])('rejects %s, and changes nothing', async (...[, more, type, message]) => {
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

    test('returns users in the requested order, and lists unknown ones', async () => {
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
              user_attributes: {
                u_fn: 'One',
                tags: ['a'],
                deep: { x: [1] },
                id: await idOf('one'),
                customer_id: 'one',
              },
            },
          ],
        },
      });
    });

    test('returns only the requested fields, and the customer id', async () => {
      await bundle.addUser('few', { a: 1, b: 2, c: 3 });
      const answer = await ask([byCustomer('few')], { user_fields_to_export: ['b', 'none'] });
      expect(answer.body.data.users).toEqual([{ user_attributes: { b: 2, customer_id: 'few' } }]);
    });

    test('treats a type of null as absent', async () => {
      const answer = await bundle.call('/v1/customers/export', {
        type: null,
        data: { identifiers: [byCustomer('none')], user_fields_to_export: null },
      });
      expect(answer.body.status).toBe('success');
    });

    test('accepts at most 20 users, and counts each', async () => {
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
      ['an unknown kind', { data: { identifiers: [{ identifier_type: 'email', identifier: 'x' }] } }, 'ValueError'],
      [
        'fields that are no list',
        { data: { identifiers: [byCustomer('x')], user_fields_to_export: 'a' } },
        'ValueError',
      ],
    ])('rejects %s', async (_name, body, type) => {
      expect((await bundle.call('/v1/customers/export', body)).body.error.type).toBe(type);
    });
  });

  describe('POST /v1/integrations/authentication', () => {
    const check = (body: object, headers: Record<string, string> = { 'svc-appkey': bundle.workspaceId }) =>
      bundle.server.inject({ method: 'POST', url: '/v1/integrations/authentication', headers, payload: body });
    const credentials = () => ({ app_id: bundle.workspaceId, app_secret: bundle.key, source: 'shop', region: 'dc_01' });

    test('returns the name for valid credentials; the API log has the source and no secret', async () => {
      const answer = await check(credentials());
      expect([answer.statusCode, answer.json()]).toEqual([200, { status: 'success', app_name: 'Test workspace' }]);
      expect(answer.headers['x-ratelimit-limit']).toBe('1000');
      const call = bundle.calls.at(-1)!;
      expect(call.requestBody).toBeUndefined();
      expect(call.facts.errorDetail).toBe('connection test of shop');
    });

    test.each([null, ''])('treats a source and a region of %j as absent', async (nothing) => {
      expect((await check({ ...credentials(), source: nothing, region: nothing })).statusCode).toBe(200);
    });

    test.each([
      ['a wrong secret', { app_secret: 'wrong' }, 401, 'Authentication required'],
      ['another region', { region: '02' }, 400, 'ValueError'],
      ['an unknown region', { region: 'moon' }, 400, 'ValueError'],
      ['no secret', { app_secret: undefined }, 400, 'MissingAttributeError'],
    ])('rejects %s', async (...[, more, status, type]) => {
      const answer = await check({ ...credentials(), ...more });
      expect([answer.statusCode, answer.json().error.type]).toEqual([status, type]);
    });

    test('requires the same workspace in the header, and a key for data', async () => {
      expect((await check(credentials(), {})).json().error).toMatchObject({
        type: 'Missing header value',
        message: 'The SVC-APPKEY Header is required',
      });
      expect((await check(credentials(), { 'svc-appkey': 'OTHER' })).statusCode).toBe(409);
      const push = await check({ ...credentials(), app_secret: await bundle.makeKey('push') });
      expect([push.statusCode, push.json().code]).toEqual([403, 'ER007']);
    });
  });
});

describe('a bulk request', () => {
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

  test('processes users, devices and events in order, by the rules of single requests', async () => {
    const answer = await bundle.call(
      url,
      bulk(customer('ada', { n: 1 }), customer('ada', { n: 2 }), device('ada', 'ada-1'), event('ada', 'Opened')),
    );
    expect([answer.status, answer.body.status]).toEqual([200, 'success']);
    expect(await bundle.attributes('ada')).toEqual({ n: 2 });
    expect(await bundle.identifiers('ada')).toEqual(['device:push_id:string=ada-1', 'n:double=2']);
    expect(await events()).toEqual(['Opened']);
  });

  test('assigns events of many users, of a new device, and of a merged user to the right user', async () => {
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

  test('accepts the other elements if some are rejected, which only the API log names (fact 5)', async () => {
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
    expect(errorDetail).toMatch(/^5 elements rejected\. /);
    for (const told of [
      /elements\[0\]: ValueError: 'customer_id' is a reserved value/,
      /elements\[1\]: ValueError: 'customer_id' must exist/,
      /elements\[2\]: ValueError: 'elements' must be a list of objects/,
      /elements\[3\]: ValueError: 'type' must be/,
      /elements\[4\]: ValueError: 'actions\[0\]\.user_time' must not be more than 5 minutes in the future/,
    ])
      expect(errorDetail).toMatch(told);
  });

  test('processes its elements once for the same Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'bulk-1' };
    const body = bulk(event('once', 'Once'));
    const [first, second] = [await bundle.call(url, body, { headers }), await bundle.call(url, body, { headers })];
    expect(second.body).toEqual(first.body);
    expect((await events()).filter((name) => name === 'Once')).toHaveLength(1);
  });

  test('names the rejected elements in the API log for a repeat with the same Idempotency-Key, too', async () => {
    const headers = { 'idempotency-key': 'bulk-2' };
    const body = bulk(device('not-there', 'x'), 7, customer('guest'), event('named', 'Named'));
    const told: unknown[] = [];
    for (let call = 0; call < 2; call += 1) {
      await bundle.call(url, body, { headers });
      told.push(bundle.calls.at(-1)!.facts.errorDetail);
    }
    expect(told[0]).toMatch(
      /^3 elements rejected\. elements\[0\]: ValueError: 'customer_id' must exist; elements\[1\].*; elements\[2\]: /,
    );
    expect(told[1]).toBe(told[0]);
  });

  test('succeeds concurrently with another one about the same users in the opposite order', async () => {
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
  ])('is rejected with %s', async (_name, body, type) => {
    const answer = await bundle.call(url, body);
    expect([answer.status, answer.body.error.type]).toEqual([400, type]);
  });

  test('gets 413 over 100 KB', async () => {
    const answer = await bundle.call(url, bulk(customer('large', { text: 'x'.repeat(100 * 1024) })));
    expect([answer.status, answer.body.error.message]).toEqual([413, 'The payload can not exceed 100KB']);
  });

  test('counts users and events separately, all or none, and returns the tighter limit', async () => {
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

  test('rejects a user with an unknown time zone by name, and stores an alias as it was sent', async () => {
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
});

describe('the erasure of a user', () => {
  let bundle: DataBundle;
  beforeAll(async () => {
    bundle = await makeDataBundle({ requestsPerMinute: 100_000 });
  });
  afterAll(() => bundle.end());

  const hour = 3_600_000;
  const remove = (value: string, type = 'customer_id') =>
    bundle.call('/v1/customer/delete', { identity_type: type, identity_value: value });
  const figures = async () => ({
    deliveries: [
      ...(await bundle.database`
        select outcome, count(*) as rows, count(distinct user_id) as users, count(distinct device_id) as devices
        from readable_deliveries as deliveries group by 1 order by 1`),
    ],
    conversions: [
      ...(await bundle.database`
        select count(*) as rows, count(distinct user_id) as users, count(distinct event_id) as events from conversions`),
    ],
  });

  test('leaves no data of the user in any table, keeps the statistics, and records what was removed', async () => {
    const other = await addHistory(bundle, 'neighbour');
    const mergedBefore = await addHistory(bundle, 'merged-before');
    const subject = await addHistory(bundle, 'subject-of-erasure');
    // Somebody who was merged into the person is the person.
    const mergedTraces = await tracesOf('merged-before');
    await bundle.call('/v1/customer/merge', {
      merge_data: [{ merged_user: 'merged-before', retained_user: 'subject-of-erasure' }],
    });
    await addRun(bundle, 'subject-of-erasure', 'WAITING');
    // A change by hand is a line that names the person.
    await bundle.database`
      insert into audit_log (id, workspace_id, at, actor_name, action, object_kind, object_id)
      select ${'9'.repeat(24)}, workspace_id, ${start}, 'Olga', 'person.attributes', 'person', id from users
      where customer_id = 'subject-of-erasure'`;
    await addJourneyEntry('subject-of-erasure');
    const traces = [...mergedTraces, ...(await tracesOf('subject-of-erasure'))];
    const tables = Object.keys(await findEverywhere(traces));
    for (const table of [
      'audit_log',
      'users',
      'devices',
      'identifiers',
      'segment_members',
      'push_addresses',
      'installations',
      'app_event_ids',
      'device_interactions',
      'triggers',
      'journey_users',
      'journey_positions',
      'journey_passages',
    ])
      expect(tables).toContain(table);
    for (const table of ['conversions', 'merged_users', 'runs', 'sandbox_messages']) expect(tables).toContain(table);
    expect(tables.filter((name) => /^(events|deliveries)_2026/.test(name))).toHaveLength(2);
    const [before, neighbour] = [await figures(), await findEverywhere(await tracesOf('neighbour'))];

    expect((await remove('subject-of-erasure')).status).toBe(200);
    bundle.clock.advance(24 * hour - 1);
    expect(await erase()).toBe(0);
    expect(await bundle.attributes('subject-of-erasure')).toBeDefined();
    bundle.clock.advance(1);
    expect(await erase()).toBe(1);
    // The record alone still knows whose rows they were, for the second look.
    // The log is read a minute later.
    expect(Object.keys(await findEverywhere(traces))).toEqual(['erasures', 'log_erasures']);
    bundle.clock.advance(hour);
    expect(await erase()).toBe(1);
    expect(await findEverywhere(traces)).toEqual({});

    expect(await figures()).toEqual(before);
    expect(await findEverywhere(await tracesOf('neighbour'))).toEqual(neighbour);
    const [segment] = await bundle.database`select user_count from segments where id = ${other.segmentId}`;
    expect(segment!.user_count).toBe(1);
    const [gone] = await bundle.database`
      select sum(user_count) as users from segments where id in (${mergedBefore.segmentId}, ${subject.segmentId})`;
    expect(Number(gone!.users)).toBe(0);
    const [record] = await bundle.database`select state, counts, removed_at from erasures`;
    expect(record).toEqual({
      state: 'DONE',
      removed_at: new Date(start.getTime() + 24 * hour),
      counts: {
        users: 1,
        merged_users: 1,
        identifiers: 7,
        installations: 2,
        devices: 2,
        event_stream_batches: 0,
        push_addresses: 2,
        events: 2,
        triggers: 2,
        journey_positions: 3,
        segment_members: 2,
        device_interactions: 6,
        conversions: 2,
        deliveries: 6,
        user_messages: 1,
        topic_choices: 1,
        inbox_messages: 2,
        audience_seats: 2,
        runs: 5,
        sandbox_messages: 2,
        audit_log: 1,
        target_selectors: 0,
        filters: 0,
      },
    });
  });

  test('removes the names of the user from targets and filters, and keeps those of others', async () => {
    const names = { email: 'named@example.com', mobile: '+4915112345', city: 'Rome' };
    await bundle.addUser('named-person', names);
    await bundle.addDevice('named-person', 'd');
    const texts = ['named-person', names.email, names.mobile, 'token-named-person-d'];
    const filter = (value: unknown) => ({
      filter_operator: 'and',
      filters: [{ filter_type: 'user_attributes', name: 'email', data_type: 'string', operator: 'in', value }],
    });
    const [run] = await bundle.database`select id, campaign_id as campaign from runs limit 1`;
    const selector = { attribute: 'uid', isCustom: true, values: ['someone-else', ...texts] };
    const { database } = bundle;
    await database`update runs set target_selector = ${database.json(selector)}, due_at = ${start} where id = ${run!.id}`;
    await database`
      update campaigns set target_selector = ${database.json(selector)},
        parts = ${database.json({ segmentation_details: { included_filters: filter(texts) } })}
      where id = ${run!.campaign}`;
    const named = { filters: filter([names.email, names.city, 'other@example.com']), id: 'f'.repeat(24) };
    await database`
      insert into segments (id, workspace_id, name, kind, state, source, included_filters, filters_digest, description,
        created_by, created_at, updated_at)
      values (${named.id}, ${bundle.workspaceId}, 'By name', 'FILTER', 'READY', 'API', ${database.json(named.filters)},
        ${Buffer.alloc(32)}, ${`Users for whom u_em is ${names.email}`}, 'test', ${start}, ${start})`;

    await remove('named-person');
    bundle.clock.advance(24 * hour);
    await erase();
    bundle.clock.advance(hour);
    await erase();
    expect(await findEverywhere(texts)).toEqual({});
    const [row] = await database`
      select campaigns.target_selector -> 'values' as campaign, runs.target_selector -> 'values' as run
      from runs join campaigns on campaigns.id = runs.campaign_id where runs.id = ${run!.id}`;
    expect(row).toEqual({ campaign: ['someone-else'], run: ['someone-else'] });
    const [kept] = await database`
      select included_filters as filters, description from segments where id = ${named.id}`;
    expect(kept).toEqual({
      filters: filter(['[erased]', names.city, 'other@example.com']),
      description: 'Users for whom u_em is [erased]',
    });
    const [record] = await database`select counts from erasures order by requested_at desc limit 1`;
    expect(record!.counts).toMatchObject({ target_selectors: 2, filters: 2 });
  });

  test('removes in the second pass what running work wrote after the first', async () => {
    await addHistory(bundle, 'latecomer');
    const [user] = await bundle.database`select bucket, id from users where customer_id = 'latecomer'`;
    const traces = await tracesOf('latecomer');
    await remove('latecomer');
    bundle.clock.advance(24 * hour);
    await erase();
    // A window that was open stores its outcome, a file its member.
    await bundle.database`
      insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome,
        attempts, sent_at)
      select '2026-03-01', workspaces.number, ${user!.bucket as number}, runs.number, ${idBytes(traces[2]!)},
        ${idBytes(user!.id as string)}, 'A', 'A', 1, ${start}
      from runs join workspaces on workspaces.id = workspace_id limit 1`;
    await bundle.database`
      insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
      select workspace_id, ${user!.bucket as number}, id, ${user!.id as string}, 1 from segments limit 1`;
    bundle.clock.advance(hour);
    await erase();
    expect(await findEverywhere(traces)).toEqual({});
  });

  test('empties the calls of the API log that named an erased user, a page at a time, and counts them', async () => {
    await bundle.addUser('logged', { u_em: 'logged@example.com' });
    await bundle.addDevice('logged', 'd');
    const entry = (id: number, workspaceId: string | null, given: object) => ({
      id: String(id).padStart(24, 'c'),
      workspaceId,
      receivedAt: bundle.clock.now(),
      method: 'POST',
      path: '/v1/customer/W',
      route: '/v1/customer/:app_id',
      status: 400,
      durationMilliseconds: 1,
      keyId: null,
      errorName: null,
      errorDetail: null,
      warnings: [],
      requestBody: null,
      responseBody: null,
      headers: null,
      ...given,
    });
    const own = bundle.workspaceId;
    await insertApiLogEntries(bundle.database, [
      entry(1, own, { requestBody: '{"customer_id":"logged","attributes":{"city":"Linz"}}' }),
      entry(2, own, { errorDetail: 'logged@example.com has no device', warnings: ['token-logged-d'] }),
      entry(3, own, { path: '/v1/customer/W?email=logged%40example.com' }),
      entry(4, null, { requestBody: '{"customer_id":"logged"}' }),
      ...Array.from({ length: 1_100 }, (_, index) =>
        entry(100 + index, own, { requestBody: '{"customer_id":"other"}' }),
      ),
      entry(5_000, own, { responseBody: '{"users":["logged"]}' }),
    ]);
    const traces = await tracesOf('logged');
    await remove('logged');
    bundle.clock.advance(24 * hour);
    await erase();
    const job = makeEraseLogBodies(bundle);
    bundle.clock.advance(59_999);
    expect(await job.runOnce(bundle.clock.now())).toBe(0);
    bundle.clock.advance(1);
    let pages = 0;
    while ((await job.runOnce(bundle.clock.now())) > 0) pages += 1;
    expect(pages).toBeGreaterThanOrEqual(4);
    bundle.clock.advance(hour);
    await erase();
    expect(await findEverywhere(traces.filter((trace) => trace !== 'd'))).toEqual({});
    const rows = await bundle.database`
      select path, request_body, count(*) as calls from api_log where route = '/v1/customer/:app_id' group by 1, 2 order by 3`;
    expect([...rows]).toEqual([
      { path: '/v1/customer/W?email=[erased]', request_body: null, calls: 1 },
      { path: '/v1/customer/W', request_body: null, calls: 4 },
      { path: '/v1/customer/W', request_body: '{"customer_id":"other"}', calls: 1_100 },
    ]);
    const [proof] =
      await bundle.database`select counts -> 'api_log' as calls from erasures order by requested_at desc limit 1`;
    expect(proof).toEqual({ calls: 5 });
    expect(await bundle.database`select from log_erasures`).toHaveLength(0);
  });

  test('erases a user although a device that takes over the address deadlocks with it', async () => {
    await bundle.addUser('entangled');
    await bundle.addDevice('entangled', 'd');
    await remove('entangled');
    bundle.clock.advance(24 * hour);
    const [device] = await bundle.database`select bucket from devices where push_id = 'token-entangled-d'`;
    let erasing: Promise<number> | undefined;
    await inTransaction(bundle.database, async (tx) => {
      // The erasure is the one that the database ends.
      await tx`set local deadlock_timeout = '50s'`;
      // A registration locks the address, then the device that loses it.
      await tx`select from push_addresses where address_hash = ${addressHash('token-entangled-d')} for update`;
      erasing = erase();
      while (!(await isAnybodyWaiting(bundle.database)));
      await tx`select from devices where bucket = ${device!.bucket as number} and push_id = 'token-entangled-d' for update`;
    });
    expect(await erasing).toBeGreaterThan(0);
    expect(await bundle.attributes('entangled')).toBeUndefined();
  });

  test('drops a later report of a device of the user', async () => {
    await bundle.addUser('reporter');
    await bundle.addDevice('reporter', 'd');
    const { runId } = await addRun(bundle, 'reporter');
    const [device] = await bundle.database`select bucket, id from devices where push_id = 'token-reporter-d'`;
    const traces = await tracesOf('reporter');
    await remove('reporter');
    bundle.clock.advance(25 * hour);
    await erase();
    bundle.clock.advance(hour);
    await erase();
    const tokens = makeInteractionTokens(Buffer.alloc(32, 7));
    const { token } = tokens.issue({
      workspaceId: bundle.workspaceId,
      runId,
      bucket: device!.bucket as number,
      deviceId: device!.id as string,
      platform: 'ANDROID',
    });
    const limits = { token: { events: 100, seconds: 60 }, address: { events: 100, seconds: 60 } };
    const interactions = makeInteractionReports({ ...bundle, tokens, limits });
    await interactions.report({ token, kind: 'click', address: '192.0.2.1' } as never);
    expect(await findEverywhere(traces)).toEqual({});
  });

  test('keeps its date in a repeated request, and frees the customer id afterwards', async () => {
    await bundle.addUser('twice', { old: true });
    await remove('twice');
    bundle.clock.advance(12 * hour);
    expect((await remove('twice')).status).toBe(200);
    bundle.clock.advance(12 * hour);
    await erase();
    expect(await bundle.attributes('twice')).toBeUndefined();
    await bundle.addUser('twice', { fresh: true });
    bundle.clock.advance(48 * hour);
    await erase();
    expect(await bundle.attributes('twice')).toEqual({ fresh: true });
  });

  test('finds the user by id, too, and rejects an unknown user or another kind of id', async () => {
    await bundle.addUser('by-id');
    const [user] = await bundle.database`select id from users where customer_id = 'by-id'`;
    expect((await remove(user!.id as string, 'svc_id')).status).toBe(200);
    expect((await remove('nobody')).body.error).toMatchObject({ type: 'ValueError', attribute: 'identity_value' });
    expect((await remove('x', 'email')).body.error.attribute).toBe('identity_type');
    expect((await bundle.call('/v1/customer/delete', {})).body.error.type).toBe('MissingAttributeError');
  });

  const erased = [
    'audience_seats.user_id',
    'campaigns.target_selector',
    'conversions.user_id',
    'deliveries.device_id',
    'deliveries.user_id',
    'device_interactions.device_id',
    'devices.device_id',
    'devices.push_id',
    'devices.user_id',
    'erasures.user_ids',
    'event_stream_marks.device_id',
    'events.device_row_id',
    'events.user_id',
    'identifiers.user_id',
    'inbox_messages.user_id',
    'installations.user_bucket',
    'installations.user_id',
    'merged_users.customer_id',
    'merged_users.retained_user_id',
    'merged_users.user_id',
    'push_addresses.address_hash',
    'push_addresses.device_row_id',
    'runs.target_selector',
    'runs.target_users',
    'sandbox_messages.device_token',
    'segment_members.user_id',
    'topic_choices.user_id',
    'journey_passages.user_id',
    'journey_users.user_id',
    'journey_positions.user_id',
    'triggers.user_id',
    'user_messages.user_id',
    'users.customer_id',
  ];
  const kept: Record<string, string> = {
    'access_tokens.refresh_token_hash': 'a key’s token',
    'access_tokens.token_hash': 'a key’s token',
    'agent_proposals.customer_ids': 'of a test that waits for a decision, forgotten with it and after 14 days at most',
    'agent_proposals.token_id': 'an operator’s token',
    'agent_tokens.token_hash': 'an operator’s token',
    'api_keys.access_token_minutes': 'a setting',
    'apps.identifier': 'the name of a package, bundle or site',
    'console_sessions.source_address': 'an operator’s session',
    'console_sessions.token_hash': 'an operator’s session',
    'console_sessions.user_agent': 'an operator’s session',
    'devices.push_id_type': 'a kind of address',
    'devices.push_provider': 'the name of a service',
    'erased_devices.device_digest': 'the digest of a random id that nothing else knows any more',
    'erasures.customer_digest': 'the proof',
    'event_streams.device_attributes': 'names of attributes',
    'event_streams.user_attributes': 'names of attributes',
    'imports.users': 'a number',
    'installation.token_epoch': 'a number',
    'live_activity_messages.token': 'of one activity, gone after a day',
    'live_activity_tokens.token': 'of one activity, gone after a day',
    'mails.recipients': 'addresses of operators',
    'push_token_challenges.address': 'gone after an hour, when an erasure looks again',
    'push_token_challenges.address_hash': 'gone after an hour, when an erasure looks again',
    'refresh_tokens.token_hash': 'a key’s token',
    'runs.audience_users': 'a number',
    'runs.group_users': 'numbers',
    'send_budgets.tokens': 'a number',
    'segment_operations.counted_users': 'a number',
    'segment_operations.user_count': 'a number',
    'segments.user_count': 'a number',
    'workspaces.push_bodies': 'a setting',
    'workspaces.push_from': 'a setting',
  };

  test('covers every column that may identify a user', async () => {
    const columns = await bundle.database`
      select distinct relname || '.' || attname as name from pg_attribute join pg_class on pg_class.oid = attrelid
      join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relkind in ('r', 'p') and not relispartition and attnum > 0 and not attisdropped
        and (attname ~ '(^|_)(user|users|device|customer|customers|push|address|target|recipients?|tokens?|identifiers?)(_|$)')
      order by 1`;
    // Whoever adds a column that may name a person erases it in erase-people.ts, or says here why it need not.
    const names = new Set(columns.map((row) => row.name as string));
    expect([...names].filter((name) => !erased.includes(name) && !(name in kept))).toEqual([]);
    expect([...erased, ...Object.keys(kept)].filter((name) => !names.has(name))).toEqual([]);
  });

  /** An open entry in a journey, with one step of its history. */
  async function addJourneyEntry(customerId: string): Promise<void> {
    const { database } = bundle;
    const user = database`select workspace_id, bucket, id from users where customer_id = ${customerId}`;
    await database`
      insert into journey_users (workspace_id, bucket, user_id, journey_id, entered_at)
      select found.*, 'journey', ${start}::timestamptz from (${user}) as found on conflict do nothing`;
    await database`
      insert into journey_positions (workspace_id, bucket, user_id, journey_id, entry_id, version, step, entered_at,
        arrived_at, due_at, entry_event)
      select found.*, 'journey', 'entry', 1, 'pause', ${start}::timestamptz, ${start}::timestamptz,
        ${start}::timestamptz, '{}' from (${user}) as found on conflict do nothing`;
    await database`
      insert into journey_passages (workspace_id, bucket, user_id, journey_id, entry_id, step, version, arrived_at,
        left_at, edge)
      select found.*, 'journey', 'entry', 'hello', 1, ${start}::timestamptz, ${start}::timestamptz, 'next'
      from (${user}) as found on conflict do nothing`;
  }

  async function erase(): Promise<number> {
    const job = makeEraseDueUsers(bundle);
    let steps = 0;
    while ((await job.runOnce(bundle.clock.now())) > 0) steps += 1;
    while ((await makeEraseLogBodies(bundle).runOnce(bundle.clock.now())) > 0);
    return steps;
  }

  /** Every table of the catalog, with the rows in which one of the texts stands in any column. */
  async function findEverywhere(texts: string[]): Promise<Record<string, number>> {
    const tables = await bundle.database`
      select relname as name from pg_class join pg_namespace on pg_namespace.oid = relnamespace
      where nspname = 'public' and relkind = 'r' and relname <> 'spatial_ref_sys' order by 1`;
    const found: Record<string, number> = {};
    for (const { name } of tables) {
      const [row] = await bundle.database`
        select count(*) as rows from ${bundle.database(name as string)} as given
        where exists (select 1 from unnest(${texts}::text[]) as wanted where position(wanted in given::text) > 0)`;
      if ((row!.rows as number) > 0) found[name as string] = row!.rows as number;
    }
    return found;
  }

  async function tracesOf(customerId: string): Promise<string[]> {
    const rows = await bundle.database`
      select users.id as user, devices.id as device from users
      left join devices on devices.bucket = users.bucket and devices.user_id = users.id
      where users.customer_id = ${customerId}`;
    const ids = rows.flatMap(({ user, device }) => [user, device] as (string | null)[]).filter((id) => id !== null);
    const address = await bundle.database`
      select encode(address_hash, 'hex') as hash from push_addresses
      where device_row_id = any(${rows.map((row) => row.device as string)})`;
    return [customerId, ...ids, ...address.map((row) => row.hash as string)];
  }
});
