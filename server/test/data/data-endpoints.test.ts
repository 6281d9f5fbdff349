import fc from 'fast-check';
import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { generateToken } from '../../src/app/tokens/tokens.ts';
import { makeTokenBatches } from '../../src/app/tokens/prove-clients.ts';
import { identifiersOf } from '../../src/domain/users/users.ts';
import { mergeAttributes } from '../../src/domain/users/user-attributes.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { makeDataBundle, start } from './data-bundle.ts';
import type { DataBundle } from './data-bundle.ts';
import { propertyRuns } from '../property-runs.ts';

let bundle: DataBundle;
beforeAll(async () => {
  bundle = await makeDataBundle();
});
afterAll(() => bundle.end());

const customer = (more: object = {}) => ({ type: 'customer', customer_id: 'someone', attributes: {}, ...more });
const device = (attributes: object = {}, more: object = {}) => ({
  type: 'device',
  customer_id: 'owner',
  device_id: 'phone',
  attributes: { platform: 'ANDROID', push_id: 'token', ...attributes },
  ...more,
});

describe('a user', () => {
  test('is created if the customer id is unknown, with the documented response (fact 5)', async () => {
    const answer = await bundle.addUser('ada', { u_fn: 'Ada', age: 36 });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual({
      status: 'success',
      message: 'Your request has been accepted and will be processed soon.',
      request_id: expect.stringMatching(/^[a-z]{8}$/),
    });
    expect(await bundle.attributes('ada')).toEqual({ u_fn: 'Ada', age: 36 });
    expect(await bundle.identifiers('ada')).toEqual(['age:double=36', 'u_fn:string=Ada']);
  });

  test('gets values replaced and removed with null, keeps the others, and has its identifiers updated', async () => {
    await bundle.addUser('eve', { a: 'x', b: 7, c: [1] });
    await bundle.addUser('eve', { a: 'y', b: null, d: true });
    expect(await bundle.attributes('eve')).toEqual({ a: 'y', c: [1], d: true });
    expect(await bundle.identifiers('eve')).toEqual(['a:string=y']);
  });

  test('has lists that are edited in place', async () => {
    await bundle.addUser('list', { tags: ['a', 'b'] });
    await bundle.addUser('list', { tags: { addValueToArrayField: ['b', 'c'] } });
    await bundle.addUser('list', { tags: { removeValueFromArrayField: ['a'] } });
    expect(await bundle.attributes('list')).toEqual({ tags: ['b', 'c'] });
  });

  test('keeps the types of its values; an object is an edit only if it contains nothing but edits', async () => {
    const typed = {
      text: '7',
      number: 7.25,
      yes: true,
      moment: '2026-03-01T12:00:00Z',
      list: [1, 'a', false, { b: [2] }],
      object: { deep: { er: [null] } },
      notAnEdit: { addValueToArrayField: ['a'], other: 1 },
    };
    await bundle.addUser('typed', typed);
    expect(await bundle.attributes('typed')).toEqual(typed);
  });

  test('has equal list members once, whatever the order of their fields', async () => {
    await bundle.addUser('equal', { list: [{ a: 1, b: 2 }, 'x'] });
    await bundle.addUser('equal', { list: { addValueToArrayField: [{ b: 2, a: 1 }, 'y', 'y'] } });
    expect((await bundle.attributes('equal'))!.list).toEqual([{ a: 1, b: 2 }, 'x', 'y']);
    await bundle.addUser('equal', { list: { removeValueFromArrayField: [{ b: 2, a: 1 }] } });
    expect((await bundle.attributes('equal'))!.list).toEqual(['x', 'y']);
  });

  test('is rejected with a number that no double can hold, instead of losing it', async () => {
    const answer = await bundle.post('customer', '{"type":"customer","customer_id":"huge","attributes":{"n":[1e999]}}');
    expect([answer.statusCode, answer.json().error.attribute]).toEqual([400, 'n']);
  });

  test('is not created with update_existing_only', async () => {
    const answer = await bundle.post('customer', customer({ customer_id: 'nobody-yet', update_existing_only: true }));
    expect(answer.statusCode).toBe(200);
    expect(await bundle.attributes('nobody-yet')).toBeUndefined();
  });

  test('may have null members, which count as absent', async () => {
    const nulls = { attributes: null, platforms: null, update_existing_only: null };
    const answer = await bundle.post('customer', customer({ customer_id: 'nulls', ...nulls }));
    expect([answer.statusCode, answer.headers['x-svc-warning']]).toEqual([200, undefined]);
    expect(await bundle.attributes('nulls')).toEqual({});
    expect((await bundle.addUser('nulls', { platforms: null, a: 1 })).statusCode).toBe(200);
    expect(await bundle.attributes('nulls')).toEqual({ a: 1 });
  });

  test('has one identifier for numbers of equal value, however they are written (decision D24)', async () => {
    const body = '{"type":"customer","customer_id":"num","attributes":{"n":7.0,"m":7e0,"z":-0}}';
    await bundle.post('customer', body);
    expect(await bundle.identifiers('num')).toEqual(['m:double=7', 'n:double=7', 'z:double=0']);
  });

  test('has a text as identifier in its composed form', async () => {
    await bundle.addUser('nfc', { city: 'Zu\u0308rich' });
    expect(await bundle.identifiers('nfc')).toEqual(['city:string=Zürich']);
  });

  test('loses no change if two arrive concurrently', async () => {
    await Promise.all(Array.from({ length: 20 }, (_, index) => bundle.addUser('race', { [`k${index}`]: index })));
    expect(Object.keys((await bundle.attributes('race'))!)).toHaveLength(20);
    expect(await bundle.identifiers('race')).toHaveLength(20);
  });

  test('is stored without an unknown field, with a warning (decision D5)', async () => {
    const answer = await bundle.post('customer', customer({ customer_id: 'warned', colour: 'red' }));
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['x-svc-warning']).toBe('unknown field "colour"');
    expect(bundle.calls.at(-1)!.facts.warnings).toHaveLength(1);
  });

  test('gets the same response for the same Idempotency-Key and body, and 409 for another body (decision D4)', async () => {
    const headers = { 'idempotency-key': 'once' };
    const first = await bundle.post('customer', customer({ customer_id: 'idem' }), { headers });
    const second = await bundle.post('customer', customer({ customer_id: 'idem' }), { headers });
    expect(second.json()).toEqual(first.json());
    const other = await bundle.post('customer', customer({ customer_id: 'idem2' }), { headers });
    expect([other.statusCode, other.json().error.type]).toEqual([409, 'IdempotencyConflict']);
    expect(await bundle.attributes('idem2')).toBeUndefined();
  });
});

