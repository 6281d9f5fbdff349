import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Platform } from '../../../src/domain/content/content.ts';
import { planFcmRequest } from '../../../src/providers/fcm/plan.ts';
import { findFcmViolation } from '../../../src/providers/fcm/simulator-rules.ts';
import { http2Clients, makeMessage, startDeliveryBundle } from './delivery-bundle.ts';

const now = new Date('2026-11-21T12:00:00Z');
const pushId = `firebase-${'f'.repeat(140)}`;

function planned(platform: Platform, more: object = {}) {
  const device = { deviceId: '0', platform, provider: 'fcm', pushId } as const;
  const message = { ...makeMessage(platform, '0'), ...more } as ReturnType<typeof makeMessage>;
  const given = { message, device, credential: { projectId: 'shop', restrictedPackage: 'com.example.shop' } as never };
  const found = planFcmRequest(given, { origin: 'https://fcm.test', now });
  return 'outcome' in found ? found.outcome : JSON.parse(found.plan.body.toString('utf8')).message;
}

describe('what FCM is sent', () => {
  test('for an iPhone it is what Apple would get, without a topic, and nothing of Android', () => {
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

  test('an image is named for the extension of the SDK too', () => {
    const { content } = makeMessage('IOS', '0');
    const image = 'https://shop.example/i.png';
    const withImage = { ...content, richContent: [{ type: 'image', value: image }] };
    expect(planned('IOS', { content: withImage }).apns.fcm_options).toEqual({ image });
    expect(planned('IOS', { content: withImage, isSilent: true }).apns.fcm_options).toBeUndefined();
  });

  test('a silent one is in the background and of low priority', () => {
    const { apns } = planned('IOS', { isSilent: true });
    expect(apns.headers).toMatchObject({ 'apns-push-type': 'background', 'apns-priority': '5' });
    expect(apns.payload.aps).toEqual({ 'content-available': 1 });
  });

  test('for a browser it is our payload whole in one value, with no notification of Firebase and no declaration', () => {
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

  test('what is too large for Apple or for a browser is not sent; for Apple there is space for what Firebase adds', () => {
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

describe.each(http2Clients)('sent by the HTTP/2 of %s', (client) => {
  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  beforeAll(async () => {
    bundle = await startDeliveryBundle(client);
  });
  afterAll(() => bundle.stop());

  test.each(['IOS', 'WEB'] as const)('an app of Firebase on %s shows it and can report it', async (platform) => {
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

  test('where Apple refuses the key of the Firebase project other phones decide, and no other access token is fetched', async () => {
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

describe('the simulator refuses', () => {
  const aps = { alert: { title: 'T', body: 'B' } };
  const violationOf = (blocks: object) => findFcmViolation({ token: 'a-token-of-firebase', ...blocks })?.field;

  test('nothing of whole blocks', () => {
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
    ['it beside a token', { fid: 'cIm9Vn2T5kq_rXW8-Zb1aQ' }, 'message'],
    ['a token in its place', { token: undefined, fid: 'cIm9Vn2T5kq_rXW8-Zb1aQ:APA91b' }, 'message.fid'],
    ['no address at all', { token: undefined }, 'message.token'],
    ['an unknown member of apns', { apns: { payload: { aps }, topic: 'x' } }, 'message.apns.topic'],
    [
      'a topic, which is Firebase’s',
      { apns: { headers: { 'apns-topic': 'x' }, payload: { aps } } },
      'message.apns.headers',
    ],
    [
      'a header that is no text',
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
      'an image that is no address',
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
  ])('%s', (_name, blocks, field) => {
    expect(violationOf(blocks)).toBe(field);
  });
});
