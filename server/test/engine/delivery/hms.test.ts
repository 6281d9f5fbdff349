import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Message } from '../../../src/domain/campaigns/message.ts';
import { classifyHmsAnswer } from '../../../src/engine/delivery/hms/classify-hms-answer.ts';
import { makeHmsPart } from '../../../src/engine/delivery/hms/hms-part.ts';
import { planHmsRequest } from '../../../src/engine/delivery/hms/plan-hms-request.ts';
import type { AndroidMessage } from '../../../src/engine/delivery/payload/android-part.ts';
import type { Answer, Outcome } from '../../../src/engine/delivery/provider.ts';
import { findHmsViolation } from '../../../src/engine/delivery/simulator/hms-message-rules.ts';
import { http2Clients, makeMessage, sendTogether, startDeliveryBundle } from './delivery-bundle.ts';

const now = new Date('2026-11-21T12:00:00Z');
const hmsToken = `hms-${'b'.repeat(120)}`;

function answer(status: number, body: object | string, headers: Record<string, string> = {}): Answer {
  return { kind: 'answer', status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

describe('what Huawei answers', () => {
  const said = (code: string) => ({ code, msg: 'words', requestId: 'r1' });

  test.each<[string, Answer, Outcome]>([
    ['80000000', answer(200, said('80000000')), { kind: 'accepted', providerMessageId: 'r1' }],
    ...['80300007', '80100000'].map((code): [string, Answer, Outcome] => [
      code,
      answer(200, said(code)),
      { kind: 'gone', code },
    ]),
    ...['80200001', '80200003', '80300002'].map((code): [string, Answer, Outcome] => [
      code,
      answer(200, said(code)),
      { kind: 'stopped', code, detail: 'words' },
    ]),
    ...['80300008', '80300010', '80100001', '80100003', '80100004', '80100013', '80100016', '80100017'].map(
      (code): [string, Answer, Outcome] => [code, answer(400, said(code)), { kind: 'rejected', code, detail: 'words' }],
    ),
    ...['80600003', '81000001', '80300011'].map((code): [string, Answer, Outcome] => [
      code,
      answer(200, said(code)),
      { kind: 'wait', code, scope: 'credential' },
    ]),
    ['a code first, whatever the status', answer(503, said('80300007')), { kind: 'gone', code: '80300007' }],
    ['an unknown code', answer(200, said('80999999')), { kind: 'rejected', code: '80999999', detail: 'words' }],
    [
      'an unknown code of a server that fails',
      answer(500, said('89')),
      { kind: 'wait', code: '89', scope: 'credential' },
    ],
    [
      '503 with a wait',
      answer(503, '<html>', { 'retry-after': '7' }),
      {
        kind: 'wait',
        code: 'HMS_503',
        scope: 'credential',
        retryAfterSeconds: 7,
      },
    ],
    ...[500, 502, 429].map((status): [string, Answer, Outcome] => [
      String(status),
      answer(status, ''),
      { kind: 'wait', code: `HMS_${status}`, scope: 'credential' },
    ]),
    ...[401, 403, 404].map((status): [string, Answer, Outcome] => [
      String(status),
      answer(status, ''),
      { kind: 'stopped', code: `HMS_${status}`, detail: `HTTP ${status}` },
    ]),
    ['a success that Huawei did not write', answer(200, 'ok'), { kind: 'unknown', code: 'HMS_200' }],
  ])('%s', (_name, given, outcome) => {
    expect(classifyHmsAnswer(given, now)).toEqual(outcome);
  });
});

describe('the message', () => {
  const message = (content: object = {}, more: object = {}): AndroidMessage => {
    const made = makeMessage('ANDROID', '0') as AndroidMessage;
    return { ...made, ...more, content: { ...made.content, ...content } };
  };
  const notificationOf = (content: object) => makeHmsPart(message(content)).android.notification;

  test('is shown by the system unless the content chooses otherwise, and none of our keys travels then', () => {
    const part = makeHmsPart(message({ defaultAction: undefined }));
    expect(part.data).toBeUndefined();
    expect(part.android).toMatchObject({
      collapse_key: -1,
      bi_tag: message().campaignId,
      notification: { default_sound: true, click_action: { type: 3 }, tag: message().identity.collapseId },
    });
  });

  test('in mode data it has the keys that the app reads from FCM, as one JSON text', () => {
    const { data, android } = makeHmsPart(message({ options: { deliveryMode: 'data' } }));
    expect(android.notification).toBeUndefined();
    expect(JSON.parse(data!)).toMatchObject({
      push_from: 'carillon',
      svc_message_id: message().identity.id,
      svc_report_token: message().report!.token,
      svc_push_service: 'hms',
    });
  });

  test('a tap opens a page, a link of the app, or the app', () => {
    const actionOf = (type: string, value: string) =>
      (notificationOf({ defaultAction: { type, value, keyValuePairs: {} } }) as { click_action: object }).click_action;
    expect(actionOf('richlanding', 'https://shop.example/17')).toEqual({ type: 2, url: 'https://shop.example/17' });
    expect(actionOf('richlanding', 'http://shop.example/17')).toEqual({ type: 3 });
    expect(actionOf('deeplinking', 'shop://order/17?a=1')).toEqual({
      type: 1,
      intent: 'intent://order/17?a=1#Intent;scheme=shop;end',
    });
    expect(actionOf('navigation', 'com.example.Orders')).toEqual({ type: 3 });
  });

  test('an image that is not at https is left out, since Huawei refuses the message for it', () => {
    const imageOf = (value: string) =>
      (notificationOf({ richContent: [{ type: 'image', value }] }) as { image?: string }).image;
    expect(imageOf('https://shop.example/1.png')).toBe('https://shop.example/1.png');
    expect(imageOf('http://shop.example/1.png')).toBeUndefined();
  });

  test('lives for fifteen days at most', () => {
    expect(makeHmsPart(message({}, { ttlSeconds: 28 * 86_400 })).android.ttl).toBe('1296000s');
    expect(makeHmsPart(message({}, { ttlSeconds: 60 })).android.ttl).toBe('60s');
  });

  test('goes to the interface of the project or of the app', () => {
    const pathOf = (kind: 'project' | 'app') => {
      const credential = {
        provider: 'hms',
        clientId: '1',
        clientSecret: 's',
        owner: { kind, id: '42' },
        simulated: true,
      } as const;
      const device = { deviceId: '0', platform: 'ANDROID', provider: 'hms', pushId: hmsToken } as const;
      const planned = planHmsRequest({ message: message(), device, credential }, 'https://hms.test');
      return 'plan' in planned ? planned.plan.path : planned.outcome;
    };
    expect(pathOf('project')).toBe('/v2/42/messages:send');
    expect(pathOf('app')).toBe('/v1/42/messages:send');
  });
});

describe.each(http2Clients)('sent by the HTTP/2 of %s', (client) => {
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
  ])('a message in mode %s is shown by the %s', async (deliveryMode, shownBy) => {
    const made = makeMessage('ANDROID', '0') as AndroidMessage;
    const content = { ...made.content, options: { deliveryMode } };
    expect(await send(`${hmsToken}-${deliveryMode}`, { message: { content } })).toMatchObject({ kind: 'accepted' });
    await expect
      .poll(() => bundle.delivered.find(({ deviceToken }) => deviceToken === `${hmsToken}-${deliveryMode}`))
      .toMatchObject({ platform: 'ANDROID', title: made.content.title, screen: { shownBy } });
  });

  test.each([
    ['magic-gone', { kind: 'gone', code: '80300007' }],
    ['magic-invalid', { kind: 'gone', code: '80100000' }],
    ['magic-rejected', { kind: 'rejected', code: '80300008' }],
    ['magic-busy', { kind: 'wait', code: 'HMS_503', scope: 'credential', retryAfterSeconds: 1 }],
  ])('the address %s', async (pushId, outcome) => {
    expect(await send(`${pushId}-1`)).toMatchObject(outcome);
  });

  test('an expired access token is renewed once, and the message goes', async () => {
    const expired = JSON.stringify({ code: '80200003', msg: 'expired', requestId: '1' });
    await bundle.simulators.setFaults({ hms: { status: 200, body: expired, device: 'once', count: 1 } });
    expect(await send('once-1')).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.setFaults({ hms: { status: 200, body: expired, device: 'always' } });
    expect(await send('always-1')).toMatchObject({ kind: 'stopped', code: '80200003' });
    await bundle.simulators.setFaults({});
  });

  test('a client that Huawei does not know stops the run', async () => {
    const hms = { ...bundle.credentials.hms, clientSecret: 'another-secret' };
    expect(await send(hmsToken, { credentials: { hms } })).toMatchObject({
      kind: 'stopped',
      code: 'HMS_TOKEN_REFUSED',
    });
    const other = { ...bundle.credentials.hms, owner: { kind: 'project', id: '999' } };
    expect(await send(hmsToken, { credentials: { hms: other } })).toMatchObject({ kind: 'stopped', code: '80300002' });
  });

  test('a workspace without a credential of Huawei is told so', async () => {
    expect(await send(hmsToken, { credentials: { fcm: bundle.credentials.fcm } })).toMatchObject({
      kind: 'stopped',
      code: 'NO_CREDENTIAL',
      detail: 'this workspace has no credential for ANDROID by hms',
    });
  });

  test('many devices get their own texts, by one form or each for itself', async () => {
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

describe('the simulator refuses', () => {
  const notification = { title: 'T', body: 'B', default_sound: true, click_action: { type: 3 } };
  const violationOf = (android: Record<string, unknown>, more: object = {}, bytes = 100) =>
    findHmsViolation({ token: ['t'], android, ...more }, bytes)?.code;

  test('nothing of a whole message', () => {
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

  test('more than 4096 bytes', () => {
    expect(violationOf({ notification }, {}, 4096)).toBeUndefined();
    expect(violationOf({ notification }, {}, 4097)).toBe('80300008');
  });
});