describe('a device', () => {
  test.each([
    ['ANDROID', 'ANDROID', 'fcm:token'],
    ['iOS', 'IOS', 'AB'.repeat(32)],
  ])('is stored as a %s device', async (platform, stored, pushId) => {
    const owner = `owner-${platform}`;
    await bundle.addUser(owner);
    expect((await bundle.addDevice(owner, 'd1', { platform, push_id: pushId })).statusCode).toBe(200);
    const [row] = (await bundle.devices()).filter((found) => found.customer === owner);
    expect(row).toEqual({
      customer: owner,
      device: 'd1',
      platform: stored,
      state: 'ACTIVE',
      push: platform === 'iOS' ? pushId.toLowerCase() : pushId,
    });
  });

  test('has a browser subscription in one form, whether it is sent as text or as an object', async () => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
    const p256dh = publicKey.export({ type: 'spki', format: 'der' }).subarray(-65).toString('base64url');
    const subscription = {
      expirationTime: null,
      keys: { auth: Buffer.alloc(16, 3).toString('base64url'), p256dh },
      endpoint: 'https://push.example.net/abc',
    };
    await bundle.addUser('browser');
    for (const pushId of [subscription, JSON.stringify(subscription)]) {
      expect((await bundle.addDevice('browser', 'd', { platform: 'web', push_id: pushId })).statusCode).toBe(200);
    }
    const found = (await bundle.devices()).filter((row) => row.customer === 'browser');
    expect(found.map((row) => JSON.parse(row.push))).toEqual([
      { endpoint: subscription.endpoint, keys: { p256dh, auth: subscription.keys.auth } },
    ]);
  });

  test('moves to another user together with its identifiers if its push address appears there', async () => {
    await bundle.addUser('first');
    await bundle.addUser('second');
    await bundle.addDevice('first', 'phone', { push_id: 'shared', svc_gaid: 'g-1' });
    await bundle.addDevice('second', 'phone', { push_id: 'shared' });
    expect((await bundle.devices()).filter((row) => row.push === 'shared')).toMatchObject([{ customer: 'second' }]);
    expect(await bundle.identifiers('first')).toEqual([]);
    expect(await bundle.identifiers('second')).toEqual(['device:push_id:string=shared']);
  });

  test('never belongs to two users who exchange a phone concurrently', async () => {
    await bundle.addUser('left');
    await bundle.addUser('right');
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        bundle.addDevice(index % 2 ? 'left' : 'right', `d${index % 3}`, { push_id: `swap-${index % 2}` }),
      ),
    );
    const addresses = (await bundle.devices()).map((row) => row.push).filter((push) => push.startsWith('swap-'));
    expect(addresses.sort()).toEqual([...new Set(addresses)].sort());
  });

  test.each([
    ['False', 'OPTED_OUT'],
    [false, 'OPTED_OUT'],
    ['True', 'ACTIVE'],
    [true, 'ACTIVE'],
  ])('becomes, with svc_push_opted %j, %s', async (opted, state) => {
    const owner = `opt-${String(opted)}-${typeof opted}`;
    await bundle.addUser(owner);
    await bundle.addDevice(owner, 'd', { svc_push_opted: opted });
    expect((await bundle.devices()).find((row) => row.customer === owner)!.state).toBe(state);
  });

  test('is active again when the app registers it after a provider reported it as gone', async () => {
    await bundle.addUser('lazarus');
    await bundle.addDevice('lazarus', 'd');
    await bundle.database`update devices set state = 'GONE', gone_at = ${start}, gone_reason = 'UNREGISTERED' where device_id = 'd' and push_id = 'token-lazarus-d'`;
    await bundle.addDevice('lazarus', 'd');
    expect((await bundle.devices()).find((row) => row.customer === 'lazarus')!.state).toBe('ACTIVE');
  });
});

