import { createHash, createSign, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { encryptWebPush } from '../../../../src/providers/webpush/encrypt.ts';
import { makeSimulateApns } from '../../../../src/providers/apns/simulator.ts';
import { makeSimulateFcm } from '../../../../src/providers/fcm/simulator.ts';
import { makeSimulateHms } from '../../../../src/providers/hms/simulator.ts';
import { makeSimulateWebPush } from '../../../../src/providers/webpush/simulator.ts';
import { simulatedPushOrigin } from '../../../../src/domain/delivery/push-services.ts';
import { makeSimulatedSubscription } from '../../../../src/providers/webpush/simulated-browser.ts';
import type { Simulate, SimulatedAnswer, SimulatedRequest } from '../../../../src/providers/simulator/simulator.ts';

const now = new Date('2026-11-21T12:00:00Z');
const shownAt = new Date('2027-01-01T00:00:00Z');
const seconds = now.getTime() / 1_000;
const after = (more: number): Date => new Date(now.getTime() + more * 1_000);

/** `make`: a provider that knows no request but this one, or that of those before. */
function makeAsk(make: () => Simulate, usual: Partial<SimulatedRequest>) {
  return async (given: Partial<SimulatedRequest> = {}): Promise<SimulatedAnswer> =>
    make()({ method: 'POST', path: '', headers: {}, body: Buffer.alloc(0), now, shownAt, ...usual, ...given });
}
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const pemOf = (key: KeyObject): string => key.export({ type: 'spki', format: 'pem' }).toString();

const ownPair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const otherPair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
function signEs256(head: object, claims: object, key = ownPair.privateKey): string {
  const signed = `${part(head)}.${part(claims)}`;
  const signature = sign('sha256', Buffer.from(signed), { key, dsaEncoding: 'ieee-p1363' });
  return `${signed}.${signature.toString('base64url')}`;
}

describe('Apple', () => {
  const account = {
    workspaceId: 'w1',
    apns: {
      teamId: 'TEAM',
      keyId: 'KEY',
      topics: ['com.shop', 'com.shop.two'],
      publicKeyPem: pemOf(ownPair.publicKey),
    },
  };
  const accounts = [{ workspaceId: 'w0' }, account];
  const device = 'a1'.repeat(32);
  const tokenOf = (claims: object = {}, head: object = {}, key?: KeyObject): string =>
    `bearer ${signEs256({ alg: 'ES256', kid: 'KEY', ...head }, { iss: 'TEAM', iat: seconds, ...claims }, key)}`;
  const headers = { 'apns-topic': 'com.shop', 'apns-push-type': 'alert', authorization: tokenOf() };
  const payload = { aps: { alert: { title: 'T', body: 'B' } }, svc: { campaign_id: 'c', message_id: 'm' } };
  const usual = { path: `/3/device/${device}`, headers, body: json(payload) };
  const ask = makeAsk(() => makeSimulateApns(() => accounts), usual);
  const refused = (status: number, reason: string, rule: string) => ({ status, body: { reason }, rule });

  test('delivers a message, and returns its id', async () => {
    const id = '123e4567-e89b-12d3-a456-42661417400A';
    const more = { 'apns-id': id, 'apns-priority': '10', 'apns-expiration': '0', 'apns-collapse-id': 'k' };
    const answer = await ask({ headers: { ...headers, ...more } });
    const screen = { shownBy: 'system', title: 'T', body: 'B', buttons: [], reports: [] };
    expect(answer).toEqual({
      status: 200,
      headers: { 'apns-id': id },
      delivered: {
        ...{ workspaceId: 'w1', platform: 'IOS', deviceToken: device, title: 'T', body: 'B', collapseId: 'k' },
        ...{ campaignId: 'c', messageId: 'm', receivedAt: shownAt, screen, payload },
        transport: {
          ...{ 'apns-topic': 'com.shop', 'apns-push-type': 'alert', 'apns-priority': '10', 'apns-expiration': '0' },
          'apns-collapse-id': 'k',
        },
        headers: { ...headers, ...more, authorization: 'bearer …' },
      },
    });
  });

  test('creates an id if there is none, and reads no campaign of another app', async () => {
    const answer = await ask({ body: json({ aps: { alert: 'x' } }) });
    const { 'apns-id': id } = (answer as { headers: Record<string, string> }).headers;
    expect(id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    expect(answer).toMatchObject({ delivered: { messageId: id, collapseId: '' } });
    expect((answer as { delivered: object }).delivered).not.toHaveProperty('campaignId');
  });

  const own = { path: usual.path };
  const withHeader = (name: string, value: string) => ({ headers: { ...headers, [name]: value } });
  const without = (name: keyof typeof headers) => {
    const { [name]: _left, ...rest } = headers;
    return { headers: rest };
  };
  const invalid = refused(403, 'InvalidProviderToken', 'credentials');
  test.each<[string, Partial<SimulatedRequest>, object]>([
    ['another path', { path: `/4/device/${device}` }, refused(404, 'BadPath', 'route')],
    ['a path below it', { path: `${own.path}/x` }, refused(404, 'BadPath', 'route')],
    ['another method', { method: 'GET' }, refused(405, 'MethodNotAllowed', 'route')],
    ['no token', without('authorization'), refused(403, 'MissingProviderToken', 'credentials')],
    [
      'a token of another scheme',
      withHeader('authorization', 'basic x'),
      refused(403, 'MissingProviderToken', 'credentials'),
    ],
    ['an invalid token', withHeader('authorization', 'bearer x'), invalid],
    ['another signature', withHeader('authorization', tokenOf({}, {}, otherPair.privateKey)), invalid],
    ['another team', withHeader('authorization', tokenOf({ iss: 'OTHER' })), invalid],
    ['another key', withHeader('authorization', tokenOf({}, { kid: 'OTHER' })), invalid],
    ['another algorithm', withHeader('authorization', tokenOf({}, { alg: 'HS256' })), invalid],
    ['a time that is not a number', withHeader('authorization', tokenOf({ iat: String(seconds) })), invalid],
    ['a time over a minute from now', withHeader('authorization', tokenOf({ iat: seconds + 61 })), invalid],
    [
      'a scheme with the same end',
      withHeader('authorization', `x${headers.authorization}`),
      refused(403, 'MissingProviderToken', 'credentials'),
    ],
    [
      'an id with more behind it',
      withHeader('apns-id', '123e4567-e89b-12d3-a456-426614174000x'),
      refused(400, 'BadMessageId', 'headers'),
    ],
    [
      'a token of over an hour',
      withHeader('authorization', tokenOf({ iat: seconds - 3_601 })),
      refused(403, 'ExpiredProviderToken', 'credentials'),
    ],
    ['no topic', without('apns-topic'), refused(400, 'MissingTopic', 'headers')],
    [
      'the topic of another app',
      withHeader('apns-topic', 'com.other'),
      refused(400, 'DeviceTokenNotForTopic', 'headers'),
    ],
    [
      'the topic of a Live Activity for another push',
      withHeader('apns-topic', 'com.shop.push-type.liveactivity'),
      refused(400, 'DeviceTokenNotForTopic', 'headers'),
    ],
    ['no type', without('apns-push-type'), refused(400, 'InvalidPushType', 'headers')],
    ['an unknown type', withHeader('apns-push-type', 'loud'), refused(400, 'InvalidPushType', 'headers')],
    ['a priority of 7', withHeader('apns-priority', '7'), refused(400, 'BadPriority', 'headers')],
    [
      'an expiry that is not a number',
      withHeader('apns-expiration', '1x'),
      refused(400, 'BadExpirationDate', 'headers'),
    ],
    [
      'a collapse id of 65 bytes',
      withHeader('apns-collapse-id', `${'é'.repeat(32)}x`),
      refused(400, 'BadCollapseId', 'headers'),
    ],
    ['an invalid id', withHeader('apns-id', 'x'), refused(400, 'BadMessageId', 'headers')],
    ['no payload', { body: Buffer.alloc(0) }, refused(400, 'PayloadEmpty', 'payload')],
    ['a payload of 4097 bytes', { body: Buffer.alloc(4_097, 'x') }, refused(413, 'PayloadTooLarge', 'payload')],
    ['a payload that is not JSON', { body: Buffer.alloc(4_096, 'x') }, refused(400, 'BadMessage', 'payload')],
    ['a payload without aps', { body: json({ svc: {} }) }, refused(400, 'BadMessage', 'payload')],
    ['aps of null', { body: json({ aps: null }) }, refused(400, 'BadMessage', 'payload')],
    ['aps of an unknown member', { body: json({ aps: { x: 1 } }) }, refused(400, 'BadMessage', 'payload')],
    [
      'an address that is not hexadecimal',
      { path: `/3/device/${'g'.repeat(64)}` },
      refused(400, 'BadDeviceToken', 'device address'),
    ],
    [
      'an address of 63 digits',
      { path: `/3/device/${'a'.repeat(63)}` },
      refused(400, 'BadDeviceToken', 'device address'),
    ],
    [
      'an address of 201 digits',
      { path: `/3/device/${'a'.repeat(201)}` },
      refused(400, 'BadDeviceToken', 'device address'),
    ],
  ])('rejects %s', async (_what, given, answer) => expect(await ask(given)).toEqual(answer));

  test.each<[string, Partial<SimulatedRequest>]>([
    ['a token of an hour', withHeader('authorization', tokenOf({ iat: seconds - 3_600 }))],
    ['one of a clock that is a minute ahead', withHeader('authorization', tokenOf({ iat: seconds + 60 }))],
    ['a collapse id of 64 bytes', withHeader('apns-collapse-id', 'é'.repeat(32))],
    ['another of its topics', withHeader('apns-topic', 'com.shop.two')],
    ['an address of 200 digits', { path: `/3/device/${'a'.repeat(200)}` }],
    ...['1', '5', '10'].map((value): [string, object] => [`priority ${value}`, withHeader('apns-priority', value)]),
    ...['location', 'voip', 'complication', 'fileprovider', 'mdm'].map((value): [string, object] => [
      `type ${value}`,
      withHeader('apns-push-type', value),
    ]),
    [
      'a background push',
      {
        headers: { ...headers, 'apns-push-type': 'background', 'apns-priority': '5' },
        body: json({ aps: { 'content-available': 1 } }),
      },
    ],
    [
      'a Live Activity under its own topic',
      {
        headers: { ...headers, 'apns-push-type': 'liveactivity', 'apns-topic': 'com.shop.push-type.liveactivity' },
        body: json({ aps: { timestamp: seconds, event: 'update', 'content-state': {} } }),
      },
    ],
  ])('accepts %s', async (_what, given) => expect(await ask(given)).toMatchObject({ status: 200 }));

  test('rejects a token that has expired since it was checked, and one of a removed account', async () => {
    const present = [account];
    const simulate = makeSimulateApns(() => present);
    const asked = makeAsk(() => simulate, usual);
    expect(await asked()).toMatchObject({ status: 200 });
    expect(await asked({ now: after(3_601) })).toMatchObject({ status: 403, body: { reason: 'ExpiredProviderToken' } });
    present.pop();
    expect(await asked()).toMatchObject({ status: 403, body: { reason: 'InvalidProviderToken' } });
  });

  test.each([
    ['dead0410', { status: 410, body: { reason: 'Unregistered', timestamp: now.getTime() } }],
    ['dead0400', { status: 400, body: { reason: 'BadDeviceToken' } }],
    ['dead0413', { status: 413, body: { reason: 'PayloadTooLarge' } }],
    ['dead0429', { status: 429, headers: { 'retry-after': '1' }, body: { reason: 'TooManyRequests' } }],
  ])('responds as documented for %s', async (token, answer) => {
    expect(await ask({ path: `/3/device/${token.padEnd(64, '0')}` })).toEqual({ ...answer, rule: 'magic address' });
  });
  test('sends no response for dead0408', async () =>
    expect(await ask({ path: `/3/device/${'dead0408'.padEnd(64, '0')}` })).toBe('silence'));
});

describe('Google', () => {
  const pair = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const account = {
    workspaceId: 'w1',
    fcm: { projectId: 'shop', clientEmail: 'a@shop.example', publicKeyPem: pemOf(pair.publicKey) },
  };
  const accounts = [{ workspaceId: 'w0' }, account];
  const scope = 'https://www.googleapis.com/auth/firebase.messaging';
  const claims = {
    iss: 'a@shop.example',
    aud: 'https://oauth2.googleapis.com/token',
    scope,
    iat: seconds,
    exp: seconds + 3_600,
  };
  const sent = (more: object = {}, head: object = {}, type = 'urn:ietf:params:oauth:grant-type:jwt-bearer') => {
    const signed = `${part({ alg: 'RS256', typ: 'JWT', ...head })}.${part({ ...claims, ...more })}`;
    const signature = createSign('sha256').update(signed).sign(pair.privateKey, 'base64url');
    const form = new URLSearchParams({ grant_type: type, assertion: `${signed}.${signature}` });
    return { path: '/token', headers: { ':authority': '127.0.0.1:9' }, body: Buffer.from(form.toString()) };
  };
  const simulate = makeSimulateFcm(() => accounts);
  const ask = makeAsk(() => simulate, { path: '/v1/projects/shop/messages:send' });
  const granted = async (more?: object): Promise<{ authorization: string }> => {
    const answer = (await ask(sent(more))) as { body: { access_token: string } };
    return { authorization: `Bearer ${answer.body.access_token}` };
  };
  const token = 'device-token-1';
  const send = async (message: object, more: object = {}) =>
    ask({ headers: await granted(), body: json({ message: { token, ...message }, ...more }) });

  test('issues a token for an hour less a second to a signed request', async () => {
    expect(await ask(sent())).toEqual({
      status: 200,
      body: {
        access_token: expect.stringMatching(/^ya29\.simulated-[\w-]{32}$/) as unknown,
        expires_in: 3_599,
        token_type: 'Bearer',
      },
    });
    expect(await ask(sent({ aud: 'http://127.0.0.1:9/token' }))).toMatchObject({ status: 200 });
    expect(await ask(sent({ iat: seconds - 3_604 }))).toMatchObject({ status: 200 });
  });

  test.each<[string, Partial<SimulatedRequest>, string, string?]>([
    ['another grant', sent({}, {}, 'password'), 'unsupported_grant_type'],
    ['an unknown account', sent({ iss: 'c@shop.example' }), 'invalid_grant', 'Invalid grant: account not found'],
    ['another scope', sent({ scope: 'x' }), 'invalid_grant', 'Invalid OAuth scope'],
    ['another audience', sent({ aud: 'x' }), 'invalid_grant', 'Invalid JWT: '],
    ['another algorithm', sent({}, { alg: 'RS384' }), 'invalid_grant', 'Invalid JWT: '],
    ['one that has ended', sent({ exp: seconds - 6 }), 'invalid_grant', 'Invalid JWT: '],
    ['one of over an hour', sent({ iat: seconds - 3_606, exp: undefined }), 'invalid_grant', 'Invalid JWT: '],
    [
      'another signature',
      { ...sent(), body: Buffer.from(sent().body.toString().replace(/.{4}$/, 'AAAA')) },
      'invalid_grant',
      'Invalid JWT: ',
    ],
  ])('refuses a token for %s', async (...[, given, error, description]) => {
    const answer = (await ask(given)) as { status: number; rule: string; body: Record<string, string> };
    expect([answer.status, answer.rule, answer.body.error]).toEqual([400, 'credentials', error]);
    if (description === undefined) expect(answer.body).toEqual({ error });
    else expect(answer.body.error_description).toContain(description);
  });

  test('refuses a token for an unreadable assertion', async () => {
    const grant = 'grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer';
    for (const form of [grant, `${grant}&assertion=x`, `${grant}&assertion=a.b.c`])
      expect(await ask({ path: '/token', body: Buffer.from(form) })).toMatchObject({
        body: { error: 'invalid_grant', error_description: 'Invalid grant: account not found' },
      });
  });

  const failed = (...[code, status, message, rule]: [number, string, string, string]) => ({
    ...{ status: code, rule },
    body: { error: { code, message, status } },
  });
  const notFound = failed(404, 'NOT_FOUND', 'Requested entity was not found.', 'route');
  const unauthenticated = failed(
    401,
    'UNAUTHENTICATED',
    'Request had invalid authentication credentials.',
    'credentials',
  );
  test('rejects another path, method, sender or project', async () => {
    const headers = await granted();
    for (const path of [
      '/v1/projects/shop/messages:sends',
      '/v1/projects/a/b/messages:send',
      '/x/v1/projects/shop/messages:send',
    ])
      expect(await ask({ path, headers })).toEqual(notFound);
    expect(await ask({ method: 'GET', headers })).toEqual(notFound);
    expect(await ask()).toEqual(unauthenticated);
    expect(await ask({ headers: { authorization: 'Bearer x' } })).toEqual(unauthenticated);
    expect(await ask({ headers: { authorization: headers.authorization.slice(7) } })).toEqual(unauthenticated);
    expect(await ask({ headers, now: after(3_600) })).toEqual(unauthenticated);
    expect(await ask({ headers, now: after(3_599) })).toMatchObject({ status: 400 });
    const denied = "Permission 'cloudmessaging.messages.create' denied on resource projects/other.";
    expect(await ask({ path: '/v1/projects/other/messages:send', headers })).toEqual(
      failed(403, 'PERMISSION_DENIED', denied, 'credentials'),
    );
  });

  test('rejects an unreadable message, and names the invalid field', async () => {
    const headers = await granted();
    expect(await ask({ headers, body: Buffer.from('{') })).toEqual(
      failed(400, 'INVALID_ARGUMENT', 'Invalid JSON payload received.', 'payload'),
    );
    const description = 'Invalid priority.';
    expect(await send({ android: { priority: 'x' } })).toEqual({
      status: 400,
      rule: 'payload',
      body: {
        error: {
          ...{ code: 400, status: 'INVALID_ARGUMENT', message: description },
          details: [
            { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: 'INVALID_ARGUMENT' },
            {
              '@type': 'type.googleapis.com/google.rpc.BadRequest',
              fieldViolations: [{ field: 'message.android.priority', description }],
            },
          ],
        },
      },
    });
  });

  test('only validates a message if requested', async () => {
    expect(await send({}, { validate_only: true })).toEqual({
      status: 200,
      body: { name: 'projects/shop/messages/fake_message_id' },
    });
    expect(await send({}, { validate_only: 'true' })).toHaveProperty('delivered');
  });

  const name = expect.stringMatching(new RegExp(`^projects/shop/messages/0:${now.getTime()}%[0-9a-f]{16}$`)) as unknown;
  const shared = { workspaceId: 'w1', deviceToken: token, receivedAt: shownAt, headers: { authorization: 'Bearer …' } };
  test.each<[string, object, object]>([
    [
      'data to an Android phone',
      {
        data: { gcm_title: 'T', gcm_alert: 'B', gcm_campaign_id: 'c', svc_message_id: 'm', svc_tag: 't' },
        android: { priority: 'HIGH', ttl: '60s', collapse_key: 'k', restricted_package_name: 'p' },
      },
      {
        ...{ platform: 'ANDROID', title: 'T', body: 'B', collapseId: 't', campaignId: 'c', messageId: 'm' },
        transport: { priority: 'HIGH', ttl: '60s', collapse_key: 'k', restricted_package_name: 'p' },
      },
    ],
    [
      'a notification to an Android phone',
      { data: { svc_tag: 't' }, android: { notification: { title: 'N', tag: 'n' }, collapse_key: 'k' } },
      { platform: 'ANDROID', title: 'N', body: '', collapseId: 'n', messageId: name, transport: { collapse_key: 'k' } },
    ],
    [
      'one with a collapse key alone',
      { android: { collapse_key: 'k' } },
      { collapseId: 'k', payload: { data: {}, android: { collapse_key: 'k' } } },
    ],
    ['one with nothing', {}, { collapseId: '', transport: {}, payload: { data: {}, android: {} } }],
    [
      'to an iPhone',
      {
        apns: {
          headers: { 'apns-push-type': 'alert', 'apns-priority': '5', 'apns-expiration': '0', 'apns-collapse-id': 'k' },
          payload: { aps: { alert: { title: 'T', body: 'B' } }, svc: { campaign_id: 'c', message_id: 'm' } },
        },
      },
      {
        ...{ platform: 'IOS', title: 'T', body: 'B', collapseId: 'k', campaignId: 'c', messageId: 'm' },
        transport: { 'apns-push-type': 'alert', 'apns-priority': '5', 'apns-expiration': '0', 'apns-collapse-id': 'k' },
      },
    ],
    [
      'to an iPhone, of nothing',
      { apns: {} },
      { platform: 'IOS', title: '', body: '', collapseId: '', messageId: name, payload: { apns: {} } },
    ],
    [
      'to a browser',
      {
        webpush: {
          headers: { TTL: '60', Topic: 'k' },
          data: { carillon: '{"title":"T","message":"B","campaign_id":"c","message_id":"m"}' },
        },
      },
      {
        ...{ platform: 'WEB', title: 'T', body: 'B', collapseId: 'k', campaignId: 'c', messageId: 'm' },
        transport: { TTL: '60', Topic: 'k' },
      },
    ],
    [
      'to a browser, of nothing',
      { webpush: {} },
      {
        platform: 'WEB',
        title: '',
        body: '',
        collapseId: '',
        messageId: name,
        transport: {},
        payload: { webpush: {} },
      },
    ],
  ])('delivers %s', async (_what, message, delivered) => {
    const answer = (await send(message)) as { delivered: object };
    expect(answer).toMatchObject({ status: 200, body: { name }, delivered: { ...shared, ...delivered } });
    expect('campaignId' in answer.delivered).toBe('campaignId' in delivered);
  });

  test('delivers to an installation', async () => {
    const fid = 'f'.repeat(22);
    expect(await send({ token: undefined, fid })).toMatchObject({ delivered: { deviceToken: fid } });
  });

  const details = (code: string) => [
    { '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError', errorCode: code },
  ];
  test.each<[string, object]>([
    ['magic-gone', { status: 404, body: { error: { status: 'NOT_FOUND', details: details('UNREGISTERED') } } }],
    [
      'magic-invalid',
      { status: 400, body: { error: { details: [{}, { fieldViolations: [{ field: 'message.token' }] }] } } },
    ],
    [
      'magic-rejected',
      {
        status: 400,
        body: { error: { details: [{}, { fieldViolations: [{ field: 'message.android.notification' }] }] } },
      },
    ],
    ['magic-busy', { status: 503, headers: { 'retry-after': '1' }, body: { error: { status: 'UNAVAILABLE' } } }],
  ])('responds as documented for %s', async (address, answer) =>
    expect(await send({ token: address })).toMatchObject({ ...answer, rule: 'magic address' }),
  );
  test('sends no response for magic-silent, and names the field of an invalid installation', async () => {
    expect(await send({ token: 'magic-silent' })).toBe('silence');
    const answer = await send({ token: undefined, fid: 'magic-invalid'.padEnd(22, '0') });
    expect(JSON.stringify(answer)).toContain('"field":"message.fid"');
  });
});

describe('Huawei', () => {
  const secretDigest = createHash('sha256').update('secret').digest('hex');
  const accounts = [
    { workspaceId: 'w0' },
    { workspaceId: 'w1', hms: { clientId: '1', secretDigest, owner: { kind: 'project' as const, id: 'p' } } },
    { workspaceId: 'w2', hms: { clientId: '2', secretDigest, owner: { kind: 'app' as const, id: 'a' } } },
  ];
  const simulate = makeSimulateHms(() => accounts);
  const ask = makeAsk(() => simulate, { path: '/v2/p/messages:send' });
  const sent = (more: Record<string, string> = {}) => ({
    path: '/oauth2/v3/token',
    body: Buffer.from(
      new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: '1',
        client_secret: 'secret',
        ...more,
      }).toString(),
    ),
  });
  const granted = async (id = '1') => {
    const answer = (await ask(sent({ client_id: id }))) as { body: { access_token: string } };
    return { authorization: `Bearer ${answer.body.access_token}` };
  };
  const send = async (message: object, more: object = {}) =>
    ask({ headers: await granted(), body: json({ message: { token: ['t1'], data: '{}', ...message }, ...more }) });

  test('issues a token for an hour to a client with the secret', async () => {
    expect(await ask(sent())).toEqual({
      status: 200,
      body: {
        access_token: expect.stringMatching(/^simulated-[\w-]{32}$/) as unknown,
        expires_in: 3_600,
        token_type: 'Bearer',
      },
    });
  });
  test.each([
    ['another grant', { grant_type: 'x' }, 'invalid grant_type'],
    ['another client', { client_id: '3' }, 'invalid client_id or client_secret'],
    ['another secret', { client_secret: 'x' }, 'invalid client_id or client_secret'],
  ])('refuses a token for %s', async (_what, form, description) =>
    expect(await ask(sent(form as unknown as Record<string, string>))).toEqual({
      status: 400,
      body: { error: 1_101, sub_error: 20_001, error_description: description },
      rule: 'credentials',
    }),
  );

  test('remembers the last thousand tokens', async () => {
    const first = await granted();
    for (let number = 0; number < 999; number += 1) await granted();
    expect(await ask({ headers: first })).toMatchObject({ status: 400 });
    await granted();
    expect(await ask({ headers: first })).toMatchObject({ status: 401 });
    expect(await ask({ headers: await granted() })).toMatchObject({ status: 400 });
  });

  const requestId = expect.stringMatching(/^[0-9a-f]{16}$/) as unknown;
  const refused = (...[status, code, msg, rule]: [number, string, string, string]) => ({
    status,
    body: { code, msg, requestId },
    rule,
  });
  test('rejects another path, method, sender or owner', async () => {
    const headers = await granted();
    const noRoute = { status: 404, body: 'no such interface', rule: 'route' };
    for (const given of [{ path: '/v3/p/messages:send' }, { path: '/v2/p/q/messages:send' }, { method: 'GET' }])
      expect(await ask({ ...given, headers })).toEqual(noRoute);
    const unknown = refused(401, '80200001', 'OAuth authentication error.', 'credentials');
    expect(await ask()).toEqual(unknown);
    expect(await ask({ headers: { authorization: 'Bearer x' } })).toEqual(unknown);
    expect(await ask({ headers, now: after(3_600) })).toEqual(
      refused(200, '80200003', 'The access token is expired.', 'credentials'),
    );
    expect(await ask({ headers, now: after(3_599) })).toMatchObject({ status: 400 });
    const denied = refused(200, '80300002', 'The app does not have the permission to send messages.', 'credentials');
    for (const path of ['/v1/p/messages:send', '/v2/q/messages:send', '/v1/a/messages:send'])
      expect(await ask({ path, headers })).toEqual(denied);
    const ofApp = await granted('2');
    expect(await ask({ path: '/v1/a/messages:send', headers: ofApp })).toMatchObject({ status: 400 });
    expect(await ask({ path: '/v2/a/messages:send', headers: ofApp })).toEqual(denied);
  });

  test('rejects an unreadable message, and one that is too large without its tokens', async () => {
    const headers = await granted();
    expect(await ask({ headers, body: Buffer.from('{') })).toEqual(
      refused(400, '80100003', 'The message is not JSON.', 'payload'),
    );
    expect(await send({}, { topic: 'x' })).toEqual(refused(400, '80100003', 'topic is not known', 'payload'));
    expect(await send({ data: 1 })).toEqual(refused(400, '80100001', 'message.data is invalid', 'payload'));
    const bytes = (tokens: string[], size: number) => {
      const frame = JSON.stringify({ message: { token: tokens, data: '' } }).length - tokens.join('').length;
      return { token: tokens, data: 'x'.repeat(size - frame) };
    };
    expect(await send(bytes(['t'.repeat(100), 'u'.repeat(50)], 4_096))).toMatchObject({ status: 200 });
    expect(await send(bytes(['t'.repeat(100), 'u'.repeat(50)], 4_097))).toMatchObject({ body: { code: '80300008' } });
  });

  test('delivers a message, or only validates it', async () => {
    const android = { urgency: 'HIGH', ttl: '60s', collapse_key: 3, category: 'IM', bi_tag: 'c' };
    const data = '{"gcm_title":"T","gcm_alert":"B","svc_message_id":"m","svc_tag":"t"}';
    const answer = await send({ data, android });
    const success = {
      code: '80000000',
      msg: 'Success',
      requestId: expect.stringMatching(`^${now.getTime()}[0-9a-f]{16}$`) as unknown,
    };
    expect(answer).toMatchObject({
      ...{ status: 200, body: success },
      delivered: {
        ...{ workspaceId: 'w1', platform: 'ANDROID', deviceToken: 't1', title: 'T', body: 'B', collapseId: 't' },
        ...{ campaignId: 'c', messageId: 'm', receivedAt: shownAt, payload: { data, android } },
        ...{ transport: { urgency: 'HIGH', ttl: '60s', collapse_key: '3', category: 'IM' } },
        headers: { authorization: 'Bearer …' },
      },
    });
    expect(await send({}, { validate_only: true })).toEqual({ status: 200, body: success });
    expect(await send({}, { validate_only: 1 })).toHaveProperty('delivered');
  });

  test('delivers a notification with data, with data that are not JSON, and without data', async () => {
    const notification = { title: 'N', body: 'B', default_sound: true, click_action: { type: 3 }, tag: 'n' };
    const shown = (await send({ data: '{"svc_tag":"t"}', android: { notification } })) as { delivered: object };
    expect(shown.delivered).toMatchObject({ title: 'N', collapseId: 'n' });
    expect(shown.delivered).not.toHaveProperty('campaignId');
    const unreadable = (await send({ data: 'x' })) as { body: { requestId: string }; delivered: object };
    expect(unreadable.delivered).toMatchObject({ title: '', collapseId: '', messageId: unreadable.body.requestId });
    expect(await send({ data: undefined, android: { notification } })).toMatchObject({
      delivered: { payload: { data: null } },
    });
  });

  test.each<[string, object]>([
    ['magic-gone', { status: 200, body: { code: '80300007' } }],
    ['magic-invalid', { status: 200, body: { code: '80100000' } }],
    ['magic-rejected', { status: 200, body: { code: '80300008' } }],
    ['magic-busy', { status: 503, headers: { 'retry-after': '1' }, body: 'Traffic control.' }],
  ])('responds as documented for %s', async (token, answer) =>
    expect(await send({ token: [token] })).toMatchObject({ ...answer, rule: 'magic address' }),
  );
  test('sends no response for magic-silent', async () =>
    expect(await send({ token: ['magic-silent'] })).toBe('silence'));
});

