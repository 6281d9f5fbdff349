import { createECDH } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Message } from '../../../../src/domain/content/message.ts';
import type { ProviderOverrides } from '../../../../src/domain/content/content.ts';
import type { WebPushCredential } from '../../../../src/domain/providers/webpush.ts';
import { isCurvePoint, measureWebPushMessage, planWebPushRequest } from '../../../../src/providers/webpush/plan.ts';
import { parseSubscription } from '../../../../src/providers/webpush/encrypt.ts';
import type { BrowserMessage } from '../../../../src/providers/payload/browser.ts';
import { makeMessage } from '../make-message.ts';

// The keys of the example in RFC 8291 §5.
const p256dh = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4';
const auth = 'BTBZMqHH6r4Tts7J_aSIgg';
const subscription = { endpoint: 'https://push.example:8443/x/y?z=1', keys: { p256dh, auth } };

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

describe('a subscription', () => {
  test('has an address and the keys of its browser', () => {
    const read = parseSubscription(JSON.stringify({ ...subscription, expirationTime: null }))!;
    expect(read.endpoint.href).toBe(subscription.endpoint);
    expect(read.keys).toEqual({ p256dh: bytes(p256dh), auth: bytes(auth) });
  });

  test.each<[string, unknown]>([
    ['no JSON', 'x'],
    ['null', null],
    ['no address', { keys: subscription.keys }],
    ['a path as its address', { ...subscription, endpoint: '/x' }],
    ['an address without TLS', { ...subscription, endpoint: 'http://push.example/x' }],
    ['no keys', { endpoint: subscription.endpoint }],
    ['no p256dh', { ...subscription, keys: { auth } }],
    ['no auth', { ...subscription, keys: { p256dh } }],
    [
      'a p256dh one byte short',
      { ...subscription, keys: { p256dh: bytes(p256dh).subarray(0, 64).toString('base64url'), auth } },
    ],
    [
      'a p256dh in another form',
      {
        ...subscription,
        keys: { p256dh: Buffer.concat([Buffer.from([6]), bytes(p256dh).subarray(1)]).toString('base64url'), auth },
      },
    ],
    ['an auth one byte long', { ...subscription, keys: { p256dh, auth: Buffer.alloc(17).toString('base64url') } }],
  ])('%s is none', (_what, given) => {
    expect(parseSubscription(given === 'x' ? 'x' : JSON.stringify(given))).toBeUndefined();
  });
});

describe('a point of P-256', () => {
  test('is every key that a browser makes', () => {
    for (let count = 0; count < 5; count += 1) expect(isCurvePoint(createECDH('prime256v1').generateKeys())).toBe(true);
    expect(isCurvePoint(bytes(p256dh))).toBe(true);
  });

  test.each<[string, (good: Buffer) => Buffer]>([
    ['a byte of x changed', (good) => good.fill(good[1]! ^ 1, 1, 2)],
    ['a byte of y changed', (good) => good.fill(good[64]! ^ 1, 64)],
    ['one byte short', (good) => good.subarray(0, 64)],
    ['one byte long', (good) => Buffer.concat([good, Buffer.alloc(1)])],
    ['in another form', (good) => good.fill(6, 0, 1)],
    ['compressed', (good) => Buffer.concat([Buffer.from([2]), good.subarray(1, 33)])],
    ['zeros', () => Buffer.concat([Buffer.from([4]), Buffer.alloc(64)])],
    ['of another curve', () => createECDH('secp256k1').generateKeys()],
  ])('is not: %s', (_what, change) => {
    expect(isCurvePoint(change(bytes(p256dh)))).toBe(false);
  });

  test('has coordinates below the prime of the field, of which a number beyond it is the same', () => {
    // (0, √b) is on the curve; so would be (p, √b), were p taken for 0 (RFC 8291 §7).
    const y = '66485c780e2f83d72433bd5d84a06bb6541c2af31dae871728bf856a174f93f4';
    const prime = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff';
    const point = (x: string): Buffer => Buffer.from(`04${x}${y}`, 'hex');
    expect(isCurvePoint(point('0'.repeat(64)))).toBe(true);
    expect(isCurvePoint(point(prime))).toBe(false);
  });
});