describe('a rejected request (table of fact 5)', () => {
  const bad = (status: number, type: string, message: string | RegExp) => ({ status, type, message });
  const customerCases: [string, unknown, ReturnType<typeof bad>][] = [
    ['no JSON', '{"type":', bad(400, 'Malformed JSON', /could not decode/i)],
    ['a list', '[]', bad(400, 'Malformed JSON', /could not decode/i)],
    ['nothing', '', bad(400, 'Empty request body', 'A valid JSON document is required')],
    ['no type', { customer_id: 'x' }, bad(400, 'MissingAttributeError', "'type' is not found in payload")],
    ['a type of null', customer({ type: null }), bad(400, 'MissingAttributeError', "'type' is not found in payload")],
    ['another type', customer({ type: 'Customer' }), bad(400, 'ValueError', /'type' must be/)],
    [
      'no customer_id',
      { type: 'customer' },
      bad(400, 'MissingAttributeError', 'customer_id is not found in the payload'),
    ],
    ['an empty customer_id', customer({ customer_id: '' }), bad(400, 'MissingAttributeError', /customer_id/)],
    ['a fractional customer_id', customer({ customer_id: 7.5 }), bad(400, 'ValueError', /customer_id/)],
    ['a long customer_id', customer({ customer_id: 'x'.repeat(513) }), bad(400, 'ValueError', /customer_id/)],
    ['attributes of another type', customer({ attributes: ['city'] }), bad(400, 'ValueError', /attributes/)],
    [
      'an invalid platform',
      customer({ platforms: [{ platform: 'Windows' }] }),
      bad(400, 'ValueError', "'platform' is not a valid platform."),
    ],
    [
      'a platform that cannot be converted to a text',
      customer({ platforms: [{ platform: { toString: '0' } }] }),
      bad(400, 'ValueError', "'platform' is not a valid platform."),
    ],
    [
      'update_existing_only of another type',
      customer({ update_existing_only: 'yes' }),
      bad(400, 'ValueError', /update_existing_only/),
    ],
  ];
  test.each(customerCases)('reports for a customer: %s', async (_name, body, expected) => {
    const answer = await bundle.post('customer', body);
    expect([answer.statusCode, answer.json().error.type]).toEqual([expected.status, expected.type]);
    expect(answer.json().error.message).toMatch(expected.message);
    expect(answer.json()).toMatchObject({ status: 'fail', error: { request_id: expect.any(String) } });
  });

  test.each([
    'unknown',
    'guest',
    'null',
    '0',
    '1',
    '2',
    '-1',
    '-2',
    'true',
    'false',
    '(empty)',
    'na',
    'n/a',
    'none',
    'user_id',
    'id',
    'uid',
    'userid',
    'customer_id',
    'user_attribute_unique_id',
    'dummy_seller_code',
    'GUEST',
    ' Null ',
  ])('names the reserved customer id %j (fact 5)', async (id) => {
    expect((await bundle.addUser(id)).json().error.type).toBe('ValueError');
  });

  test.each(['id', '_id', '', 'svc_anything', 'device:push_id', 'x'.repeat(257), 'a\u0000b'])(
    'names the reserved or invalid attribute name %j',
    async (name) => {
      const answer = await bundle.addUser('reserved', { [name]: 'x' });
      expect([answer.statusCode, answer.json().status]).toEqual([400, 'fail']);
      expect(await bundle.attributes('reserved')).toBeUndefined();
    },
  );

  test.each(['svc_gaid', 'svc_sub_w', 'uid', 'u_em', 'push_preference'])(
    'does not include the standard key %s, which is accepted',
    async (name) => {
      expect((await bundle.addUser(`standard-${name}`, { [name]: 'x' })).statusCode).toBe(200);
    },
  );

  const deviceCases: [string, object, ReturnType<typeof bad>][] = [
    ['no device_id', { ...device(), device_id: undefined }, bad(400, 'MissingAttributeError', /device_id/)],
    ['no attributes', { ...device(), attributes: undefined }, bad(400, 'MissingAttributeError', /attributes/)],
    [
      'no platform',
      device({ platform: undefined }),
      bad(400, 'MissingAttributeError', "'platform' is not found in payload"),
    ],
    [
      'no push_id',
      device({ push_id: undefined }),
      bad(400, 'MissingAttributeError', "'push_id' is not found in payload"),
    ],
    [
      'an unknown platform',
      device({ platform: 'andro' }),
      bad(400, 'ValueError', "'platform' is not a valid platform."),
    ],
    ['a television', device({ platform: 'TV' }), bad(400, 'ValueError', /TV/)],
    ['a token with a line end', device({ push_id: 'a\r\nb' }), bad(400, 'ValueError', /push_id/)],
    ['an invalid APNs token', device({ platform: 'iOS', push_id: 'xyz' }), bad(400, 'ValueError', /push_id/)],
    ['an invalid subscription', device({ platform: 'web', push_id: '{}' }), bad(400, 'ValueError', /push_id/)],
    [
      'a subscription without TLS',
      device({ platform: 'web', push_id: { endpoint: 'http://a.b/', keys: { p256dh: 'x', auth: 'y' } } }),
      bad(400, 'ValueError', /push_id/),
    ],
    [
      'a subscription that the browser has removed',
      device({
        platform: 'web',
        push_id: {
          endpoint: 'https://permanently-removed.invalid/x',
          keys: { p256dh: Buffer.alloc(65, 4).toString('base64url'), auth: Buffer.alloc(16).toString('base64url') },
        },
      }),
      bad(400, 'ValueError', /cannot be reached.*\.invalid/),
    ],
    ['an opt-in that is not a flag', device({ svc_push_opted: 'maybe' }), bad(400, 'ValueError', /push_opted/)],
    [
      'an opt-in that cannot be converted to a text',
      device({ svc_push_opted: [{ toString: '0' }] }),
      bad(400, 'ValueError', /push_opted/),
    ],
    ['a model that is not a text', device({ model: 4 }), bad(400, 'ValueError', /model/)],
    ['an unknown customer', device({}, { customer_id: 'nobody' }), bad(400, 'ValueError', "'customer_id' must exist")],
  ];
  test.each(deviceCases)('reports for a device: %s', async (_name, body, expected) => {
    await bundle.addUser('owner');
    const before = (await bundle.devices()).length;
    const answer = await bundle.post('device', body);
    expect([answer.statusCode, answer.json().error.type]).toEqual([expected.status, expected.type]);
    expect(answer.json().error.message).toMatch(expected.message);
    expect((await bundle.devices()).length).toBe(before);
  });

  test('gets 413 for a body over 128 KB', async () => {
    const answer = await bundle.addUser('large', { text: 'x'.repeat(128 * 1024) });
    expect([answer.statusCode, answer.json().error]).toEqual([
      413,
      expect.objectContaining({ type: 'PayloadTooLarge', message: 'The payload can not exceed 128KB' }),
    ]);
  });

  test('gets 415 for another media type, and 400 without one', async () => {
    const xml = await bundle.post('customer', '<a/>', { headers: { 'content-type': 'application/xml' } });
    expect([xml.statusCode, xml.json().error.type]).toEqual([415, 'MediaTypeError']);
    const none = await bundle.post('customer', '', { headers: { 'content-type': undefined } });
    expect([none.statusCode, none.json().error]).toEqual([
      400,
      expect.objectContaining({ type: 'Missing header value', message: 'The Content-Type Header is required' }),
    ]);
  });

  test.each(['GET', 'PUT', 'PATCH', 'DELETE'] as const)('gets 405 with Allow: POST for %s', async (method) => {
    const answer = await bundle.server.inject({ method, url: `/v1/customer/${bundle.workspaceId}` });
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'POST']);
  });
});

