import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import { adm, parseAdmKey } from '../../../src/domain/providers/adm.ts';
import { classifyAdmAnswer } from '../../../src/providers/adm/classify.ts';
import { makeAdmProvider } from '../../../src/providers/adm/descriptor.ts';
import { makeAdmPart, planAdmRequest } from '../../../src/providers/adm/plan.ts';
import { findAdmViolation } from '../../../src/providers/adm/simulator.ts';
import type { AndroidMessage } from '../../../src/providers/payload/android.ts';
import type { Answer, Outcome } from '../../../src/providers/provider.ts';
import { http2Clients, sendTogether, startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, failedAnswer, makeScriptedTransport } from './scripted-transport.ts';
import type { SentRequest } from './scripted-transport.ts';

const now = new Date('2026-11-21T12:00:00Z');
const credential = parseAdmKey({
  clientId: 'amzn1.application-oa2-client.8e838f6629554e26ae3f43a6c663cd60',
  clientSecret: 'amzn1.oa2-cs.v1.s&cret',
});
const registrationId = `amzn1.adm-registration.v3.${'Y29t'.repeat(60)}`;

function messageIn(deliveryMode: string, more: object = {}): AndroidMessage {
  const made = makeMessage('ANDROID', '0');
  return { ...made, ...more, payload: { ...made.payload, mode: deliveryMode as 'data' } };
}

describe('a message for Amazon', () => {
  test('has the data of FCM, its own service name, and a key that makes a repeat replace it', () => {
    const part = makeAdmPart(messageIn('data'));
    expect(part).toMatchObject({
      data: { gcm_title: 'Title', gcm_alert: 'Text', svc_push_service: 'adm' },
      consolidationKey: makeMessage('ANDROID', '0').identity.collapseId,
      expiresAfter: 129_600,
      priority: 'high',
    });
    expect(Object.values(part.data!).every((value) => typeof value === 'string')).toBe(true);
    expect(part).not.toHaveProperty('notification');
    expect(findAdmViolation(part)).toBeUndefined();
  });

  test.each([
    ['notification', undefined],
    ['both', 'Title'],
  ])('has a notification in mode %s', (mode, title) => {
    const image = 'https://shop.example/1.png';
    const richContent = [{ type: 'image' as const, value: image }];
    const options = { visibility: 'private', color: '#0a7d5a', sticky: true, locKeys: { titleLocKey: 'K' } } as const;
    const content = { ...makeMessage('ANDROID', '0').content, channelId: 'orders', richContent, options };
    const part = makeAdmPart(messageIn(mode, { content }));
    expect(part.data?.gcm_title).toBe(title);
    expect(part.notification).toEqual({
      ...{ title: 'Title', body: 'Text', tag: expect.any(String), channel_id: 'orders', image },
      ...{ visibility: 'PRIVATE', color: '#0a7d5a', sticky: true, title_loc_key: 'K' },
    });
    expect(findAdmViolation(part)).toBeUndefined();
  });

  test.each([
    ['is kept for a minute at least', 0, 60],
    ['is kept for a minute at least', 59, 60],
    ['is kept for as long as it lives', 61, 61],
    ['is kept for 31 days at most', 2_678_401, 2_678_400],
  ])('%s: %i s', (_what, ttlSeconds, expiresAfter) => {
    expect(makeAdmPart(messageIn('data', { ttlSeconds })).expiresAfter).toBe(expiresAfter);
  });

  test('is planned with the documented headers, and the id in its path', () => {
    const device = { deviceId: '0', platform: 'ANDROID', provider: 'adm', pushId: 'a/b=' } as const;
    expect(planAdmRequest({ message: messageIn('data'), device, credential }, 'https://api.amazon.com')).toEqual({
      plan: {
        origin: 'https://api.amazon.com',
        path: '/messaging/registrations/a%2Fb%3D/messages',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          'x-amzn-type-version': 'com.amazon.device.messaging.ADMMessage@1.0',
          'x-amzn-accept-type': 'com.amazon.device.messaging.ADMSendResult@1.0',
        },
        body: expect.any(Buffer),
      },
    });
  });

  test('has at most 6 KB of names and values', () => {
    const device = { deviceId: '0', platform: 'ANDROID', provider: 'adm', pushId: registrationId } as const;
    const planOf = (characters: number) => {
      const content = { ...makeMessage('ANDROID', '0').content, message: 'x'.repeat(characters) };
      return planAdmRequest({ message: messageIn('data', { content }), device, credential }, '');
    };
    const bytesOf = (characters: number) => {
      const refused = planOf(characters + 6_144);
      return Number(/^\d+/.exec('outcome' in refused && 'detail' in refused.outcome ? refused.outcome.detail : '')![0]);
    };
    const most = 6_144 - (bytesOf(0) - 6_144);
    expect(planOf(most)).toHaveProperty('plan');
    expect(planOf(most + 1)).toEqual({
      outcome: {
        kind: 'rejected',
        code: 'MESSAGE_TOO_LARGE',
        detail: '6145 bytes of names and values; Amazon takes 6144',
      },
    });
    const planned = planOf(most);
    const body = 'plan' in planned ? JSON.parse(planned.plan.body.toString()) : undefined;
    expect(findAdmViolation(body)).toBeUndefined();
    expect(findAdmViolation({ ...body, data: { ...body.data, x: '' } })).toBe('MessageTooLarge');
  });
});

