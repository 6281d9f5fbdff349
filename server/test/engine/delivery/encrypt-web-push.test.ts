import { createECDH, randomBytes } from 'node:crypto';
import fc from 'fast-check';
import * as ece from 'http_ece';
import { expect, test } from 'vitest';
import type { Message } from '../../../src/domain/content/message.ts';
import { decryptWebPush, makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { encryptWebPush, maxPlainBytes } from '../../../src/providers/webpush/encrypt.ts';
import { planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import { makeMessage } from './delivery-bundle.ts';
import { propertyRuns } from '../../property-runs.ts';
import { anyText } from '../../any-text.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

// Values of RFC 8291 §5 and Appendix A.
const example = {
  plain: 'When I grow up, I want to be a watermelon',
  p256dh: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
  browserPrivateKey: bytes('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94'),
  auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
  salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'),
  senderPrivateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw'),
  message:
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl' +
    '7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
};

test('the example of RFC 8291 §5 comes out byte for byte', () => {
  const message = encryptWebPush(Buffer.from(example.plain), example, example);
  expect(message.toString('base64url')).toBe(example.message);
});

test('the simulated browser reads the example of RFC 8291 §5', () => {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(example.browserPrivateKey);
  expect(ecdh.getPublicKey().equals(example.p256dh)).toBe(true);
  const browser = { ecdh, auth: example.auth };
  expect(decryptWebPush(bytes(example.message), browser).toString()).toBe(example.plain);
  // Any one bit that differs, in the header or in the record, and nothing is read.
  for (const at of [0, 21, 85, 86, bytes(example.message).length - 1]) {
    const changed = bytes(example.message);
    changed[at]! ^= 1;
    expect(() => decryptWebPush(changed, browser)).toThrow();
  }
});

const makeBrowser = () => {
  const ecdh = createECDH('prime256v1');
  ecdh.generateKeys();
  return { ecdh, auth: randomBytes(16) };
};

/** Decrypts with a library that has nothing of ours. */
function decryptElsewhere(message: Buffer, { ecdh, auth }: ReturnType<typeof makeBrowser>): Buffer {
  const authSecret = auth.toString('base64url');
  return ece.decrypt(message, { version: 'aes128gcm', privateKey: ecdh, dh: undefined, authSecret });
}

test('an independent library decrypts texts of any script and length up to the largest', () => {
  const text = fc
    .tuple(anyText({ maxLength: 200 }), fc.nat(4_000))
    .map(([piece, length]) => Buffer.from(piece.padEnd(length, piece || '.')).subarray(0, maxPlainBytes));
  const edges = [0, 1, 15, 16, 17, 3_992, maxPlainBytes].map((length): [Buffer] => [randomBytes(length)]);
  fc.assert(
    fc.property(text, (plain) => {
      const browser = makeBrowser();
      const message = encryptWebPush(plain, { p256dh: browser.ecdh.getPublicKey(), auth: browser.auth });
      expect(message.length).toBe(86 + plain.length + 1 + 16);
      expect(message.length).toBeLessThanOrEqual(4096);
      expect(decryptElsewhere(message, browser).equals(plain)).toBe(true);
      expect(decryptWebPush(message, browser).equals(plain)).toBe(true);
    }),
    { seed: 8291, numRuns: propertyRuns(300), examples: edges },
  );
});

test('a payload of 3,993 bytes goes out as 4,096, and one of 3,994 is refused before it is sent', () => {
  const pushId = makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: 'browser' });
  const plan = (textLength: number) => {
    const message = makeMessage('WEB', '0');
    return planWebPushRequest({
      message: { ...message, content: { ...message.content, message: 'x'.repeat(textLength) } } as Message,
      device: { deviceId: '0', platform: 'WEB', pushId },
      credential: {} as never,
    });
  };
  const bodyLength = (textLength: number): number => {
    const planned = plan(textLength);
    if (!('plan' in planned)) return 0;
    return encryptWebPush(planned.plan.body, planned.plan.encryptFor!).length;
  };
  const longest = 4096 - bodyLength(0);
  expect(bodyLength(longest)).toBe(4096);
  expect(plan(longest + 1)).toEqual({
    outcome: { kind: 'rejected', code: 'MESSAGE_TOO_LARGE', detail: '3994 bytes; Web Push takes 3993' },
  });
});

test('two messages to one browser share neither salt nor key', () => {
  const browser = createECDH('prime256v1');
  const keys = { p256dh: browser.generateKeys(), auth: randomBytes(16) };
  const [first, second] = [encryptWebPush(Buffer.from('x'), keys), encryptWebPush(Buffer.from('x'), keys)];
  expect(first.subarray(0, 16).equals(second.subarray(0, 16))).toBe(false);
  expect(first.subarray(21, 86).equals(second.subarray(21, 86))).toBe(false);
});

test('a key that is no point of the curve is refused', () => {
  expect(() => encryptWebPush(Buffer.from('x'), { p256dh: Buffer.alloc(65, 4), auth: randomBytes(16) })).toThrow();
});