describe('the credentials of a caller', () => {
  const refusedMessage = 'App Secret key mismatch. Please login to the dashboard to verify key';

  test('are required: 401 with a challenge without them', async () => {
    const answer = await bundle.post('customer', customer(), { headers: { authorization: undefined } });
    expect([answer.statusCode, answer.json().error.message]).toEqual([401, 'Authentication Header Required']);
    expect(answer.headers['www-authenticate']).toMatch(/^Basic /);
  });

  test.each([
    ['a wrong secret', () => bundle.basic('wrong')],
    ['an unknown workspace', () => bundle.basic(bundle.key, 'NOSUCHWORKSPACE')],
    ['no Basic at all', () => 'Digest x', 'Invalid identity information found'],
    ['broken base64', () => 'Basic %%%', 'Invalid identity information found'],
    ['an empty header', () => 'Basic ', 'No identity information found'],
    ['no workspace', () => bundle.basic(bundle.key, ''), 'APP_KEY missing in the authentication header'],
    ['no secret', () => bundle.basic(''), 'APP_SECRET missing in the authentication header'],
    [
      'an id no workspace can have',
      () => bundle.basic(bundle.key, 'ö'),
      'Invalid APP_ID used in Authentication Header',
    ],
  ])('are rejected with 401: %s', async (_name, authorization, message = refusedMessage) => {
    const answer = await bundle.post('customer', customer({ customer_id: 'intruder' }), {
      headers: { authorization: authorization() },
    });
    expect([answer.statusCode, answer.json().error.message]).toEqual([401, message]);
    expect(await bundle.attributes('intruder')).toBeUndefined();
  });

  test('are rejected with 403 ER007 for a key of another kind', async () => {
    const answer = await bundle.post('customer', customer(), {
      headers: { authorization: bundle.basic(await bundle.makeKey('push')) },
    });
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'ER007']);
  });

  test('need a valid workspace in the path: otherwise 400, with the state of the limit (fact 0.1)', async () => {
    for (const [workspace, type] of [
      ['', 'ParamsRequired'],
      ['%20', 'InvalidParams'],
    ] as const) {
      const url = `/v1/customer/${workspace}`;
      const headers = { authorization: bundle.basic(bundle.key) };
      const answer = await bundle.server.inject({ method: 'POST', url, headers, payload: customer() });
      expect([answer.statusCode, answer.json().error.type]).toEqual([400, type]);
      expect(answer.headers['x-ratelimit-limit']).toBe('10000');
    }
  });

  test('are rejected with 409 for another workspace in the path, and nothing is stored there or here', async () => {
    const other = await insertTestWorkspace(bundle.database, new Date(start.getTime() + 1000));
    const answer = await bundle.post('customer', customer({ customer_id: 'stranger' }), { workspace: other });
    expect([answer.statusCode, answer.json().error]).toEqual([
      409,
      expect.objectContaining({
        type: 'Authentication Mismatch',
        message: 'App key mismatch in params and authentication',
      }),
    ]);
    expect(await bundle.attributes('stranger')).toBeUndefined();
  });

  test('may be an access token whose key covers data; an unknown one is ER001 (decision D16)', async () => {
    const secret = await bundle.makeKey('oauth');
    const { accessToken } = await generateToken(
      { ...bundle, wait: async () => {}, batches: makeTokenBatches(bundle) },
      {
        caller: { clientId: bundle.workspaceId, address: '192.0.2.1', dataCenter: undefined },
        clientSecret: secret,
        idempotencyKey: undefined,
        rawBody: '',
      },
    );
    const taken = await bundle.post('customer', customer(), { headers: { authorization: `Bearer ${accessToken}` } });
    expect(taken.statusCode).toBe(200);
    const unknown = await bundle.post('customer', customer(), { headers: { authorization: 'Bearer cat_unknown' } });
    expect([unknown.statusCode, unknown.json().code]).toEqual([401, 'ER001']);
  });
});

