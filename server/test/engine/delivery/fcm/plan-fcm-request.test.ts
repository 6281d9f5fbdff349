import { describe, expect, test } from 'vitest';
import type { Message } from '../../../../src/domain/content/message.ts';
import type { FcmCredential } from '../../../../src/domain/providers/fcm.ts';
import type { JsonObject } from '../../../../src/domain/content/content.ts';
import { measureFcmMessage, planFcmRequest } from '../../../../src/providers/fcm/plan.ts';
import type { AndroidMessage } from '../../../../src/providers/payload/android.ts';
import { makeMessage } from '../make-message.ts';

const now = new Date('2026-11-21T12:00:00Z');
const origin = 'https://fcm.googleapis.com';
const credential = { projectId: 'shop/17' } as FcmCredential;

type Members = Record<string, any>;
type Given = { content?: object; message?: object; credential?: object; device?: object };

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

describe('the request', () => {
  test('goes to the messages of the project, as JSON (delivery 1)', () => {
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

  test('names the package of an app that has one, beside what else is said to Android', () => {
    const { android } = bodyOf('ANDROID', { credential: { restrictedPackage: 'shop.app' } });
    expect(android).toMatchObject({ restricted_package_name: 'shop.app', priority: 'HIGH' });
    expect(bodyOf('ANDROID').android).not.toHaveProperty('restricted_package_name');
  });
});

describe('an override of Android', () => {
  const planWith = (fcm: JsonObject, more: Given = {}) =>
    plan('ANDROID', { ...more, content: { ...more.content, overrides: { fcm } } });

  test.each<[JsonObject, string]>([
    [{ android: 'x' }, 'android is no object'],
    [{ android: { notification: 'x' } }, 'android.notification is no object'],
    [{ data: 'x' }, 'data is no object'],
    [{ data: { shelf: 17 } }, 'data.shelf is no text'],
    [{ data: { svc_tag: 'x' } }, 'data.svc_tag cannot be set'],
    [{ data: { push_from: 'x' } }, 'data.push_from cannot be set'],
  ])('%j is no request', (fcm, detail) => {
    expect(planWith(fcm)).toEqual({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
  });

  test('a key of ours by the prefix that the message has is refused, and by another taken', () => {
    const message = { payload: { mode: 'both', pushFrom: 'carillon', dataPrefix: 'acme' } };
    expect(planWith({ data: { acme_x: '1' } }, { message })).toMatchObject({ outcome: { kind: 'rejected' } });
    expect(planWith({ data: { svc_x: '1' } }, { message })).toHaveProperty('plan');
  });

  test('may take data, android or the notification away', () => {
    const withPatch = (fcm: JsonObject) => bodyOf('ANDROID', { content: { overrides: { fcm } } });
    expect(withPatch({ data: null })).not.toHaveProperty('data');
    expect(withPatch({ android: null })).not.toHaveProperty('android');
    expect(withPatch({ android: { notification: null } }).android).not.toHaveProperty('notification');
  });

  test('counts for the size', () => {
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

test('keys and values of notification and data are 4096 bytes at most (delivery 1)', () => {
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

describe('to an iPhone whose app uses Firebase', () => {
  const image = { type: 'image', value: 'https://shop.example/i.png' };

  test('Firebase is handed what Apple would be sent, and no topic', () => {
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
  ])('the image that the SDK’s own extension shows: %s', (...[, richContent, isSilent, shown]) => {
    const { apns } = bodyOf('IOS', { content: { richContent }, message: { isSilent } });
    expect(apns.fcm_options).toEqual(shown === undefined ? undefined : { image: shown });
  });

  test('headers of the override are set or taken away, but for the topic, which is Firebase’s', () => {
    const overrides = { apns: { headers: { 'apns-priority': '1', 'apns-collapse-id': null } } };
    const { apns } = bodyOf('IOS', { content: { overrides } });
    expect(apns.headers).toMatchObject({ 'apns-priority': '1' });
    expect(apns.headers).not.toHaveProperty('apns-collapse-id');
    expect(plan('IOS', { content: { overrides: { apns: { headers: { 'apns-topic': '.voip' } } } } })).toMatchObject({
      outcome: { code: 'OVERRIDE_INVALID', detail: 'apns-topic is Firebase’s to name' },
    });
    expect(plan('IOS', { content: { overrides: { apns: { payload: { aps: null } } } } })).toMatchObject({
      outcome: { code: 'OVERRIDE_INVALID', detail: 'aps is no object' },
    });
  });

  test('the payload is 3896 bytes at most, as Firebase adds to the 4096 that Apple takes', () => {
    const payloadBytes = (length: number) =>
      Buffer.byteLength(JSON.stringify(bodyOf('IOS', { content: { message: 'x'.repeat(length) } }).apns.payload));
    const most = 3896 - payloadBytes(0);
    expect(payloadBytes(most)).toBe(3896);
    expect(plan('IOS', { content: { message: 'x'.repeat(most + 1) } })).toMatchObject({
      outcome: { code: 'MESSAGE_TOO_LARGE', detail: '3897 bytes of keys and values; FCM takes 3896' },
    });
  });
});

describe('to a browser whose site uses Firebase', () => {
  test('the worker gets the whole payload as one text, and the headers are named as Firebase names them', () => {
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

  test('headers of the override are set or taken away, and what cannot be sent is no request', () => {
    const { webpush } = bodyOf('WEB', { content: { overrides: { webpush: { headers: { ttl: '7', topic: null } } } } });
    expect(webpush.headers).toEqual({ TTL: '7', Urgency: 'normal' });
    expect(plan('WEB', { content: { overrides: { webpush: { headers: { urgency: 'now' } } } } })).toMatchObject({
      outcome: { detail: 'urgency must be one of very-low, low, normal, high' },
    });
    expect(plan('WEB', { content: { overrides: { webpush: { payload: { title: '' } } } } })).toEqual({
      outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail: 'the title is no text' },
    });
  });

  test('name and text of the data are 4096 bytes at most', () => {
    const textBytes = (length: number) =>
      Buffer.byteLength(bodyOf('WEB', { content: { message: 'x'.repeat(length) } }).webpush.data.carillon);
    const most = 4096 - 'carillon'.length - textBytes(0);
    expect(textBytes(most)).toBe(4088);
    expect(plan('WEB', { content: { message: 'x'.repeat(most + 1) } })).toMatchObject({
      outcome: { code: 'MESSAGE_TOO_LARGE', detail: '4097 bytes of keys and values; FCM takes 4096' },
    });
  });
});
