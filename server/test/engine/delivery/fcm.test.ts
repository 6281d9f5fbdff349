import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeManualClock } from '../../../src/clock.ts';
import type { JsonObject, Platform } from '../../../src/domain/content/content.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import type { FcmCredential } from '../../../src/domain/providers/fcm.ts';
import { measureFcmMessage, planFcmRequest } from '../../../src/providers/fcm/plan.ts';
import { makeFcmAccessTokens, makeFcmProvider } from '../../../src/providers/fcm/provider.ts';
import { findFcmViolation } from '../../../src/providers/fcm/simulator-rules.ts';
import type { Http2Transport } from '../../../src/providers/http2/transport.ts';
import type { AndroidMessage } from '../../../src/providers/payload/android.ts';
import type { Answer } from '../../../src/providers/provider.ts';
import { http2Clients, startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';
import { answerWith, makeScriptedTransport } from './scripted-transport.ts';
import type { SentRequest } from './scripted-transport.ts';

const now = new Date('2026-11-21T12:00:00Z');

describe('the provider', () => {
  const endpoints = { messagesOrigin: 'https://fcm.googleapis.com', tokenOrigin: 'https://oauth2.googleapis.com' };
  const simulator = { messagesOrigin: 'http://127.0.0.1:1', tokenOrigin: 'http://127.0.0.1:2' };
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const credential: FcmCredential = {
    provider: 'fcm',
    projectId: 'shop',
    clientEmail: 'a@shop.iam.gserviceaccount.com',
    privateKeyId: 'KEY1',
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    simulated: false,
  };
  const device = { deviceId: '0', platform: 'ANDROID', pushId: 'TOKEN' } as const;

  test('sends a message with a token that the service account requested by a signed assertion (RFC 7523 §2.1)', async () => {
    const { send, sent } = makeBundle();
    expect(await send()).toEqual({ kind: 'accepted', providerMessageId: 'id' });
    const [asked, message] = sent;
    expect(asked).toMatchObject({
      target: { key: 'fcm:tokenOrigin:false:a@shop.iam.gserviceaccount.com', origin: endpoints.tokenOrigin },
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(asked!.target).toEqual({ ...asked!.target, isGuarded: false });
    expect(asked!.target).not.toHaveProperty('connectTo');
    const form = new URLSearchParams(asked!.body);
    expect(form.get('grant_type')).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer');
    const { protectedHeader, payload } = await jwtVerify(form.get('assertion')!, createPublicKey(privateKey), {
      currentDate: now,
    });
    expect(protectedHeader).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'KEY1' });
    expect(payload).toEqual({
      iss: credential.clientEmail,
      scope: 'https://www.googleapis.com/auth/firebase.messaging',
      aud: 'https://oauth2.googleapis.com/token',
      iat: now.getTime() / 1000,
      exp: now.getTime() / 1000 + 3600,
    });
    expect(message).toMatchObject({
      target: { key: 'fcm:messagesOrigin:false:a@shop.iam.gserviceaccount.com', origin: endpoints.messagesOrigin },
      path: '/v1/projects/shop/messages:send',
      headers: { authorization: 'Bearer token-1', 'content-type': 'application/json; charset=utf-8' },
    });
  });

  test('uses a token until five minutes before it expires', async () => {
    const { clock, send, sent } = makeBundle();
    await send();
    clock.advance(55 * 60_000 - 1);
    await send();
    expect(sent.filter(({ path }) => path === '/token')).toHaveLength(1);
    clock.advance(1);
    await send();
    expect(sent.at(-1)!.headers.authorization).toBe('Bearer token-2');
  });

  test('uses separate tokens for another key and another account', async () => {
    const { send, sent } = makeBundle();
    await send();
    await send({ ...credential, privateKeyId: 'KEY2' });
    await send({ ...credential, clientEmail: 'b@shop.test' });
    await send();
    expect(sent.filter(({ path }) => path !== '/token').map(({ headers }) => headers.authorization)).toEqual(
      ['1', '2', '3', '1'].map((number) => `Bearer token-${number}`),
    );
  });

  describe('a message that is rejected with 401', () => {
    const refused = answerWith(401, { error: { status: 'UNAUTHENTICATED', message: 'old' } });

    test('is sent once more with another token', async () => {
      const { send, sent } = makeBundle({
        reply: ({ headers }) => (headers.authorization === 'Bearer token-1' ? refused : answerWith(200)),
      });
      expect(await send()).toEqual({ kind: 'accepted' });
      expect(sent.map(({ path }) => path.slice(0, 6))).toEqual(['/token', '/v1/pr', '/token', '/v1/pr']);
    });

    test('is not sent a third time', async () => {
      const { send, sent } = makeBundle({ reply: () => refused });
      expect(await send()).toEqual({
        ...{ kind: 'ambiguous', code: 'UNAUTHENTICATED', detail: 'old' },
        ...{ ifDevice: 'reject', ifAccount: 'hold at once' },
      });
      expect(sent).toHaveLength(4);
    });

    test.each<[string, Answer]>([
      [
        'a rejection of Firebase’s key by Apple',
        answerWith(401, { error: { details: [{ errorCode: 'THIRD_PARTY_AUTH_ERROR' }] } }),
      ],
      ['another status', answerWith(403, { error: { status: 'PERMISSION_DENIED' } })],
      ['no answer', { kind: 'failure', certainty: 'unknown', reason: 'reset', detail: '' }],
    ])('is not sent again with another token for %s', async (_what, answer) => {
      const { send, sent } = makeBundle({ reply: () => answer });
      await send();
      expect(sent).toHaveLength(2);
    });
  });

  describe('a response of the token service', () => {
    test.each<[Answer, object]>([
      [
        answerWith(400, { error: 'invalid_grant' }),
        {
          kind: 'stopped',
          code: 'TOKEN_REFUSED',
          detail: 'the service account was refused: {"error":"invalid_grant"}',
        },
      ],
      [answerWith(200, { token: 'none' }), { kind: 'stopped', code: 'TOKEN_REFUSED' }],
      [answerWith(503, '', { 'retry-after': '7' }), { kind: 'wait', code: 'FCM_503', retryAfterSeconds: 7 }],
      [answerWith(500), { kind: 'wait', code: 'FCM_500' }],
      [answerWith(429), { kind: 'ambiguous', code: '429', ifDevice: 'wait', ifAccount: 'pause' }],
      [
        { kind: 'failure', certainty: 'unknown', reason: 'timeout', detail: '' },
        { kind: 'unknown', code: 'TIMEOUT' },
      ],
    ])('decides the outcome of the message, which is not sent: %j', async (said, outcome) => {
      const { send, sent } = makeBundle({ tokenReply: () => said });
      expect(await send()).toMatchObject(outcome);
      expect(sent.map(({ path }) => path)).toEqual(['/token']);
    });

    test('is truncated in the outcome', async () => {
      const { provider } = makeBundle({ tokenReply: () => answerWith(400, 'x'.repeat(5_000)) });
      const found = await provider.access.find(credential);
      const body = 'refusal' in found && found.refusal.kind === 'answer' ? found.refusal.body : '';
      expect(body.match(/x+/)![0]).toHaveLength(300);
    });
  });

  describe('a simulated account', () => {
    const simulated = { ...credential, simulated: true };

    test('is connected to the simulators under the names of Google, on separate connections', async () => {
      const { send, sent } = makeBundle();
      await send(simulated);
      expect(sent.map(({ target }) => target)).toEqual([
        {
          key: 'fcm:tokenOrigin:true:a@shop.iam.gserviceaccount.com',
          origin: endpoints.tokenOrigin,
          connectTo: simulator.tokenOrigin,
          isGuarded: false,
        },
        {
          key: 'fcm:messagesOrigin:true:a@shop.iam.gserviceaccount.com',
          origin: endpoints.messagesOrigin,
          connectTo: simulator.messagesOrigin,
          isGuarded: false,
        },
      ]);
    });

    test('sends nothing if there are no simulators', async () => {
      const { send, sent } = makeBundle({ isSimulated: false });
      await expect(send(simulated)).rejects.toThrow('a simulated credential without simulators');
      expect(sent).toEqual([]);
    });
  });

  test('writes a device token into a form only if JSON leaves it unchanged', () => {
    const { addressOf, reads, texts } = makeBundle().provider;
    for (const plain of ['', 'abc:DEF-_', ' !#[]~', 'x'.repeat(200)]) expect(addressOf(plain)).toBe(plain);
    for (const other of ['"', 'a\\b', 'é', 'a\nb', '\u007f', 'a"']) expect(addressOf(other)).toBeUndefined();
    expect([reads, texts]).toEqual(['bodies', 'copied']);
  });

  /** Google, whose token service gives out `token-1`, `token-2`, …; `reply` answers messages. */
  function makeBundle({
    reply = () => answerWith(200, { name: 'id' }),
    tokenReply,
    isSimulated = true,
  }: {
    reply?: (request: SentRequest) => Answer;
    tokenReply?: () => Answer;
    isSimulated?: boolean;
  } = {}) {
    const clock = makeManualClock(now);
    let tokens = 0;
    const { transport, sent } = makeScriptedTransport((request) => {
      if (request.path !== '/token') return reply(request);
      tokens += 1;
      return tokenReply?.() ?? answerWith(200, { access_token: `token-${tokens}`, expires_in: 3600 });
    });
    const provider = makeFcmProvider({ clock, transport, endpoints, simulator: isSimulated ? simulator : undefined });
    const send = async (given: FcmCredential = credential) => {
      const planned = provider.plan({ message: makeMessage('ANDROID', '0'), device, credential: given });
      if ('outcome' in planned) return planned.outcome;
      return provider.classify(await provider.send(planned.plan, given), clock.realNow());
    };
    return { clock, provider, sent, send };
  }
});

type Members = Record<string, any>;
type Given = { content?: object; message?: object; credential?: object; device?: object };

describe('a planned request', () => {
  const origin = 'https://fcm.googleapis.com';
  const credential = { projectId: 'shop/17' } as FcmCredential;

  describe('the request', () => {
    test('is sent to the messages of the project, as JSON (delivery 1)', () => {
      const planned = plan('ANDROID');
      expect('plan' in planned && { ...planned.plan, body: undefined }).toEqual({
        origin,
        path: '/v1/projects/shop%2F17/messages:send',
        headers: { 'content-type': 'application/json; charset=utf-8' },
        body: undefined,
      });
    });

    test('is addressed to a token, or to the installation that the device names', () => {
      expect(bodyOf('ANDROID')).toMatchObject({ token: 'TOKEN' });
      const { fid, token } = bodyOf('ANDROID', { device: { pushIdType: 'fid' } });
      expect([fid, token]).toEqual(['TOKEN', undefined]);
      expect(bodyOf('ANDROID', { device: { pushIdType: null } })).toMatchObject({ token: 'TOKEN' });
    });

    test('names the package of a restricted app, together with the other Android fields', () => {
      const { android } = bodyOf('ANDROID', { credential: { restrictedPackage: 'shop.app' } });
      expect(android).toMatchObject({ restricted_package_name: 'shop.app', priority: 'HIGH' });
      expect(bodyOf('ANDROID').android).not.toHaveProperty('restricted_package_name');
    });
  });

  describe('an Android override', () => {
    const planWith = (fcm: JsonObject, more: Given = {}) =>
      plan('ANDROID', { ...more, content: { ...more.content, overrides: { fcm } } });

    test.each<[JsonObject, string]>([
      [{ android: 'x' }, 'android must be an object'],
      [{ android: { notification: 'x' } }, 'android.notification must be an object'],
      [{ data: 'x' }, 'data must be an object'],
      [{ data: { shelf: 17 } }, 'data.shelf must be a text'],
      [{ data: { svc_tag: 'x' } }, 'data.svc_tag cannot be set'],
      [{ data: { push_from: 'x' } }, 'data.push_from cannot be set'],
    ])('is rejected if it contains %j', (fcm, detail) => {
      expect(planWith(fcm)).toEqual({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
    });

    test('is rejected for a reserved key with the prefix of the message, and accepted with another prefix', () => {
      const message = { payload: { mode: 'both', pushFrom: 'carillon', dataPrefix: 'acme' } };
      expect(planWith({ data: { acme_x: '1' } }, { message })).toMatchObject({ outcome: { kind: 'rejected' } });
      expect(planWith({ data: { svc_x: '1' } }, { message })).toHaveProperty('plan');
    });

    test('may remove data, android or the notification', () => {
      const withPatch = (fcm: JsonObject) => bodyOf('ANDROID', { content: { overrides: { fcm } } });
      expect(withPatch({ data: null })).not.toHaveProperty('data');
      expect(withPatch({ android: null })).not.toHaveProperty('android');
      expect(withPatch({ android: { notification: null } }).android).not.toHaveProperty('notification');
    });

    test('counts towards the size', () => {
      const size = (content: object) =>
        measureFcmMessage({
          ...makeMessage('ANDROID', '0'),
          content: { ...makeMessage('ANDROID', '0').content, ...content },
        } as AndroidMessage);
      const plain = size({});
      expect(plain.most).toBe(4096);
      expect(size({ overrides: { fcm: { data: { more: 'é' } } } }).bytes - plain.bytes).toBe('more'.length + 2);
      expect(size({ overrides: { fcm: { android: { notification: { sticky: true } } } } }).bytes - plain.bytes).toBe(
        'stickytrue'.length,
      );
      expect(size({ overrides: { fcm: { data: 'no object' } } })).toEqual(plain);
      expect(size({ overrides: { fcm: { android: null } } }).bytes).toBeLessThan(plain.bytes);
    });
  });

  test('has at most 4096 bytes of keys and values in notification and data (delivery 1)', () => {
    const sized = (length: number) => {
      const message = makeMessage('ANDROID', '0');
      return { ...message, content: { ...message.content, message: 'x'.repeat(length) } } as AndroidMessage;
    };
    // The text stands in both.
    const most = Math.floor((4096 - measureFcmMessage(sized(0)).bytes) / 2);
    expect(measureFcmMessage(sized(most)).bytes).toBeGreaterThan(4094);
    expect(plan('ANDROID', { content: { message: 'x'.repeat(most) } })).toHaveProperty('plan');
    const { bytes } = measureFcmMessage(sized(most + 1));
    expect(plan('ANDROID', { content: { message: 'x'.repeat(most + 1) } })).toEqual({
      outcome: {
        kind: 'rejected',
        code: 'MESSAGE_TOO_LARGE',
        detail: `${bytes} bytes of keys and values; FCM takes 4096`,
      },
    });
    // What stands beside them is not counted: the address of the device.
    expect(
      plan('ANDROID', { content: { message: 'x'.repeat(most) }, device: { pushId: 't'.repeat(4000) } }),
    ).toHaveProperty('plan');
  });

  describe('a message to an iPhone app that uses Firebase', () => {
    const image = { type: 'image', value: 'https://shop.example/i.png' };

    test('hands Firebase the request for Apple, without a topic', () => {
      const { apns, android, webpush } = bodyOf('IOS');
      expect([android, webpush]).toEqual([undefined, undefined]);
      expect(apns.headers).toEqual({
        'apns-push-type': 'alert',
        'apns-priority': '10',
        'apns-expiration': String(now.getTime() / 1000 + 129_600),
        'apns-collapse-id': makeMessage('IOS', '0').identity.collapseId,
      });
      expect(apns.payload.aps.alert).toEqual({ title: 'Title', body: 'Text' });
      expect(apns).not.toHaveProperty('fcm_options');
    });

    test.each<[string, object[], boolean, string | undefined]>([
      ['an image', [image], false, image.value],
      ['a moving one', [{ type: 'gif', value: 'https://g.example' }], false, 'https://g.example'],
      ['sound before an image', [{ type: 'sound', value: 'bell' }, image], false, image.value],
      ['a video', [{ type: 'video', value: 'https://v.example' }], false, undefined],
      ['of a silent message', [image], true, undefined],
    ])('names the image for the extension of the SDK: %s', (...[, richContent, isSilent, shown]) => {
      const { apns } = bodyOf('IOS', { content: { richContent }, message: { isSilent } });
      expect(apns.fcm_options).toEqual(shown === undefined ? undefined : { image: shown });
    });

    test('has headers set or removed by the override, except the topic, which Firebase sets', () => {
      const overrides = { apns: { headers: { 'apns-priority': '1', 'apns-collapse-id': null } } };
      const { apns } = bodyOf('IOS', { content: { overrides } });
      expect(apns.headers).toMatchObject({ 'apns-priority': '1' });
      expect(apns.headers).not.toHaveProperty('apns-collapse-id');
      expect(plan('IOS', { content: { overrides: { apns: { headers: { 'apns-topic': '.voip' } } } } })).toMatchObject({
        outcome: { code: 'OVERRIDE_INVALID', detail: 'apns-topic is Firebase’s to name' },
      });
      expect(plan('IOS', { content: { overrides: { apns: { payload: { aps: null } } } } })).toMatchObject({
        outcome: { code: 'OVERRIDE_INVALID', detail: 'aps must be an object' },
      });
    });

    test('has at most 3896 bytes of payload, because Firebase adds to the 4096 that Apple accepts', () => {
      const payloadBytes = (length: number) =>
        Buffer.byteLength(JSON.stringify(bodyOf('IOS', { content: { message: 'x'.repeat(length) } }).apns.payload));
      const most = 3896 - payloadBytes(0);
      expect(payloadBytes(most)).toBe(3896);
      expect(plan('IOS', { content: { message: 'x'.repeat(most + 1) } })).toMatchObject({
        outcome: { code: 'MESSAGE_TOO_LARGE', detail: '3897 bytes of keys and values; FCM takes 3896' },
      });
    });
  });

  describe('a message to a browser whose site uses Firebase', () => {
    test('gives the worker the whole payload as one text, and uses the header names of Firebase', () => {
      const { webpush, android } = bodyOf('WEB');
      expect(android).toBeUndefined();
      expect(webpush.headers).toEqual({
        TTL: '129600',
        Urgency: 'normal',
        Topic: makeMessage('WEB', '0').identity.collapseId,
      });
      expect(Object.keys(webpush)).toEqual(['headers', 'data']);
      expect(Object.keys(webpush.data)).toEqual(['carillon']);
      expect(JSON.parse(webpush.data.carillon)).toMatchObject({ title: 'Title', message: 'Text' });
    });

    test('has headers set or removed by the override, and is rejected for invalid ones', () => {
      const { webpush } = bodyOf('WEB', {
        content: { overrides: { webpush: { headers: { ttl: '7', topic: null } } } },
      });
      expect(webpush.headers).toEqual({ TTL: '7', Urgency: 'normal' });
      expect(plan('WEB', { content: { overrides: { webpush: { headers: { urgency: 'now' } } } } })).toMatchObject({
        outcome: { detail: 'urgency must be one of very-low, low, normal, high' },
      });
      expect(plan('WEB', { content: { overrides: { webpush: { payload: { title: '' } } } } })).toEqual({
        outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: 'the title must be a text' },
      });
    });

    test('has at most 4096 bytes of name and text in its data', () => {
      const textBytes = (length: number) =>
        Buffer.byteLength(bodyOf('WEB', { content: { message: 'x'.repeat(length) } }).webpush.data.carillon);
      const most = 4096 - 'carillon'.length - textBytes(0);
      expect(textBytes(most)).toBe(4088);
      expect(plan('WEB', { content: { message: 'x'.repeat(most + 1) } })).toMatchObject({
        outcome: { code: 'MESSAGE_TOO_LARGE', detail: '4097 bytes of keys and values; FCM takes 4096' },
      });
    });
  });

  function plan(platform: Message['platform'], given: Given = {}) {
    const made = makeMessage(platform, '0');
    const message = { ...made, ...given.message, content: { ...made.content, ...given.content } } as Message;
    const device = { deviceId: '0', platform, pushId: 'TOKEN', ...given.device };
    return planFcmRequest(
      { message, device, credential: { ...credential, ...given.credential } as FcmCredential },
      { origin, now },
    );
  }

  function bodyOf(platform: Message['platform'], given: Given = {}): Members {
    const planned = plan(platform, given);
    if ('outcome' in planned) throw new Error(JSON.stringify(planned.outcome));
    return (JSON.parse(planned.plan.body.toString()) as { message: Members }).message;
  }
});

describe('access tokens', () => {
  const target = { key: 'fcm', origin: 'https://oauth2.googleapis.com', isGuarded: false };
  const credential = {
    clientEmail: 'a@shop.iam.gserviceaccount.com',
    privateKeyId: 'KEY1',
    privateKey: generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' }),
  } as FcmCredential;

  test('are fetched once for all messages that were rejected with the same token', async () => {
    const { tokens, get, asked } = makeBundle();
    const [first] = await Promise.all(Array.from({ length: 100 }, get));
    expect([first, asked()]).toEqual([{ token: 'token-1' }, 1]);
    for (let message = 0; message < 100; message += 1) {
      tokens.forget(credential, 'token-1');
      expect(await get()).toEqual({ token: 'token-2' });
    }
  });

  test('are fetched again if they were fetched while the clock was ahead', async () => {
    const { clock, get } = makeBundle();
    clock.advance(30 * 24 * 3_600_000);
    await get();
    clock.anchor(now);
    expect(await get()).toEqual({ token: 'token-2' });
    clock.setOffset(30 * 24 * 3_600_000);
    expect(await get()).toEqual({ token: 'token-2' });
  });

  test('fail for an unusable key on each request, and work with a valid key of the same name afterwards', async () => {
    const { tokens, get } = makeBundle();
    const broken = { ...credential, privateKey: 'no key' };
    await expect(tokens.get(broken, target)).rejects.toThrow();
    await expect(tokens.get(broken, target)).rejects.toThrow();
    expect(await get()).toEqual({ token: 'token-1' });
  });

  /** Google's token service as a transport: each question has a token of its own. */
  function makeBundle() {
    const clock = makeManualClock(now);
    let asked = 0;
    const transport = {
      request: async () => {
        asked += 1;
        const body = JSON.stringify({ access_token: `token-${asked}`, expires_in: 3600 });
        return { kind: 'answer', status: 200, headers: {}, body };
      },
    } as unknown as Http2Transport;
    const tokens = makeFcmAccessTokens({ clock, transport });
    return { clock, tokens, get: () => tokens.get(credential, target), asked: () => asked };
  }
});

const pushId = `firebase-${'f'.repeat(140)}`;

describe('the FCM message', () => {
  test('contains for an iPhone the request for Apple, without a topic and without Android fields', () => {
    const message = planned('IOS');
    const ours = makeMessage('IOS', '0');
    expect(Object.keys(message).sort()).toEqual(['apns', 'token']);
    expect(message.apns.headers).toEqual({
      'apns-push-type': 'alert',
      'apns-priority': '10',
      'apns-expiration': String(now.getTime() / 1000 + ours.ttlSeconds),
      'apns-collapse-id': ours.identity.collapseId,
    });
    expect(message.apns.payload).toMatchObject({
      aps: { alert: { title: ours.content.title }, 'mutable-content': 1 },
      svc: { message_id: ours.identity.id, report_token: ours.report!.token },
    });
  });

  test('names an image for the extension of the SDK, too', () => {
    const { content } = makeMessage('IOS', '0');
    const image = 'https://shop.example/i.png';
    const withImage = { ...content, richContent: [{ type: 'image', value: image }] };
    expect(planned('IOS', { content: withImage }).apns.fcm_options).toEqual({ image });
    expect(planned('IOS', { content: withImage, isSilent: true }).apns.fcm_options).toBeUndefined();
  });

  test('is a low-priority background message if it is silent', () => {
    const { apns } = planned('IOS', { isSilent: true });
    expect(apns.headers).toMatchObject({ 'apns-push-type': 'background', 'apns-priority': '5' });
    expect(apns.payload.aps).toEqual({ 'content-available': 1 });
  });

  test('contains for a browser the whole payload in one value, without a Firebase notification or a declaration', () => {
    const { content, ...ours } = makeMessage('WEB', '0');
    const message = planned('WEB', { content: { ...content, options: { declarative: 'always' } } });
    expect(Object.keys(message).sort()).toEqual(['token', 'webpush']);
    expect(message.webpush).toEqual({
      headers: { TTL: String(ours.ttlSeconds), Urgency: 'normal', Topic: ours.identity.collapseId },
      data: { carillon: expect.any(String) },
    });
    const payload = JSON.parse(message.webpush.data.carillon);
    expect(payload).toMatchObject({ title: content.title, report_token: ours.report!.token });
    expect(payload.web_push).toBeUndefined();
  });

  test('is not sent if it is too large for Apple or a browser; for Apple it leaves space for Firebase', () => {
    const longest = (platform: Platform): number => {
      const { content } = makeMessage(platform, '0');
      let [most, tooMany] = [0, 5_000];
      while (tooMany - most > 1) {
        const middle = Math.floor((most + tooMany) / 2);
        const outcome = planned(platform, { content: { ...content, message: 'x'.repeat(middle) } });
        if ('token' in outcome) most = middle;
        else tooMany = middle;
      }
      const fits = planned(platform, { content: { ...content, message: 'x'.repeat(most) } });
      const { apns, webpush } = fits;
      return apns ? Buffer.byteLength(JSON.stringify(apns.payload)) : 'carillon'.length + webpush.data.carillon.length;
    };
    expect(longest('IOS')).toBe(3896);
    expect(longest('WEB')).toBe(4096);
  });
});

describe.each(http2Clients)('delivery by the HTTP/2 client of %s', (client) => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle(client);
  });
  afterAll(() => bundle.stop());

  test.each(['IOS', 'WEB'] as const)('is shown by a Firebase app on %s, which can report it', async (platform) => {
    const address = `${pushId}-${platform}`;
    expect(await bundle.send(platform, { provider: 'fcm', pushId: address })).toMatchObject({
      kind: 'accepted',
      providerMessageId: expect.stringMatching(/^projects\//),
    });
    const { content, identity } = makeMessage(platform, '0');
    await expect
      .poll(() => bundle.delivered.find(({ deviceToken }) => deviceToken === address))
      .toMatchObject({
        platform,
        title: content.title,
        messageId: identity.id,
        screen: { reports: expect.arrayContaining(['impression', 'click']) },
      });
  });

  test('lets other phones decide if Apple rejects the key of the Firebase project, and fetches no other access token', async () => {
    const error = {
      code: 401,
      status: 'UNAUTHENTICATED',
      message: 'Auth error from APNS',
      details: [{ errorCode: 'THIRD_PARTY_AUTH_ERROR' }],
    };
    await bundle.simulators.reset();
    await bundle.simulators.setFaults({ fcm: { status: 401, body: JSON.stringify({ error }), device: 'refused' } });
    expect(await bundle.send('IOS', { provider: 'fcm', pushId: 'refused-1' })).toMatchObject({
      kind: 'ambiguous',
      code: 'THIRD_PARTY_AUTH_ERROR',
      ifAccount: 'hold',
    });
    expect((await bundle.simulators.counters()).ANDROID).toMatchObject({ received: 1, refused: 1 });
    // Android phones of the same project go on.
    expect(await bundle.send('ANDROID')).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.setFaults({});
  });
});

