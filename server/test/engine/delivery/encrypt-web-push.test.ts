import { createECDH, randomBytes } from 'node:crypto';
import * as ece from 'http_ece';
import { expect, test } from 'vitest';
import { encryptWebPush, mostPlainBytes } from '../../../src/engine/delivery/webpush/encrypt-web-push.ts';

const bytes = (text: string): Buffer => Buffer.from(text, 'base64url');

test('the example of RFC 8291 section 5 comes out byte for byte', () => {
  // Values of RFC 8291 §5 and Appendix A.
  const message = encryptWebPush(
    Buffer.from('When I grow up, I want to be a watermelon'),
    {
      p256dh: bytes('BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'),
      auth: bytes('BTBZMqHH6r4Tts7J_aSIgg'),
    },
    { salt: bytes('DGv6ra1nlYgDCS1FRnbzlw'), senderPrivateKey: bytes('yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw') },
  );
  expect(message.toString('base64url')).toBe(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl' +
      '7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
  );
});

test('an independent library decrypts messages of every length up to the largest', () => {
  for (const length of [0, 1, 100, mostPlainBytes]) {
    const browser = createECDH('prime256v1');
    browser.generateKeys();
    const auth = randomBytes(16);
    const plain = randomBytes(length);
    const message = encryptWebPush(plain, { p256dh: browser.getPublicKey(), auth });
    expect(message.length).toBe(86 + length + 1 + 16);
    const decrypted = ece.decrypt(message, {
      version: 'aes128gcm',
      privateKey: browser,
      dh: undefined,
      authSecret: auth.toString('base64url'),
    });
    expect(decrypted.equals(plain)).toBe(true);
  }
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