test('limits requests to 10,000 a minute, separately for users and devices, and reports the remaining ones', async () => {
  const small = await makeDataBundle({ requestsPerMinute: 3 });
  try {
    const answers = [];
    for (let index = 0; index < 4; index += 1) answers.push(await small.addUser(`u${index}`));
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200, 200, 429]);
    expect(answers.map((answer) => answer.headers['x-ratelimit-remaining'])).toEqual(['2', '1', '0', '0']);
    expect(answers[3]!.json().error.type).toBe('RateLimitError');
    expect(answers[3]!.headers['retry-after']).toBe('60');
    expect((await small.addDevice('u0', 'd')).statusCode).toBe(200);
    small.clock.advance(60_000);
    expect((await small.addUser('u9')).statusCode).toBe(200);
  } finally {
    await small.end();
  }
});

test('keeps identifiers equal to those of the attributes, whatever the changes', async () => {
  const value = fc.oneof(
    fc.string({ maxLength: 5 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.string({ maxLength: 2 }), { maxLength: 2 }),
  );
  const changes = fc.array(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value, { noNullPrototype: true }), {
    minLength: 1,
    maxLength: 6,
  });
  let run = 0;
  await fc.assert(
    fc.asyncProperty(changes, async (steps) => {
      const customerId = `property-${(run += 1)}`;
      let model: Record<string, unknown> = {};
      for (const attributes of steps) {
        const answer = await bundle.addUser(customerId, attributes);
        const isStorable =
          JSON.stringify(attributes).isWellFormed() && !/\\u0000|\\ud[89a-f]/i.test(JSON.stringify(attributes));
        expect(answer.statusCode).toBe(isStorable ? 200 : 400);
        if (isStorable) model = mergeAttributes(model, JSON.parse(JSON.stringify(attributes)) as never);
      }
      const expected = identifiersOf(model).map((row) => `${row.attribute}:${row.type}=${row.value}`);
      expect((await bundle.identifiers(customerId)).sort()).toEqual(expected.sort());
    }),
    { numRuns: propertyRuns(60) },
  );
});