describe('violations found by the simulator', () => {
  const aps = { alert: { title: 'T', body: 'B' } };
  const violationOf = (blocks: object) => findFcmViolation({ token: 'a-token-of-firebase', ...blocks })?.field;

  test('are none for whole blocks', () => {
    const apns = {
      headers: { 'apns-push-type': 'alert' },
      payload: { aps },
      fcm_options: { image: 'https://a.example/i.png' },
    };
    expect(violationOf({ apns })).toBeUndefined();
    const webpush = {
      headers: { TTL: '60', Urgency: 'high', Topic: 'a' },
      data: { a: 'b' },
      fcm_options: { link: 'https://a.example' },
    };
    expect(violationOf({ webpush })).toBeUndefined();
  });

  test.each<[string, object, string | undefined]>([
    ['(nothing of) an id of an installation', { token: undefined, fid: 'cIm9Vn2T5kq_rXW8-Zb1aQ' }, undefined],
    ['it next to a token', { fid: 'cIm9Vn2T5kq_rXW8-Zb1aQ' }, 'message'],
    ['a token in its place', { token: undefined, fid: 'cIm9Vn2T5kq_rXW8-Zb1aQ:APA91b' }, 'message.fid'],
    ['no address at all', { token: undefined }, 'message.token'],
    ['an unknown member of apns', { apns: { payload: { aps }, topic: 'x' } }, 'message.apns.topic'],
    [
      'a topic, which is Firebase’s',
      { apns: { headers: { 'apns-topic': 'x' }, payload: { aps } } },
      'message.apns.headers',
    ],
    [
      'a header that is not a text',
      { apns: { headers: { 'apns-priority': 10 }, payload: { aps } } },
      'message.apns.headers',
    ],
    ['a payload without aps', { apns: { payload: { svc: {} } } }, 'message.apns.payload.aps'],
    [
      'a member of aps that there is not',
      { apns: { payload: { aps: { ...aps, colour: 'x' } } } },
      'message.apns.payload',
    ],
    [
      'a background message of high priority',
      {
        apns: {
          headers: { 'apns-push-type': 'background', 'apns-priority': '10' },
          payload: { aps: { 'content-available': 1 } },
        },
      },
      'message.apns.payload',
    ],
    [
      'an image that is not an address',
      { apns: { payload: { aps }, fcm_options: { image: 'x' } } },
      'message.apns.fcm_options.image',
    ],
    [
      'an option of another block',
      { apns: { payload: { aps }, fcm_options: { link: 'https://a.example' } } },
      'message.apns.fcm_options.link',
    ],
    [
      'more than 4096 bytes for Apple',
      { apns: { payload: { aps, svc: { text: 'x'.repeat(4096) } } } },
      'message.apns.payload',
    ],
    ['an unknown member of webpush', { webpush: { body: 'x' } }, 'message.webpush.body'],
    ['an urgency that there is not', { webpush: { headers: { Urgency: 'urgent' } } }, 'message.webpush.headers'],
    ['a topic that is too long', { webpush: { headers: { Topic: 'x'.repeat(33) } } }, 'message.webpush.headers'],
    ['data that are no texts', { webpush: { data: { a: 1 } } }, 'message.webpush.data'],
    ['more than 4096 bytes for a browser', { webpush: { data: { a: 'x'.repeat(4096) } } }, 'message.webpush.data'],
    [
      'a link without TLS',
      { webpush: { fcm_options: { link: 'http://a.example' } } },
      'message.webpush.fcm_options.link',
    ],
    [
      'a payload that our worker would not understand',
      { webpush: { data: { carillon: '{"colour":1}' } } },
      'message.webpush.data',
    ],
  ])('are found in %s', (_name, blocks, field) => {
    expect(violationOf(blocks)).toBe(field);
  });
});

function planned(platform: Platform, more: object = {}) {
  const device = { deviceId: '0', platform, provider: 'fcm', pushId } as const;
  const message = { ...makeMessage(platform, '0'), ...more } as ReturnType<typeof makeMessage>;
  const given = { message, device, credential: { projectId: 'shop', restrictedPackage: 'com.example.shop' } as never };
  const found = planFcmRequest(given, { origin: 'https://fcm.test', now });
  return 'outcome' in found ? found.outcome : JSON.parse(found.plan.body.toString('utf8')).message;
}