describe('a response of Amazon', () => {
  const because = (reason: string) => ({ reason });
  const refusedAs = { ifDevice: 'reject', ifAccount: 'hold at once' } as const;
  test.each<[string, Answer, Outcome]>([
    [
      'accepts the message, and names the request and the device',
      answerWith(200, { registrationID: 'now' }, { 'x-amzn-requestid': 'r' }),
      { kind: 'accepted', providerMessageId: 'r', address: 'now' },
    ],
    ['without an id is not Amazon’s', answerWith(200, '<html>'), { kind: 'unknown', code: 'ADM_200' }],
    ['an invalid id', answerWith(200, { registrationID: 'a b' }), { kind: 'unknown', code: 'ADM_200' }],
    ['drops the device', answerWith(400, because('Unregistered')), { kind: 'gone', code: 'Unregistered' }],
    [
      'leaves to other devices whether an id is invalid',
      answerWith(400, because('InvalidRegistrationId')),
      {
        ...{ kind: 'ambiguous', code: 'InvalidRegistrationId', detail: 'InvalidRegistrationId' },
        ...{ ifDevice: 'drop', ifAccount: 'hold' },
      } as Outcome,
    ],
    ...['InvalidData', 'InvalidConsolidationKey', 'InvalidExpiration', 'InvalidChecksum', 'InvalidType'].map(
      (code): [string, Answer, Outcome] => [
        `rejects the message: ${code}`,
        answerWith(400, because(code)),
        { kind: 'rejected', code, detail: code },
      ],
    ),
    [
      'rejects a large message',
      answerWith(413, because('MessageTooLarge')),
      { kind: 'rejected', code: 'MessageTooLarge', detail: 'MessageTooLarge' },
    ],
    [
      'holds the credential after a new token',
      answerWith(401, because('AccessTokenExpired')),
      { kind: 'stopped', code: 'AccessTokenExpired', detail: 'AccessTokenExpired' },
    ],
    [
      'limits, for as long as it asks',
      answerWith(429, because('MaxRateExceeded'), { 'retry-after': '9' }),
      {
        ...{ kind: 'ambiguous', code: 'MaxRateExceeded', detail: 'MaxRateExceeded', retryAfterSeconds: 9 },
        ...{ ifDevice: 'wait', ifAccount: 'pause' },
      } as Outcome,
    ],
    [
      'limits without a reason',
      answerWith(429, ''),
      { kind: 'ambiguous', code: 'ADM_429', detail: 'HTTP 429', ifDevice: 'wait', ifAccount: 'pause' },
    ],
    ['is a fault', answerWith(500, '<html>'), { kind: 'wait', code: 'ADM_500', scope: 'device' }],
    [
      'is a fault, whatever its reason, for as long as it asks (RFC 9110 §10.2.3)',
      answerWith(503, because('Unregistered'), { 'retry-after': 'Sat, 21 Nov 2026 12:01:00 GMT' }),
      { kind: 'wait', code: 'ADM_503', scope: 'device', retryAfterSeconds: 60 },
    ],
    ['asks for another try', answerWith(408), { kind: 'wait', code: 'ADM_408', scope: 'device' }],
    ...[401, 403, 404].map((status): [string, Answer, Outcome] => [
      `refuses with ${status} and no reason`,
      answerWith(status, 'null'),
      { kind: 'ambiguous', code: `ADM_${status}`, detail: `HTTP ${status}`, ...refusedAs },
    ]),
    [
      'with a reason that is not documented rejects the message, and keeps the device',
      answerWith(400, because('InvalidSomething')),
      { kind: 'rejected', code: 'ADM_400', detail: 'InvalidSomething' },
    ],
    [
      'with a wait lets the device wait',
      answerWith(400, because('InvalidData'), { 'retry-after': '3' }),
      { kind: 'wait', code: 'InvalidData', scope: 'device', retryAfterSeconds: 3 },
    ],
    ['is late', failedAnswer, { kind: 'unknown', code: 'TIMEOUT' }],
  ])('%s', (_what, answer, outcome) => {
    expect(classifyAdmAnswer(answer, now)).toEqual(outcome);
    if ('code' in outcome && answer.kind === 'answer') expect(outcome.code).toMatch(adm.codes.pattern);
  });
});

