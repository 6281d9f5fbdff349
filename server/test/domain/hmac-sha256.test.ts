import fc from 'fast-check';
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { hmacSha256, KeyedHmacSha256, messageStart } from '../../src/domain/crypto/hmac-sha256.ts';
import { propertyRuns } from '../property-runs.ts';

// RFC 4231 §4.2 to §4.7.
test.each([
  ['0b'.repeat(20), '4869205468657265', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
  [
    '4a656665',
    '7768617420646f2079612077616e7420666f72206e6f7468696e673f',
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  ],
  ['aa'.repeat(20), 'dd'.repeat(50), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
  [
    'aa'.repeat(131),
    Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First').toString('hex'),
    '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
  ],
])('matches RFC 4231: key %s', (key, data, expected) =>
  expect(hmacSha256(Buffer.from(key, 'hex'), Buffer.from(data, 'hex')).toString('hex')).toBe(expected),
);

test('equals the platform’s result for any key and parts (property)', () => {
  const bytes = fc.uint8Array({ maxLength: 200 });
  fc.assert(
    fc.property(bytes, fc.array(bytes, { maxLength: 4 }), (key, parts) => {
      const expected = createHmac('sha256', key).update(Buffer.concat(parts)).digest();
      expect(hmacSha256(key, ...parts)).toEqual(expected);
    }),
    { numRuns: propertyRuns(100) },
  );
});

test('hashes a longer message completely under one key, and a short one after it', () => {
  const key = Buffer.alloc(64, 0xaa);
  const keyed = new KeyedHmacSha256(key);
  for (const length of [0, 256, 257, 100, 3_000, 3_000, 1]) {
    const message = Buffer.alloc(length, length % 251);
    const place = keyed.reserve(length);
    place.set(message, messageStart);
    expect(keyed.reserve(length)).toBe(place);
    const digest = Buffer.from(keyed.digest(messageStart + length), 'latin1');
    expect(digest).toEqual(createHmac('sha256', key).update(message).digest());
    expect(hmacSha256(key, message)).toEqual(digest);
  }
});

test('ignores a reserved but unused place for later messages under one key', () => {
  const keyed = new KeyedHmacSha256(Buffer.of(1));
  const digestOf = (text: string) => {
    keyed.reserve(text.length).write(text, messageStart);
    return Buffer.from(keyed.digest(messageStart + text.length), 'latin1').toString('hex');
  };
  const expected = (text: string) => createHmac('sha256', Buffer.of(1)).update(text).digest('hex');
  expect(digestOf('first')).toBe(expected('first'));
  keyed.reserve(3_000);
  expect(digestOf('other')).toBe(expected('other'));
});

test('is the same under one key for messages of any length, one after another (property)', () => {
  const bytes = fc.uint8Array({ maxLength: 400 });
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(bytes, { maxLength: 6 }), (key, messages) => {
      const keyed = new KeyedHmacSha256(key);
      for (const message of messages) {
        keyed.reserve(message.length).set(message, messageStart);
        const digest = Buffer.from(keyed.digest(messageStart + message.length), 'latin1');
        expect(digest).toEqual(hmacSha256(key, message));
      }
    }),
    { numRuns: propertyRuns(100) },
  );
});
