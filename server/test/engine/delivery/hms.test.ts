import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { AndroidOptions, JsonObject } from '../../../src/domain/content/content.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import type { HmsCredential } from '../../../src/domain/providers/hms.ts';
import { classifyHmsAnswer, isHmsTokenExpired } from '../../../src/providers/hms/classify.ts';
import { makeHmsPart, planHmsRequest } from '../../../src/providers/hms/plan.ts';
import { makeHmsProvider } from '../../../src/providers/hms/provider.ts';
import { findHmsViolation } from '../../../src/providers/hms/simulator-rules.ts';
import type { AndroidMessage } from '../../../src/providers/payload/android.ts';
import type { Answer, Outcome } from '../../../src/providers/provider.ts';
import { http2Clients, sendTogether, startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, failedAnswer, makeScriptedTransport } from './scripted-transport.ts';
import type { SentRequest } from './scripted-transport.ts';

const now = new Date('2026-11-21T12:00:00Z');
const hmsToken = `hms-${'b'.repeat(120)}`;

describe('the provider', () => {
  const endpoints = {
    messagesOrigin: 'https://push-api.cloud.huawei.com',
    tokenOrigin: 'https://oauth-login.cloud.huawei.com',
  };
  const simulator = { messagesOrigin: 'http://127.0.0.1:1', tokenOrigin: 'http://127.0.0.1:2' };
  const credential: HmsCredential = {
    provider: 'hms',
    clientId: '10',
    clientSecret: 's&cret',
    owner: { kind: 'project', id: '42' },
    simulated: false,
  };
  const tokenPath = '/oauth2/v3/token';
  const accepted = answerWith(200, { code: '80000000', requestId: 'r' });

  test('sends a message with a token that the client requested with its secret', async () => {
    const { send, sent } = makeBundle();
    expect(await send()).toEqual({ kind: 'accepted', providerMessageId: 'r' });
    expect(sent[0]).toEqual({
      target: { key: 'hms:tokenOrigin:false:10', origin: endpoints.tokenOrigin, isGuarded: false },
      path: tokenPath,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials&client_id=10&client_secret=s%26cret',
    });
    expect(sent[1]).toMatchObject({
      target: { key: 'hms:messagesOrigin:false:10', origin: endpoints.messagesOrigin, isGuarded: false },
      path: '/v2/42/messages:send',
      headers: { authorization: 'Bearer token-1' },
    });
  });

  test('uses a token for four fifths of its lifetime', async () => {
    const { clock, send, sent } = makeBundle();
    await send();
    clock.advance(48 * 60_000 - 1);
    await send();
    expect(sent.filter(({ path }) => path === tokenPath)).toHaveLength(1);
    clock.advance(1);
    await send();
    expect(sent.filter(({ path }) => path === tokenPath)).toHaveLength(2);
  });

  test('uses separate tokens for another secret and another client', async () => {
    const { send, sent } = makeBundle();
    for (const change of [{}, { clientSecret: 'new' }, { clientId: '11' }, {}])
      await send({ ...credential, ...change });
    expect(sent.filter(({ path }) => path !== tokenPath).map(({ headers }) => headers.authorization)).toEqual(
      ['1', '2', '3', '1'].map((number) => `Bearer token-${number}`),
    );
  });

  describe('an expired token', () => {
    const ended = answerWith(200, { code: '80200003', msg: 'expired' });

    test('is fetched again, once', async () => {
      const { send, sent } = makeBundle({
        reply: ({ headers }) => (headers.authorization === 'Bearer token-1' ? ended : accepted),
      });
      expect(await send()).toMatchObject({ kind: 'accepted' });
      expect(sent).toHaveLength(4);
    });

    test('is the outcome if the next token has expired, too', async () => {
      const { send, sent } = makeBundle({ reply: () => ended });
      expect(await send()).toEqual({ kind: 'stopped', code: '80200003', detail: 'expired' });
      expect(sent).toHaveLength(4);
    });
  });

  test('stops for a rejected client, in the words of the token service', async () => {
    const { send, sent } = makeBundle({ tokenReply: answerWith(400, { error: 1101 }) });
    expect(await send()).toEqual({
      kind: 'stopped',
      code: 'HMS_TOKEN_REFUSED',
      detail: 'the client was refused: {"error":1101}',
    });
    expect(sent).toHaveLength(1);
  });

  test('connects a simulated client to the simulators', async () => {
    const { send, sent } = makeBundle();
    await send({ ...credential, simulated: true });
    expect(sent.map(({ target }) => [target.key, target.connectTo])).toEqual([
      ['hms:tokenOrigin:true:10', simulator.tokenOrigin],
      ['hms:messagesOrigin:true:10', simulator.messagesOrigin],
    ]);
  });

  test('reads the responses to successes, and texts, because a tap opens a value that is an address', () => {
    const { reads, texts, smallBodyBytes, addressOf } = makeBundle().provider;
    expect([reads, texts, smallBodyBytes, addressOf('a'), addressOf('"')]).toEqual([
      'bodies',
      'read',
      4096,
      'a',
      undefined,
    ]);
  });

  function makeBundle({
    reply = () => accepted,
    tokenReply,
  }: { reply?: (request: SentRequest) => Answer; tokenReply?: Answer } = {}) {
    const clock = makeManualClock(now);
    let tokens = 0;
    const { transport, sent } = makeScriptedTransport((request) => {
      if (request.path !== tokenPath) return reply(request);
      tokens += 1;
      return tokenReply ?? answerWith(200, { access_token: `token-${tokens}`, expires_in: 3600 });
    });
    const provider = makeHmsProvider({ clock, transport, endpoints, simulator });
    const device = { deviceId: '0', platform: 'ANDROID', provider: 'hms', pushId: 'TOKEN' } as const;
    const send = async (given = credential) => {
      const planned = provider.plan({ message: makeMessage('ANDROID', '0'), device, credential: given });
      if ('outcome' in planned) return planned.outcome;
      return provider.classify(await provider.send(planned.plan, given), clock.realNow());
    };
    return { clock, provider, sent, send };
  }
});

