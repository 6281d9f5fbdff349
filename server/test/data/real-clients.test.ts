import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { userSource } from '../../src/domain/template/personalise.ts';
import { apiNamesOfAttributes } from '../../src/domain/users/standard-attributes.ts';
import { inTransaction } from '../../src/storage/database.ts';
import { splitStatements } from '../../src/storage/postgres/split-statements.ts';
import { findSelectedUsers } from '../../src/storage/users/users.ts';
import { makeDataBundle, start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
});
afterAll(() => bundle.end());

const bulk = (...elements: unknown[]) => ({ type: 'transition', elements });
const customer = (more: object) => ({ type: 'customer', customer_id: 'ada', attributes: {}, ...more });

describe('attributes with API names (field B1)', () => {
  const sent = {
    ...{ name: 'Ada Lovelace', first_name: 'Ada', last_name: 'Lovelace', email: 'ada@example.com' },
    ...{ mobile: '+441', gender: 'female', birthday: '1815-12-10', city: 'London' },
  };
  const stored = {
    ...{ u_n: 'Ada Lovelace', u_fn: 'Ada', u_ln: 'Lovelace', u_em: 'ada@example.com' },
    ...{ u_mb: '+441', u_gd: 'female', u_bd: '1815-12-10', city: 'London' },
  };

  test('are stored as the standard attributes, individually and in bulk', async () => {
    expect((await bundle.addUser('single', sent)).statusCode).toBe(200);
    await bundle.call('/v1/transition/', bulk(customer({ customer_id: 'many', attributes: sent })));
    expect(await bundle.attributes('single')).toEqual(stored);
    expect(await bundle.attributes('many')).toEqual(stored);
  });

  test.each(['dob', 'birthday'])('are stored as the birthday with the name %s', async (name) => {
    await bundle.addUser(`born-${name}`, { [name]: '1815-12-10' });
    expect(await bundle.attributes(`born-${name}`)).toEqual({ u_bd: '1815-12-10' });
  });

  test('may be an empty list, as PHP writes an empty object, in every call', async () => {
    expect((await bundle.addUser('php', [] as never)).statusCode).toBe(200);
    expect(await bundle.attributes('php')).toEqual({});
    const event = { type: 'event', customer_id: 'php', actions: [{ action: 'Seen', attributes: [] }] };
    expect((await bundle.call('/v1/event/', event)).status).toBe(200);
    const answer = await bundle.call(
      '/v1/transition/',
      bulk(customer({ customer_id: 'php-bulk', attributes: [] }), event),
    );
    expect([answer.status, answer.headers?.['x-svc-warning']]).toEqual([200, undefined]);
    expect(await bundle.attributes('php-bulk')).toEqual({});
    expect((await bundle.addUser('php-list', ['x'] as never)).statusCode).toBe(400);
  });

  test('are removed by either name', async () => {
    await bundle.addUser('removed', { u_em: 'old@example.com' });
    await bundle.addUser('removed', { email: null });
    expect(await bundle.attributes('removed')).toEqual({});
  });

  test('find users by email in a push, by either name', async () => {
    await bundle.addUser('found', { email: 'found@example.com' });
    for (const selector of [
      { attribute: 'USER_ATTRIBUTE_USER_EMAIL', isCustom: false },
      { attribute: 'email', isCustom: true },
      { attribute: 'u_em', isCustom: true },
    ]) {
      const named = { workspaceId: bundle.workspaceId, selector: { ...selector, values: ['found@example.com'] } };
      expect(await findSelectedUsers(bundle.database, { ...named, limit: 10 })).toHaveLength(1);
    }
  });

  test('are read in templates by each name', () => {
    const source = userSource({ customerId: 'ada', attributes: stored });
    for (const name of ['First Name', 'first_name', 'u_fn', 'USER_ATTRIBUTE_USER_FIRST_NAME'])
      expect(source.find(name)).toBe('Ada');
  });

  test('are exported with the requested name', async () => {
    await bundle.addUser('exported', sent);
    const identifiers = [{ identifier_type: 'customer_id', identifier: 'exported' }];
    const fields = ['email', 'u_fn', 'missing'];
    const data = { identifiers, user_fields_to_export: fields };
    const { body } = await bundle.call('/v1/customers/export', { type: 'export_users', data });
    expect(body.data.users[0]!.user_attributes).toEqual({
      ...{ customer_id: 'exported', email: 'ada@example.com', u_fn: 'Ada' },
    });
  });

  test('have the same names in the migration as in requests', async () => {
    const text = await readFile(join(import.meta.dirname, '../../migrations/000003_standard_attributes.sql'), 'utf8');
    const pairs = [...text.matchAll(/when '(\w+)' then '(\w+)'/g)].map(([, api, name]) => [api, name]);
    expect(pairs.sort()).toEqual(apiNamesOfAttributes.map((pair) => [...pair]).sort());
  });

  test('are moved to the standard names in existing rows; a standard value takes precedence', async () => {
    await bundle.addUser('before', { u_em: 'standard@example.com', kept: 'x' });
    await bundle.database`
      update users set attributes = attributes || '{"email": "old@example.com", "name": "Ada", "dob": "a", "birthday": "b"}'
      where customer_id = 'before'`;
    await bundle.database`
      insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
      select workspace_id, bucket, id, entry.key, 'string', entry.value
      from users, (values ('email', 'old@example.com'), ('name', 'Ada'), ('dob', 'a'), ('birthday', 'b')) as entry (key, value)
      where customer_id = 'before'`;
    const file = join(import.meta.dirname, '../../migrations/000003_standard_attributes.sql');
    const statements = splitStatements(await readFile(file, 'utf8'));
    await inTransaction(bundle.database, async (tx) => {
      for (const statement of statements) await tx.unsafe(statement);
    });
    expect(await bundle.attributes('before')).toEqual({
      u_em: 'standard@example.com',
      u_n: 'Ada',
      u_bd: 'b',
      kept: 'x',
    });
    expect(await bundle.identifiers('before')).toEqual([
      ...['kept:string=x', 'u_bd:string=b', 'u_em:string=standard@example.com', 'u_n:string=Ada'],
    ]);
  });
});