describe('an access token', () => {
  const origin = 'https://api.amazon.com';
  const endpoints = { messagesOrigin: origin, tokenOrigin: origin };
  const accepted = answerWith(200, { registrationID: registrationId });

  function makeBundle(reply: (request: SentRequest) => Answer = () => accepted, tokenReply?: Answer) {
    const clock = makeManualClock(now);
    let tokens = 0;
    const { transport, sent } = makeScriptedTransport((request) => {
      if (request.path !== '/auth/O2/token') return reply(request);
      tokens += 1;
      return tokenReply ?? answerWith(200, { access_token: `Atc|${tokens}`, expires_in: 3600 });
    });
    const provider = makeAdmProvider({ clock, transport, endpoints, simulator: undefined });
    const device = { deviceId: '0', platform: 'ANDROID', provider: 'adm', pushId: registrationId } as const;
    const send = async () => {
      const planned = provider.plan({ message: makeMessage('ANDROID', '0'), device, credential });
      if ('outcome' in planned) return planned.outcome;
      return provider.classify(await provider.send(planned.plan, credential), clock.realNow());
    };
    const asked = () => sent.filter(({ path }) => path === '/auth/O2/token').length;
    return { clock, sent, send, asked };
  }

  test('is requested with the secret and the scope, and over HTTP/1.1 if there is no HTTP/2', async () => {
    const { send, sent } = makeBundle();
    expect(await send()).toEqual({ kind: 'accepted', address: registrationId });
    const target = { origin, isGuarded: false, fallback: 'http/1.1' };
    expect(sent[0]).toEqual({
      target: { key: `adm:tokenOrigin:false:${credential.clientId}`, ...target },
      path: '/auth/O2/token',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=client_credentials&scope=messaging%3Apush&client_id=${credential.clientId}&client_secret=amzn1.oa2-cs.v1.s%26cret`,
    });
    expect(sent[1]).toMatchObject({
      target: { key: `adm:messagesOrigin:false:${credential.clientId}`, ...target },
      headers: { authorization: 'Bearer Atc|1' },
    });
  });

  test('is used for four fifths of its lifetime', async () => {
    const { clock, send, asked } = makeBundle();
    await send();
    clock.advance(48 * 60_000 - 1);
    await send();
    expect(asked()).toBe(1);
    clock.advance(1);
    await send();
    expect(asked()).toBe(2);
  });

  test('is fetched again once after it has expired', async () => {
    const ended = answerWith(401, { reason: 'AccessTokenExpired' });
    const { send, asked } = makeBundle(({ headers }) => (headers.authorization === 'Bearer Atc|1' ? ended : accepted));
    expect(await send()).toMatchObject({ kind: 'accepted' });
    expect(asked()).toBe(2);
    const always = makeBundle(() => ended);
    expect(await always.send()).toMatchObject({ kind: 'stopped', code: 'AccessTokenExpired' });
    expect(always.asked()).toBe(2);
  });

  test('stops the run with the words of the token service if it is refused', async () => {
    const { send, sent } = makeBundle(undefined, answerWith(400, { error: 'invalid_client' }));
    expect(await send()).toEqual({
      kind: 'stopped',
      code: 'ADM_TOKEN_REFUSED',
      detail: 'the client was refused: {"error":"invalid_client"}',
    });
    expect(sent).toHaveLength(1);
  });

  test('makes the device wait if a busy service does not issue it', async () => {
    const { send } = makeBundle(undefined, answerWith(503, '', { 'retry-after': '5' }));
    expect(await send()).toEqual({ kind: 'wait', code: 'ADM_503', scope: 'device', retryAfterSeconds: 5 });
  });
});

describe.each(http2Clients)('delivery by the HTTP/2 client of %s', (client) => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle(client);
  });
  afterAll(() => bundle.stop());
  const send = (pushId: string, more: object = {}) => bundle.send('ANDROID', { provider: 'adm', pushId, ...more });

  test.each([
    ['data', 'app'],
    ['both', 'system'],
    ['notification', 'system'],
  ])('sends a message in mode %s, which the %s shows', async (mode, shownBy) => {
    const id = `${registrationId}-${mode}`;
    const { payload } = messageIn(mode);
    expect(await send(id, { message: { payload } })).toEqual({
      kind: 'accepted',
      providerMessageId: expect.stringMatching(/^[0-9a-f]{32}$/),
      address: id,
    });
    await expect
      .poll(() => bundle.delivered.find(({ deviceToken }) => deviceToken === id))
      .toMatchObject({ platform: 'ANDROID', title: 'Title', screen: { shownBy } });
  });

  test.each([
    ['magic-gone', { kind: 'gone', code: 'Unregistered' }],
    ['magic-invalid', { kind: 'ambiguous', code: 'InvalidRegistrationId', ifDevice: 'drop', ifAccount: 'hold' }],
    ['magic-rejected', { kind: 'rejected', code: 'MessageTooLarge' }],
    ['magic-busy', { kind: 'wait', code: 'ADM_503', scope: 'device', retryAfterSeconds: 1 }],
    ['replaced-now', { kind: 'accepted', address: 'now-1' }],
  ])('gets the response of the address %s', async (pushId, outcome) => {
    expect(await send(`${pushId}-1`)).toMatchObject(outcome);
  });

  test('gets the responses that Amazon returns in operation', async () => {
    await bundle.simulators.setFaults({ adm: { answer: 'limited' } });
    expect(await send(registrationId)).toMatchObject({ kind: 'ambiguous', code: 'MaxRateExceeded' });
    await bundle.simulators.setFaults({ adm: { answer: 'wrong-profile' } });
    expect(await send(registrationId)).toMatchObject({ kind: 'ambiguous', code: 'InvalidRegistrationId' });
    await bundle.simulators.setFaults({});
  });

  test('renews an expired access token and sends the message', async () => {
    bundle.clock.advance(3_600_000);
    bundle.simulators.syncClock();
    expect(await send(registrationId)).toMatchObject({ kind: 'accepted' });
  });

  test('stops the run of a client that Amazon does not know', async () => {
    const other = { ...bundle.credentials.adm, clientSecret: 'another-secret' };
    expect(await send(registrationId, { credentials: { adm: other } })).toMatchObject({
      kind: 'stopped',
      code: 'ADM_TOKEN_REFUSED',
    });
  });

  test('sends many devices separate texts, in one form or separately', async () => {
    for (const form of ['shared', 'none'] as const) {
      const places = Array.from({ length: 40 }, (_, place) => place);
      const messages = places.map((place): Message => makeMessage('ANDROID', String(place)));
      const pushIds = places.map((place) => `batch-${client}-${form}-${place}/+=${'c'.repeat(60)}`);
      const credentials = { adm: bundle.credentials.adm };
      const outcomes = await sendTogether(bundle.delivery, { messages, pushIds, credentials, provider: 'adm', form });
      expect(outcomes.map((outcome) => 'address' in outcome && outcome.address)).toEqual(pushIds);
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

describe('the simulator', () => {
  const data = { a: 'x', b: 'y' };
  const md5 = createHash('md5').update('a:x,b:y').digest('base64');
  test.each<[string, unknown, string | undefined]>([
    ['accepts a whole message', { data, consolidationKey: 'k', expiresAfter: 60, priority: 'normal', md5 }, undefined],
    ['accepts a message without data', { data: {}, consolidationKey: 'Sync' }, undefined],
    ['rejects a list', [], 'InvalidData'],
    ['rejects missing content', { expiresAfter: 60 }, 'InvalidData'],
    ['rejects an unknown member', { data, collapse_key: 'k' }, 'InvalidData'],
    ['rejects a number in data', { data: { a: 1 } }, 'InvalidData'],
    ['rejects a priority of FCM', { data, priority: 'HIGH' }, 'InvalidData'],
    ['rejects a key of 65 characters', { data, consolidationKey: 'k'.repeat(65) }, 'InvalidConsolidationKey'],
    ['rejects an unknown member of the notification', { notification: { colour: 'red' } }, 'InvalidData'],
    ['rejects an expiry under a minute', { data, expiresAfter: 59 }, 'InvalidExpiration'],
    ['rejects 32 days', { data, expiresAfter: 2_764_800 }, 'InvalidExpiration'],
    ['rejects an expiry that is a text', { data, expiresAfter: '60' }, 'InvalidExpiration'],
    ['rejects a wrong checksum', { data: { a: 'z' }, md5 }, 'InvalidChecksum'],
    ['rejects 6 KB and a byte', { data: { a: 'x'.repeat(6_144) } }, 'MessageTooLarge'],
  ])('%s', (_what, body, reason) => {
    expect(findAdmViolation(body)).toBe(reason);
  });
});