describe('the request', () => {
  const message = makeMessage('WEB', '0');
  const plan = (given: { content?: object; pushId?: string; message?: Message } = {}) =>
    planWebPushRequest({
      message: given.message ?? ({ ...message, content: { ...message.content, ...given.content } } as BrowserMessage),
      device: { deviceId: '0', platform: 'WEB', pushId: given.pushId ?? JSON.stringify(subscription) },
      credential: {} as WebPushCredential,
    });
  const withOverride = (webpush: ProviderOverrides['webpush']) => plan({ content: { overrides: { webpush } } });

  test('has what RFC 8030 §5 asks for, goes to the whole address, and is still to be encrypted for its keys', () => {
    const planned = plan();
    if ('outcome' in planned) throw new Error('no plan');
    const { body, ...rest } = planned.plan;
    expect(rest).toEqual({
      origin: 'https://push.example:8443',
      path: '/x/y?z=1',
      headers: {
        'content-type': 'application/octet-stream',
        'content-encoding': 'aes128gcm',
        ttl: '129600',
        urgency: 'normal',
        topic: message.identity.collapseId,
      },
      encryptFor: { p256dh: bytes(p256dh), auth: bytes(auth) },
    });
    expect(JSON.parse(body.toString())).toMatchObject({ title: 'Title', message: 'Text' });
  });

  test('to a subscription that no browser made is dead', () => {
    const gone = { outcome: { kind: 'gone', code: 'INVALID_SUBSCRIPTION' } };
    expect(plan({ pushId: '{}' })).toEqual(gone);
    const noPoint = Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]).toString('base64url');
    expect(plan({ pushId: JSON.stringify({ ...subscription, keys: { p256dh: noPoint, auth } }) })).toEqual(gone);
  });

  test('has 3993 bytes at most before it is encrypted (RFC 8291 §4)', () => {
    const measured = (length: number) =>
      measureWebPushMessage({ ...message, content: { ...message.content, message: 'x'.repeat(length) } });
    const most = 3993 - measured(0).bytes;
    expect(measured(most)).toEqual({ bytes: 3993, most: 3993, maxEverywhere: 2967 });
    expect(plan({ content: { message: 'x'.repeat(most) } })).toHaveProperty('plan');
    expect(plan({ content: { message: 'x'.repeat(most + 1) } })).toEqual({
      outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail: '3994 bytes; Web Push takes 3993' },
    });
  });

  test('with headers of the override, or without those that it takes away', () => {
    expect(withOverride({ headers: { ttl: '7', topic: null } })).toHaveProperty('plan.headers', {
      'content-type': 'application/octet-stream',
      'content-encoding': 'aes128gcm',
      ttl: '7',
      urgency: 'normal',
    });
  });

  describe('to Windows, which takes a TTL of 0 only beside its own header', () => {
    const at = (endpoint: string) => JSON.stringify({ ...subscription, endpoint });
    const windows = at('https://wns2-par02p.notify.windows.com/w/?token=x');
    const unkept = { ...message, ttlSeconds: 0 };
    const headersOf = (given: Parameters<typeof plan>[0]) => {
      const planned = plan(given);
      if ('outcome' in planned) throw new Error('no plan');
      return planned.plan.headers;
    };

    test('has that header with a TTL of 0', () => {
      expect(headersOf({ pushId: windows, message: unkept })).toMatchObject({
        ...{ ttl: '0', 'x-wns-cache-policy': 'no-cache' },
      });
      const overrides = { webpush: { headers: { ttl: '0' } } };
      expect(headersOf({ pushId: windows, content: { overrides } })).toHaveProperty('x-wns-cache-policy', 'no-cache');
    });

    test('has it with no other TTL, and nobody else gets it', () => {
      const overrides = { webpush: { headers: { ttl: '60' } } };
      const kept = { ...unkept, content: { ...message.content, overrides } } as Message;
      for (const given of [
        { pushId: windows },
        { pushId: windows, message: kept },
        { message: unkept },
        { pushId: at('https://notify.windows.com.example.net/x'), message: unkept },
        { pushId: at('https://xnotify.windows.com/x'), message: unkept },
      ])
        expect(headersOf(given)).not.toHaveProperty('x-wns-cache-policy');
    });
  });

  test('that the override spoils is not sent', () => {
    const rejected = (detail: string) => ({ outcome: { kind: 'rejected', code: 'OVERRIDE_INVALID', detail } });
    expect(withOverride({ headers: { ttl: 'soon' } })).toEqual(rejected('ttl must be a number of seconds'));
    expect(withOverride({ payload: { title: ' ' } })).toEqual(rejected('the title is no text'));
    const content = { ...message.content, overrides: { webpush: { payload: { title: ' ' } } } };
    expect(measureWebPushMessage({ ...message, content })).toMatchObject({ bytes: 0, most: 3993 });
  });

  test('is for browsers alone', () => {
    expect(() => plan({ message: makeMessage('IOS', '0') })).toThrow('Web Push serves browsers, not IOS');
  });
});