describe('data requests of real clients', () => {
  test.each(['android', 'Android', 'ANDROID'])('may name the platform of a device %s (field B2)', async (platform) => {
    await bundle.addUser(`phone-${platform}`);
    const answer = await bundle.addDevice(`phone-${platform}`, 'phone', { platform });
    expect(answer.statusCode).toBe(200);
    const device = (await bundle.devices()).find((row) => row.customer === `phone-${platform}`);
    expect(device!.platform).toBe('ANDROID');
  });

  test('may name platforms of customers and events in any case (field B2)', async () => {
    const platforms = [{ platform: 'ios', active: 'true' }, { platform: 'Web' }];
    expect((await bundle.post('customer', customer({ platforms }))).statusCode).toBe(200);
    const actions = [{ action: 'Opened', platform: 'IOS' }];
    const event = { type: 'event', customer_id: 'ada', actions };
    expect((await bundle.call('/v1/event/', event)).status).toBe(200);
    const [row] = await bundle.database`select platform from events where name = 'Opened'`;
    expect(row!.platform).toBe('IOS');
  });

  test('may use a number as an id (field B9)', async () => {
    expect((await bundle.post('customer', customer({ customer_id: 4711, attributes: { a: 1 } }))).statusCode).toBe(200);
    expect(await bundle.attributes('4711')).toEqual({ a: 1 });
    const lossy = await bundle.post('customer', customer({ customer_id: 2 ** 53 }));
    expect(lossy.json().error.message).toMatch(/'customer_id' is a number that cannot be an id; send it as a text/);
  });

  test('get a warning header that names the elements of a bulk request that cannot be stored (field B9)', async () => {
    const answer = await bundle.call('/v1/transition/', bulk(customer({ customer_id: 'guest' }), customer({}), 7));
    expect(answer.status).toBe(200);
    expect(answer.headers['x-svc-warning']).toBe(
      "elements[0]: ValueError: 'customer_id' is a reserved value, elements[2]: ValueError: 'elements' must be a list of objects",
    );
  });

  test('get no warning about user attributes in a bulk request', async () => {
    const answer = await bundle.call('/v1/transition/', bulk(customer({ attributes: { email: 'a@b.example' } })));
    expect(answer.headers['x-svc-warning']).toBeUndefined();
    const unknown = await bundle.call('/v1/transition/', bulk(customer({ colour: 'red' })));
    expect(unknown.headers['x-svc-warning']).toBe('unknown field "elements[0].colour"');
  });

  test.each(['unsubscribe', 'spam', 'hard_bounce', 'wa_subscription', 'sms_subscription', 'em_unsub_categories'])(
    'may set svc_%s (field B7)',
    async (name) => {
      expect((await bundle.addUser(`of-${name}`, { [`svc_${name}`]: true })).statusCode).toBe(200);
      expect(await bundle.attributes(`of-${name}`)).toEqual({ [`svc_${name}`]: true });
    },
  );

  test('remove the attributes in unset_attributes, then set the others (field B7)', async () => {
    await bundle.addUser('unset', { a_1: 1, a_2: 2, Mixed: 3, kept: 4, email: 'x@example.com', again: 5 });
    const unset_attributes = [
      ...[{ attr: 'a_', type: 'prefix' }, { attr: 'mixed', case_sensitive: false }, { attr: 'KEPT' }],
      ...['email', 'again'],
    ];
    const body = customer({ customer_id: 'unset', attributes: { again: 6 }, unset_attributes });
    expect((await bundle.post('customer', body)).statusCode).toBe(200);
    expect(await bundle.attributes('unset')).toEqual({ kept: 4, again: 6 });
    expect(await bundle.identifiers('unset')).toEqual(['again:double=6', 'kept:double=4']);
  });

  describe('the time of an event (field B6)', () => {
    const track = async (name: string, member: string, value: unknown) => {
      const actions = [{ action: name, [member]: value }];
      const answer = await bundle.call('/v1/event/', { type: 'event', customer_id: 'ada', actions });
      const [row] = await bundle.database`select occurred_at as at from events where name = ${name}`;
      return { message: answer.body.error?.message, at: row?.at as Date | undefined };
    };
    const after = (seconds: number) => start.getTime() / 1000 + seconds;

    test('counts as now if it is up to five minutes ahead', async () => {
      expect((await track('Second ahead', 'user_time', after(1))).at).toEqual(start);
      expect((await track('Five minutes ahead', 'user_time', after(300))).at).toEqual(start);
    });

    test.each(['user_time', 'current_time'])(
      'is rejected if it is further ahead, by its sent name %s',
      async (member) => {
        const { message } = await track('Late', member, after(301));
        expect(message).toBe(`'actions[0].${member}' must not be more than 5 minutes in the future`);
      },
    );

    test('is reported as probable milliseconds', async () => {
      const { message } = await track('Milliseconds', 'user_time', start.getTime());
      expect(message).toMatch(/'actions\[0\]\.user_time' .*looks like milliseconds/);
    });
  });

  describe('the address of a data request (field B10)', () => {
    const inject = (url: string, payload: unknown) =>
      bundle.server.inject({
        ...{ method: 'POST', url, payload: JSON.stringify(payload) },
        headers: { authorization: bundle.basic(bundle.key), 'content-type': 'application/json' },
      });

    test.each(['app_id', 'workspace_id'])('may name the workspace in the query as %s', async (name) => {
      const query = `?${name}=${bundle.workspaceId}`;
      expect((await inject(`/v1/customer${query}`, customer({}))).statusCode).toBe(200);
      expect((await inject(`/v1/transition${query}`, bulk(customer({})))).statusCode).toBe(200);
      const event = { type: 'event', customer_id: 'ada', actions: [{ action: 'Queried' }] };
      expect((await inject(`/v1/event${query}`, event)).statusCode).toBe(200);
      const attributes = { platform: 'ANDROID', push_id: 'token-queried' };
      const device = { type: 'device', customer_id: 'ada', device_id: 'queried', attributes };
      expect((await inject(`/v1/device${query}`, device)).statusCode).toBe(200);
    });

    test('must name the workspace of the credentials in the query, too', async () => {
      expect((await inject('/v1/customer', customer({}))).json().error.type).toBe('ParamsRequired');
      expect((await inject('/v1/customer?app_id=OTHER', customer({}))).statusCode).toBe(409);
    });

    test('is accepted with a trailing slash', async () => {
      expect((await inject(`/v1/customer/${bundle.workspaceId}/`, customer({}))).statusCode).toBe(200);
      expect((await inject(`/v1/customer/delete/?app_id=${bundle.workspaceId}`, {})).statusCode).toBe(400);
    });
  });

  describe('the encoding of a body (field B13)', () => {
    const send = (payload: Buffer | string, headers: Record<string, string> = {}) =>
      bundle.server.inject({
        ...{ method: 'POST', url: `/v1/customer/${bundle.workspaceId}`, payload },
        headers: { authorization: bundle.basic(bundle.key), 'content-type': 'application/json', ...headers },
      });
    const body = (id: string) => JSON.stringify(customer({ customer_id: id, attributes: { a: 'ä' } }));

    test('may begin with a byte order mark', async () => {
      expect((await send(`\uFEFF${body('marked')}`)).statusCode).toBe(200);
      expect(await bundle.attributes('marked')).toEqual({ a: 'ä' });
    });

    test.each(['gzip', 'x-gzip', 'GZIP', 'identity, gzip'])('may be %s', async (coding) => {
      const answer = await send(gzipSync(body(`packed-${coding}`)), { 'content-encoding': coding });
      expect(answer.statusCode).toBe(200);
      expect(await bundle.attributes(`packed-${coding}`)).toEqual({ a: 'ä' });
    });

    test.each([undefined, 'charset=ISO-8859-1'])('is rejected if it is not UTF-8, with %j', async (charset) => {
      const type = ['application/json', ...(charset ? [charset] : [])].join('; ');
      for (const name of ['J\u00fcrgen', 'J\u00f6rgen']) {
        const bytes = Buffer.from(JSON.stringify(customer({ customer_id: name })), 'latin1');
        for (const sent of [
          { bytes, headers: {} },
          { bytes: gzipSync(bytes), headers: { 'content-encoding': 'gzip' } },
        ]) {
          const answer = await send(sent.bytes, { 'content-type': type, ...sent.headers });
          expect([answer.statusCode, answer.json().error]).toMatchObject([
            400,
            {
              type: 'Malformed JSON',
              message: 'Could not decode the request body. The JSON was incorrect or not encoded as UTF-8.',
            },
          ]);
        }
      }
      expect(await bundle.attributes('J\ufffdrgen')).toBeUndefined();
    });

    test('is limited after decoding', async () => {
      const answer = await send(gzipSync(Buffer.alloc(5_000_000, ' ')), { 'content-encoding': 'gzip' });
      expect([answer.statusCode, answer.json().error.type]).toEqual([413, 'PayloadTooLarge']);
    });

    test('is rejected if it does not match the header', async () => {
      const answer = await send(body('plain'), { 'content-encoding': 'gzip' });
      expect([answer.statusCode, answer.json().error.type]).toEqual([400, 'Malformed JSON']);
    });

    test('crashes no process if the body is not read because of its media type', async () => {
      const headers = { 'content-encoding': 'gzip', 'content-type': 'text/html' };
      expect((await send(body('plain'), headers)).statusCode).toBe(415);
      expect((await send(gzipSync(Buffer.alloc(5_000_000, ' ')), headers)).statusCode).toBe(415);
    });

    test.each(['br', 'deflate', 'gzip, gzip'])('is rejected as %s, with the accepted codings', async (coding) => {
      const answer = await send(body('other'), { 'content-encoding': coding });
      expect([answer.statusCode, answer.headers['accept-encoding']]).toEqual([415, 'gzip']);
    });
  });
});