describe('messages', () => {
  describe('the classification of Huawei’s responses', () => {
    const said = (code: string) => ({ code, msg: 'words', requestId: 'r1' });

    test.each<[string, Answer, Outcome]>([
      ['80000000', answerWith(200, said('80000000')), { kind: 'accepted', providerMessageId: 'r1' }],
      ...['80300007', '80100000'].map((code): [string, Answer, Outcome] => [
        code,
        answerWith(200, said(code)),
        { kind: 'ambiguous', code, detail: 'words', ifDevice: 'drop', ifAccount: 'hold' },
      ]),
      ...['80200001', '80200003', '80300002'].map((code): [string, Answer, Outcome] => [
        code,
        answerWith(200, said(code)),
        { kind: 'stopped', code, detail: 'words' },
      ]),
      ...['80300008', '80300010', '80100001', '80100003', '80100004', '80100013', '80100016', '80100017'].map(
        (code): [string, Answer, Outcome] => [
          code,
          answerWith(400, said(code)),
          { kind: 'rejected', code, detail: 'words' },
        ],
      ),
      ...['80600003', '80300011'].map((code): [string, Answer, Outcome] => [
        code,
        answerWith(200, said(code)),
        { kind: 'ambiguous', code, detail: 'words', ifDevice: 'wait', ifAccount: 'pause' },
      ]),
      ['81000001', answerWith(200, said('81000001')), { kind: 'wait', code: '81000001', scope: 'device' }],
      [
        'a code first, whatever the status',
        answerWith(503, said('80300007')),
        { kind: 'ambiguous', code: '80300007', detail: 'words', ifDevice: 'drop', ifAccount: 'hold' },
      ],
      ['an unknown code', answerWith(200, said('80999999')), { kind: 'rejected', code: '80999999', detail: 'words' }],
      [
        'an unknown code of a server that fails',
        answerWith(500, said('89')),
        { kind: 'wait', code: '89', scope: 'device' },
      ],
      [
        '503 with a wait',
        answerWith(503, '<html>', { 'retry-after': '7' }),
        {
          kind: 'wait',
          code: 'HMS_503',
          scope: 'credential',
          retryAfterSeconds: 7,
        },
      ],
      ...[500, 502, 408, 425].map((status): [string, Answer, Outcome] => [
        String(status),
        answerWith(status, ''),
        { kind: 'wait', code: `HMS_${status}`, scope: 'device' },
      ]),
      [
        '429',
        answerWith(429, ''),
        { kind: 'ambiguous', code: 'HMS_429', detail: 'HTTP 429', ifDevice: 'wait', ifAccount: 'pause' },
      ],
      ...[401, 403, 404].map((status): [string, Answer, Outcome] => [
        String(status),
        answerWith(status, ''),
        {
          ...{ kind: 'ambiguous', code: `HMS_${status}`, detail: `HTTP ${status}` },
          ...{ ifDevice: 'reject', ifAccount: 'hold at once' },
        } as const,
      ]),
      ['a success that Huawei did not write', answerWith(200, 'ok'), { kind: 'unknown', code: 'HMS_200' }],
      [
        'a code that is a number',
        answerWith(200, { code: 80300007 }),
        {
          ...{ kind: 'ambiguous', code: '80300007', detail: 'HTTP 200', ifDevice: 'drop', ifAccount: 'hold' },
        } as const,
      ],
      ['a code of another kind', answerWith(200, { code: [] }), { kind: 'unknown', code: 'HMS_200' }],
      ['a success without an id', answerWith(200, { code: '80000000' }), { kind: 'accepted' }],
      [
        'the code of a success with another status',
        answerWith(400, { code: '80000000' }),
        { kind: 'rejected', code: '80000000', detail: 'HTTP 400' },
      ],
      ['a redirection', answerWith(300), { kind: 'rejected', code: 'HMS_300', detail: 'HTTP 300' }],
      ['a status under 300', answerWith(299), { kind: 'unknown', code: 'HMS_299' }],
      ['null', answerWith(400, 'null'), { kind: 'rejected', code: 'HMS_400', detail: 'HTTP 400' }],
      ['no answer', failedAnswer, { kind: 'unknown', code: 'TIMEOUT' }],
    ])('%s', (_name, given, outcome) => {
      expect(classifyHmsAnswer(given, now)).toEqual(outcome);
    });
  });

  describe('the message', () => {
    const message = (content: object = {}, more: object = {}): AndroidMessage => {
      const made = makeMessage('ANDROID', '0');
      return { ...made, ...more, content: { ...made.content, ...content } };
    };
    const notificationOf = (content: object) => makeHmsPart(message(content)).android.notification;

    test('is shown by the system unless the content says otherwise, and then contains no reserved keys', () => {
      const part = makeHmsPart(message({ defaultAction: undefined }));
      expect(part.data).toBeUndefined();
      expect(part.android).toMatchObject({
        collapse_key: -1,
        bi_tag: message().campaignId,
        notification: { default_sound: true, click_action: { type: 3 }, tag: message().identity.collapseId },
      });
    });

    test('has in mode data the keys that the app reads from FCM, as one JSON text', () => {
      const { data, android } = makeHmsPart(message({ options: { deliveryMode: 'data' } }));
      expect(android.notification).toBeUndefined();
      expect(JSON.parse(data!)).toMatchObject({
        push_from: 'carillon',
        svc_message_id: message().identity.id,
        svc_report_token: message().report!.token,
        svc_push_service: 'hms',
      });
    });

    test('opens a page, a link of the app, or the app on a tap', () => {
      const actionOf = (type: string, value: string) =>
        (notificationOf({ defaultAction: { type, value, keyValuePairs: {} } }) as { click_action: object })
          .click_action;
      expect(actionOf('richlanding', 'https://shop.example/17')).toEqual({ type: 2, url: 'https://shop.example/17' });
      expect(actionOf('richlanding', 'http://shop.example/17')).toEqual({ type: 3 });
      expect(actionOf('deeplinking', 'shop://order/17?a=1')).toEqual({
        type: 1,
        intent: 'intent://order/17?a=1#Intent;scheme=shop;end',
      });
      expect(actionOf('navigation', 'com.example.Orders')).toEqual({ type: 3 });
    });

    test('omits an image that is not served over https, because Huawei rejects the message for it', () => {
      const imageOf = (value: string) =>
        (notificationOf({ richContent: [{ type: 'image', value }] }) as { image?: string }).image;
      expect(imageOf('https://shop.example/1.png')).toBe('https://shop.example/1.png');
      expect(imageOf('http://shop.example/1.png')).toBeUndefined();
    });

    test('lives for fifteen days at most', () => {
      expect(makeHmsPart(message({}, { ttlSeconds: 28 * 86_400 })).android.ttl).toBe('1296000s');
      expect(makeHmsPart(message({}, { ttlSeconds: 60 })).android.ttl).toBe('60s');
    });

    const planned = (content: object = {}, more: { pushId?: string; owner?: HmsCredential['owner'] } = {}) => {
      const { pushId = hmsToken, owner = { kind: 'project', id: 'p/42' } } = more;
      const device = { deviceId: '0', platform: 'ANDROID', provider: 'hms', pushId } as const;
      const credential = { owner } as HmsCredential;
      return planHmsRequest({ message: message(content), device, credential }, 'https://hms.test');
    };

    test('is sent to the interface of the project or of the app, for one phone', () => {
      const { plan } = planned() as Extract<ReturnType<typeof planned>, { plan: object }>;
      expect({ ...plan, body: JSON.parse(plan.body.toString()) as object }).toMatchObject({
        origin: 'https://hms.test',
        path: '/v2/p%2F42/messages:send',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: { message: { token: [hmsToken], android: { urgency: 'HIGH' } } },
      });
      expect(planned({}, { owner: { kind: 'app', id: '42' } })).toHaveProperty('plan.path', '/v1/42/messages:send');
    });

    test('is rejected for other platforms', () => {
      const device = { deviceId: '0', platform: 'IOS', provider: 'hms', pushId: hmsToken } as const;
      const given = { message: makeMessage('IOS', '0'), device, credential: {} as HmsCredential };
      expect(() => planHmsRequest(given, 'https://hms.test')).toThrow('Huawei Push Kit serves Android, not IOS');
    });

    test('has at most 4096 bytes, however long the token is', () => {
      const bytes = (length: number, pushId = hmsToken): number => {
        const result = planned({ message: 'x'.repeat(length) }, { pushId });
        return 'plan' in result
          ? result.plan.body.length - pushId.length
          : Number(/^\d+/.exec((result.outcome as { detail: string }).detail)![0]);
      };
      const most = 4096 - bytes(0);
      expect(bytes(most)).toBe(4096);
      expect(bytes(most, 't'.repeat(3_000))).toBe(4096);
      expect(planned({ message: 'x'.repeat(most) })).toHaveProperty('plan');
      expect(planned({ message: 'x'.repeat(most) }, { pushId: 't'.repeat(3_000) })).toHaveProperty('plan');
      expect(planned({ message: 'x'.repeat(most + 1) })).toEqual({
        outcome: {
          kind: 'rejected',
          code: 'MESSAGE_TOO_LARGE',
          detail: '4097 bytes without the token; Huawei Push Kit takes 4096',
        },
      });
    });

    test.each<[JsonObject, string | undefined]>([
      [{ data: { a: 1 } }, 'data must be a text'],
      [{ data: 'text' }, undefined],
      [{ data: null }, undefined],
      [{ android: 'x' }, 'android must be an object'],
      [{ android: null }, undefined],
      [{ android: { notification: 'x' } }, 'android.notification must be an object'],
      [{ android: { notification: null } }, undefined],
    ])('is checked for overrides, with %j: %s', (hms, detail) => {
      const result = planned({ overrides: { hms } });
      if (detail === undefined) expect(result).toHaveProperty('plan');
      else expect(result).toEqual({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
    });

    test('merges an override for Huawei, and ignores one for FCM', () => {
      const bodyOf = (content: object) =>
        (
          JSON.parse((planned(content) as { plan: { body: Buffer } }).plan.body.toString()) as {
            message: { android: object };
          }
        ).message;
      expect(bodyOf({ overrides: { hms: { android: { bi_tag: null, category: 'EXPRESS' } } } }).android).toEqual({
        ...Object.fromEntries(Object.entries(bodyOf({}).android).filter(([name]) => name !== 'bi_tag')),
        category: 'EXPRESS',
      });
      expect(bodyOf({ overrides: { fcm: { android: { category: 'EXPRESS' } } } })).toEqual(bodyOf({}));
    });

    test('follows the mode of the content before that of the app', () => {
      const isShownBySystem = (appMode: string | undefined, deliveryMode?: string) => {
        const payload = { ...message().payload, ...(appMode === undefined ? {} : { appMode }) };
        const options = deliveryMode === undefined ? {} : { deliveryMode };
        return 'notification' in makeHmsPart(message({ options }, { payload })).android;
      };
      expect(isShownBySystem('data')).toBe(false);
      expect(isShownBySystem('both')).toBe(true);
      expect(isShownBySystem('data', 'notification')).toBe(true);
      expect(isShownBySystem('both', 'data')).toBe(false);
      expect(isShownBySystem(undefined)).toBe(true);
    });

    test('consists of data only if it is silent', () => {
      const { data, android } = makeHmsPart(message({}, { isSilent: true }));
      expect(android).not.toHaveProperty('notification');
      expect(JSON.parse(data!)).toMatchObject({ svc_silent: '1', svc_push_service: 'hms' });
    });

    test('has in mode notification the pairs of the caller as data, and does not name the carrier', () => {
      const defaultAction = { type: 'navigation', value: '', keyValuePairs: { order: '17' } };
      expect(makeHmsPart(message({ defaultAction })).data).toBe('{"order":"17"}');
    });

    test('has every shown field in its place, and no field that the content lacks', () => {
      expect(makeHmsPart(message()).android).toStrictEqual({
        collapse_key: -1,
        urgency: 'HIGH',
        bi_tag: 'c'.repeat(24),
        ttl: '129600s',
        notification: {
          title: 'Title',
          body: 'Text',
          tag: message().identity.collapseId,
          click_action: { type: 3 },
          default_sound: true,
        },
      });
    });

    const shownMore = (content: object): object => {
      const before = Object.keys(notificationOf({}) as object);
      return Object.fromEntries(
        Object.entries(notificationOf(content) as object).filter(([name]) => !before.includes(name)),
      );
    };
    test.each<[object, object]>([
      [{ summary: 'Shop' }, { notify_summary: 'Shop' }],
      [{ channelId: 'orders' }, { channel_id: 'orders' }],
      [{ groupKey: 'orders' }, { group: 'orders' }],
      [{ richContent: [{ type: 'sound', value: 'bell' }] }, { sound: 'bell' }],
      [{ richContent: [{ type: 'coupon', value: 'SAVE5' }] }, {}],
      [{ richContent: [{ type: 'image', value: 'https://a.example/1' }] }, { image: 'https://a.example/1' }],
    ])('maps %j', (content, members) => {
      expect(shownMore(content)).toStrictEqual(members);
    });

    test('replaces the default sound by a custom one', () => {
      expect(notificationOf({ richContent: [{ type: 'sound', value: 'bell' }] })).not.toHaveProperty('default_sound');
    });

    test.each<[AndroidOptions, object]>([
      [{ icon: 'ic' }, { icon: 'ic' }],
      [{ color: '#0a7d5a' }, { color: '#0a7d5a' }],
      [{ visibility: 'private' }, { visibility: 'PRIVATE' }],
      [{ timeoutSeconds: 60 }, { auto_clear: 60_000 }],
      [{ badge: { operation: 'set', value: 99 } }, { badge: { set_num: 99 } }],
      [{ badge: { operation: 'set', value: 100 } }, { badge: { set_num: 99 } }],
      [{ badge: { operation: 'clear' } }, { badge: { set_num: 0 } }],
      [{ locKeys: { titleLocKey: 't' } }, { title_loc_key: 't' }],
      [{ locKeys: { titleLocArgs: ['1'] } }, { title_loc_args: ['1'] }],
      [{ locKeys: { bodyLocKey: 'b' } }, { body_loc_key: 'b' }],
      [{ locKeys: { bodyLocArgs: ['2'] } }, { body_loc_args: ['2'] }],
      [{ sticky: true }, {}],
    ])('maps option %j', (options, members) => {
      expect(shownMore({ options })).toStrictEqual(members);
    });

    test('opens the app for a link that is not an address', () => {
      const defaultAction = { type: 'deeplinking', value: 'no address', keyValuePairs: {} };
      expect(notificationOf({ defaultAction })).toMatchObject({ click_action: { type: 3 } });
      const https = { type: 'deeplinking', value: 'https://shop.example/17', keyValuePairs: {} };
      expect(notificationOf({ defaultAction: https })).toMatchObject({
        click_action: { type: 1, intent: 'intent://shop.example/17#Intent;scheme=https;end' },
      });
    });
  });

  test.each<[string, Answer, boolean]>([
    ['the code as text', answerWith(200, { code: '80200003' }), true],
    ['the code as a number', answerWith(401, { code: 80200003 }), true],
    ['the code elsewhere', answerWith(200, { code: '80000000', msg: '80200003' }), false],
    ['a body that is not JSON', answerWith(200, '80200003 '), false],
    ['another code', answerWith(200, { code: '80200001' }), false],
    ['no answer', failedAnswer, false],
  ])('recognizes an expired access token: %s', (_what, answer, isExpired) => {
    expect(isHmsTokenExpired(answer)).toBe(isExpired);
  });
});

describe.each(http2Clients)('delivery by the HTTP/2 client of %s', (client) => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle(client);
  });
  afterAll(() => bundle.stop());
  const send = (pushId: string, more: object = {}) => bundle.send('ANDROID', { provider: 'hms', pushId, ...more });

  test.each([
    ['data', 'app'],
    ['both', 'system'],
    ['notification', 'system'],
  ])('has a message in mode %s shown by the %s', async (deliveryMode, shownBy) => {
    const made = makeMessage('ANDROID', '0') as AndroidMessage;
    const content = { ...made.content, options: { deliveryMode } };
    expect(await send(`${hmsToken}-${deliveryMode}`, { message: { content } })).toMatchObject({ kind: 'accepted' });
    await expect
      .poll(() => bundle.delivered.find(({ deviceToken }) => deviceToken === `${hmsToken}-${deliveryMode}`))
      .toMatchObject({ platform: 'ANDROID', title: made.content.title, screen: { shownBy } });
  });

  test.each([
    ['magic-gone', { kind: 'ambiguous', code: '80300007', ifDevice: 'drop', ifAccount: 'hold' }],
    ['magic-invalid', { kind: 'ambiguous', code: '80100000', ifDevice: 'drop', ifAccount: 'hold' }],
    ['magic-rejected', { kind: 'rejected', code: '80300008' }],
    ['magic-busy', { kind: 'wait', code: 'HMS_503', scope: 'credential', retryAfterSeconds: 1 }],
  ])('gets the documented outcome of the address %s', async (pushId, outcome) => {
    expect(await send(`${pushId}-1`)).toMatchObject(outcome);
  });

  test('renews an expired access token once, and sends the message', async () => {
    const expired = JSON.stringify({ code: '80200003', msg: 'expired', requestId: '1' });
    await bundle.simulators.setFaults({ hms: { status: 200, body: expired, device: 'once', count: 1 } });
    expect(await send('once-1')).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.setFaults({ hms: { status: 200, body: expired, device: 'always' } });
    expect(await send('always-1')).toMatchObject({ kind: 'stopped', code: '80200003' });
    await bundle.simulators.setFaults({});
  });

  test('stops the run for a client that Huawei does not know', async () => {
    const hms = { ...bundle.credentials.hms, clientSecret: 'another-secret' };
    expect(await send(hmsToken, { credentials: { hms } })).toMatchObject({
      kind: 'stopped',
      code: 'HMS_TOKEN_REFUSED',
    });
    const other = { ...bundle.credentials.hms, owner: { kind: 'project', id: '999' } };
    expect(await send(hmsToken, { credentials: { hms: other } })).toMatchObject({ kind: 'stopped', code: '80300002' });
  });

  test('stops for a workspace without a Huawei credential', async () => {
    expect(await send(hmsToken, { credentials: { fcm: bundle.credentials.fcm } })).toMatchObject({
      kind: 'stopped',
      code: 'NO_CREDENTIAL',
      detail: 'this workspace has no credential for ANDROID by hms',
    });
  });

  test('sends many devices separate texts, in one form or separately', async () => {
    for (const form of ['shared', 'none'] as const) {
      const places = Array.from({ length: 40 }, (_, place) => place);
      const messages = places.map((place): Message => {
        const made = makeMessage('ANDROID', String(place)) as AndroidMessage;
        return { ...made, content: { ...made.content, options: { deliveryMode: 'data' } } };
      });
      const pushIds = places.map((place) => `batch-${client}-${form}-${place}-${'c'.repeat(60)}`);
      const credentials = { hms: bundle.credentials.hms };
      const outcomes = await sendTogether(bundle.delivery, { messages, pushIds, credentials, provider: 'hms', form });
      expect(outcomes.every(({ kind }) => kind === 'accepted')).toBe(true);
      await expect
        .poll(() => bundle.delivered.filter(({ deviceToken }) => pushIds.includes(deviceToken)).length)
        .toBe(40);
      for (const place of places)
        expect(bundle.delivered.find(({ deviceToken }) => deviceToken === pushIds[place])!.messageId).toBe(
          messages[place]!.identity.id,
        );
    }
  });
});