describe('a push service', () => {
  const point = (pair: { publicKey: KeyObject }): string => {
    const { x, y } = pair.publicKey.export({ format: 'jwk' });
    return Buffer.concat([Buffer.from([4]), Buffer.from(x!, 'base64url'), Buffer.from(y!, 'base64url')]).toString(
      'base64url',
    );
  };
  const publicKey = point(ownPair);
  const accounts = [{ workspaceId: 'w0' }, { workspaceId: 'w1', webpush: { publicKey } }];
  const secret = Buffer.alloc(32, 7);
  const { keys } = JSON.parse(makeSimulatedSubscription({ secret, id: 'b 1' })) as {
    keys: { p256dh: string; auth: string };
  };
  const encrypted = (payload: object | string): Buffer =>
    encryptWebPush(Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)), {
      p256dh: Buffer.from(keys.p256dh, 'base64url'),
      auth: Buffer.from(keys.auth, 'base64url'),
    });
  const vapid = (claims: object = {}, head: object = {}, key?: KeyObject) => {
    const token = signEs256(
      { alg: 'ES256', ...head },
      { aud: simulatedPushOrigin, exp: seconds + 3_600, ...claims },
      key,
    );
    return `vapid t=${token}, k=${publicKey}`;
  };
  const headers = { authorization: vapid(), ttl: '60', 'content-encoding': 'aes128gcm' };
  const payload = { title: 'T', message: 'B', campaign_id: 'c', message_id: 'm' };
  const usual = { path: '/push/b%201', headers, body: encrypted(payload) };
  const ask = makeAsk(() => makeSimulateWebPush(() => accounts, { secret }), usual);
  const withHeader = (name: string, value: string) => ({ headers: { ...headers, [name]: value } });

  test('issues subscriptions whose messages it can decrypt (RFC 8291)', () => {
    const subscription = JSON.parse(makeSimulatedSubscription({ secret, id: 'b 1' })) as { endpoint: string };
    expect(subscription.endpoint).toBe('https://push.simulator.invalid/push/b%201');
    expect([Buffer.from(keys.p256dh, 'base64url').length, Buffer.from(keys.auth, 'base64url').length]).toEqual([
      65, 16,
    ]);
    expect(makeSimulatedSubscription({ secret, id: 'b2' })).not.toContain(keys.auth);
  });

  test('delivers a message', async () => {
    const more = { topic: 'k', urgency: 'high' };
    expect(await ask({ headers: { ...headers, ...more } })).toEqual({
      status: 201,
      headers: { location: 'https://push.simulator.invalid/message/m' },
      delivered: {
        ...{ workspaceId: 'w1', platform: 'WEB', deviceToken: 'b 1', title: 'T', body: 'B', collapseId: 'k' },
        ...{ campaignId: 'c', messageId: 'm', receivedAt: shownAt, payload },
        transport: { TTL: '60', Urgency: 'high', Topic: 'k', 'Content-Encoding': 'aes128gcm' },
        headers: { ...headers, ...more, authorization: 'vapid …' },
        screen: { shownBy: 'worker', title: 'T', body: 'B', buttons: [], reports: [] },
      },
    });
    const bare = (await ask({ body: encrypted({ silent: true }) })) as { delivered: object };
    expect(bare.delivered).toMatchObject({ title: '', body: '', collapseId: '', messageId: '' });
    expect(bare.delivered).not.toHaveProperty('campaignId');
  });

  const credentials = (status: number, body: string) => ({ status, body, rule: 'credentials' });
  const invalid = credentials(403, 'VAPID is not valid');
  const header = (body: string) => ({ status: 400, body, rule: 'headers' });
  const unreadable = { status: 400, body: 'the browser cannot decrypt this message', rule: 'payload' };
  test.each<[string, Partial<SimulatedRequest>, object]>([
    ['another path', { path: '/pushes/b' }, { status: 404, rule: 'route' }],
    ['a path below it', { path: '/push/b/c' }, { status: 404, rule: 'route' }],
    ['a query', { path: '/push/b?c' }, { status: 404, rule: 'route' }],
    ['another method', { method: 'GET' }, { status: 404, rule: 'route' }],
    ['no VAPID', withHeader('authorization', ''), credentials(401, 'VAPID is required')],
    ['another scheme', withHeader('authorization', headers.authorization.replace('vapid', 'bearer')), invalid],
    [
      'an unknown key',
      withHeader('authorization', headers.authorization.replace(publicKey, point(otherPair))),
      invalid,
    ],
    ['another signature', withHeader('authorization', vapid({}, {}, otherPair.privateKey)), invalid],
    ['another algorithm', withHeader('authorization', vapid({}, { alg: 'ES384' })), invalid],
    ['another audience', withHeader('authorization', vapid({ aud: 'https://x.example' })), invalid],
    ['an end that has come', withHeader('authorization', vapid({ exp: seconds })), invalid],
    ['an end in over a day', withHeader('authorization', vapid({ exp: seconds + 86_401 })), invalid],
    ['an invalid contact', withHeader('authorization', vapid({ sub: 'http://x.example' })), invalid],
    ['claims that cannot be read', withHeader('authorization', `vapid t=a.b.c, k=${publicKey}`), invalid],
    ['no TTL', withHeader('ttl', ''), header('TTL is required')],
    ['a TTL that is not a number', withHeader('ttl', '60s'), header('TTL is required')],
    ['a TTL of nine digits', withHeader('ttl', '123456789'), header('TTL is required')],
    ['another encoding', withHeader('content-encoding', 'aesgcm'), header('aes128gcm is required')],
    ['a topic of 33 letters', withHeader('topic', 'a'.repeat(33)), header('bad topic')],
    ['a topic with a dot', withHeader('topic', 'a.b'), header('bad topic')],
    ['another urgency', withHeader('urgency', 'urgent'), header('bad urgency')],
    ['4097 bytes', { body: Buffer.alloc(4_097) }, { status: 413, rule: 'payload' }],
    ['4096 bytes of nothing', { body: Buffer.alloc(4_096) }, unreadable],
    ['another browser', { path: '/push/b2' }, unreadable],
    ['a body that is not JSON', { body: encrypted('x') }, unreadable],
    [
      'a payload that no browser accepts',
      { body: encrypted({ title: 1 }) },
      { status: 400, body: 'no browser takes title as it is', rule: 'payload' },
    ],
  ])('rejects %s', async (_what, given, answer) => expect(await ask(given)).toEqual(answer));

  test.each<[string, Partial<SimulatedRequest>]>([
    ['an end in a day', withHeader('authorization', vapid({ exp: seconds + 86_400 }))],
    ['a contact by email', withHeader('authorization', vapid({ sub: 'mailto:a@x.example' }))],
    ['a contact by address', withHeader('authorization', vapid({ sub: 'https://x.example' }))],
    ['no space after the comma', withHeader('authorization', headers.authorization.replace(', ', ','))],
    ['a topic of 32 letters', withHeader('topic', 'a'.repeat(32))],
    ...['very-low', 'low', 'normal'].map((value): [string, object] => [value, withHeader('urgency', value)]),
  ])('accepts %s', async (_what, given) => expect(await ask(given)).toMatchObject({ status: 201 }));

  test('rejects VAPID that has expired since it was checked', async () => {
    const simulate = makeSimulateWebPush(() => accounts, { secret });
    const asked = makeAsk(() => simulate, usual);
    expect(await asked()).toMatchObject({ status: 201 });
    expect(await asked({ now: after(3_599) })).toMatchObject({ status: 201 });
    expect(await asked({ now: after(3_600) })).toEqual(credentials(403, 'VAPID has expired'));
  });

  test.each<[string, number, object]>([
    ['magic-gone', 410, {}],
    ['magic-invalid', 404, {}],
    ['magic-rejected', 413, {}],
    ['magic-busy', 429, { headers: { 'retry-after': '1' } }],
  ])('responds as documented for %s', async (id, status, more) =>
    expect(await ask({ path: `/push/${id}` })).toEqual({ status, ...more, rule: 'magic address' }),
  );
  test('sends no response for magic-silent', async () =>
    expect(await ask({ path: '/push/magic-silent' })).toBe('silence'));
});