test('answers any request in the documented shape, and never with an internal error (reliability R11)', async () => {
  const fuzzed = await makeDataBundle({ requestsPerMinute: 1_000_000 });
  try {
    const anything = fc.anything({ maxDepth: 3, withNullPrototype: false });
    const body = fc.record(
      {
        type: fc.oneof(fc.constant('customer'), fc.constant('device'), anything),
        customer_id: fc.oneof(fc.string(), anything),
        device_id: anything,
        attributes: fc.oneof(
          anything,
          fc.record({
            platform: fc.constantFrom('ANDROID', 'iOS', 'web', 'TV', 3),
            push_id: anything,
            svc_gaid: anything,
            model: fc.string(),
          }),
        ),
        platforms: anything,
        update_existing_only: anything,
      },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom('customer' as const, 'device' as const), body, async (family, sent) => {
        const payload =
          JSON.stringify(sent, (_key, value) => (typeof value === 'bigint' ? String(value) : value)) ?? '';
        const answer = await fuzzed.post(family, payload);
        expect(answer.statusCode).toBeLessThan(500);
        expect(answer.json()).toMatchObject({ status: answer.statusCode === 200 ? 'success' : 'fail' });
      }),
      { numRuns: propertyRuns(300) },
    );
  } finally {
    await fuzzed.end();
  }
});