describe('violations found by the simulator', () => {
  const notification = { title: 'T', body: 'B', default_sound: true, click_action: { type: 3 } };
  const violationOf = (android: Record<string, unknown>, more: object = {}, bytes = 100) =>
    findHmsViolation({ token: ['t'], android, ...more }, bytes)?.code;

  test('are none for a whole message', () => {
    expect(violationOf({ collapse_key: -1, urgency: 'HIGH', ttl: '86400s', notification })).toBeUndefined();
    expect(violationOf({}, { data: '{}' })).toBeUndefined();
  });

  test.each<[string, Record<string, unknown>, object, string]>([
    ['no content', {}, {}, '80100003'],
    ['an unknown member of the message', { notification }, { topics: 'x' }, '80100003'],
    ['an unknown member of android', { notification, priority: 'HIGH' }, {}, '80100003'],
    ['an unknown member of the notification', { notification: { ...notification, sticky: true } }, {}, '80100003'],
    ['a collapse key of text', { notification, collapse_key: 'a' }, {}, '80100013'],
    ['a collapse key over 100', { notification, collapse_key: 101 }, {}, '80100013'],
    ['sixteen days', { notification, ttl: '1382400s' }, {}, '80100001'],
    ['an urgency of FCM', { notification, urgency: 'high' }, {}, '80100001'],
    ['a category that there is not', { notification, category: 'NEWS' }, {}, '80100001'],
    ['no click action', { notification: { title: 'T', body: 'B', default_sound: true } }, {}, '80100003'],
    [
      'a page without TLS',
      { notification: { ...notification, click_action: { type: 2, url: 'http://a.example' } } },
      {},
      '80100001',
    ],
    ['an intent without one', { notification: { ...notification, click_action: { type: 1 } } }, {}, '80100003'],
    ['a click of another kind', { notification: { ...notification, click_action: { type: 9 } } }, {}, '80100001'],
    ['no sound', { notification: { ...notification, default_sound: false } }, {}, '80100003'],
    [
      'a badge that adds and sets',
      { notification: { ...notification, badge: { add_num: 1, set_num: 1 } } },
      {},
      '80100003',
    ],
    ['arguments without their key', { notification: { ...notification, title_loc_args: ['a'] } }, {}, '80100003'],
    ['data that are no text', {}, { data: {} }, '80100001'],
    ['no token', { notification }, { token: [] }, '80300010'],
    ['a thousand and one tokens', { notification }, { token: Array.from({ length: 1001 }, () => 't') }, '80300010'],
  ])('%s', (...[, android, more, code]) => {
    expect(violationOf(android, more)).toBe(code);
  });

  test('include more than 4096 bytes', () => {
    expect(violationOf({ notification }, {}, 4096)).toBeUndefined();
    expect(violationOf({ notification }, {}, 4097)).toBe('80300008');
  });
});
