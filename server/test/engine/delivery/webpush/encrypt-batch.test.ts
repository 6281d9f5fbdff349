import { createECDH, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { decryptWebPush } from '../../../../src/providers/webpush/simulated-browser.ts';
import { encryptBatch, packMessages, unpackResults } from '../../../../src/providers/webpush/encrypt.ts';
import type { PlainMessage } from '../../../../src/providers/webpush/encrypt.ts';

const browsers = Array.from({ length: 4 }, () => {
  const ecdh = createECDH('prime256v1');
  return { ecdh, auth: randomBytes(16), p256dh: ecdh.generateKeys() };
});
// Around the lengths at which one byte of the length is not enough, and the longest (RFC 8291 §4).
const lengths = [0, 1, 255, 256, 257, 3993];
const messages: PlainMessage[] = lengths.map((length, number) => {
  const { p256dh, auth } = browsers[number % browsers.length]!;
  return { plain: Buffer.alloc(length, number + 1), keys: { p256dh, auth } };
});

const encrypt = (given: readonly PlainMessage[]) => unpackResults(encryptBatch(packMessages(given)), given);

test('every message of a batch is read by its own browser, and is as long as RFC 8188 §2 says', () => {
  for (const [number, encrypted] of encrypt(messages).entries()) {
    expect(encrypted).toHaveLength(lengths[number]! + 103);
    const { ecdh, auth } = browsers[number % browsers.length]!;
    expect(decryptWebPush(encrypted!, { ecdh, auth }).equals(messages[number]!.plain)).toBe(true);
  }
});

test('a key that is no point leaves out its message alone, wherever it stands', () => {
  const bad = { p256dh: Buffer.concat([Buffer.from([4]), Buffer.alloc(64, 1)]), auth: randomBytes(16) };
  for (const place of messages.keys()) {
    const given = messages.map((message, number) => (number === place ? { ...message, keys: bad } : message));
    expect(encrypt(given).map((encrypted) => encrypted === undefined)).toEqual(
      messages.map((_message, number) => number === place),
    );
  }
});

test('a batch is one piece of memory, which begins anywhere in its own', () => {
  const packed = packMessages(messages);
  expect(packed).toHaveLength(lengths.reduce((sum, length) => sum + length + 2 + 65 + 16, 0));
  const within = new Uint8Array(packed.length + 7);
  within.set(packed, 7);
  const results = encryptBatch(within.subarray(7));
  const moved = new Uint8Array(results.length + 5);
  moved.set(results, 5);
  const [, , , , , longest] = unpackResults(moved.subarray(5), messages);
  const { ecdh, auth } = browsers[5 % browsers.length]!;
  expect(decryptWebPush(longest!, { ecdh, auth }).equals(messages[5]!.plain)).toBe(true);
});

test('an empty batch has no results', () => {
  expect(encrypt([])).toEqual([]);
});
