import { expect, test } from 'vitest';
import { packMessageId, packMessageIdAsHex, unpackMessageId } from '../../src/domain/ids.ts';

// FCM's names: Firebase's reference of projects.messages; APNs': RFC 4122 in upper case, as its answers have them.
const ids: [what: string, id: string, shown: string, bytes: number][] = [
  [
    'a message of FCM',
    'projects/demo/messages/0:1500415314455276%31bd1c9631bd1c96',
    '0:1500415314455276%31bd1c9631bd1c96',
    17,
  ],
  ['the greatest number it may have', 'projects/p/messages/0:9999999999999999999%aa', '0:9999999999999999999%aa', 10],
  [
    'one of FCM for the web',
    'projects/p/messages/7f6c1f2e-aaaa-4bbb-8ccc-0123456789ab',
    '7f6c1f2e-aaaa-4bbb-8ccc-0123456789ab',
    17,
  ],
  ['an apns-id', 'EABEAE54-14A8-11E5-B60B-1697F925EC7B', 'EABEAE54-14A8-11E5-B60B-1697F925EC7B', 17],
  ['one in small letters', 'eabeae54-14a8-11e5-b60b-1697f925ec7b', 'eabeae54-14a8-11e5-b60b-1697f925ec7b', 17],
  ['digits alone', '12345678-1234-1234-1234-123456789012', '12345678-1234-1234-1234-123456789012', 17],
  ['mixed letters', 'eABEAE54-14a8-11e5-b60b-1697f925ec7b', 'eABEAE54-14a8-11e5-b60b-1697f925ec7b', 37],
  ['hexadecimal', '019ca9450a00389dc9cf0434', '019ca9450a00389dc9cf0434', 13],
  ['an address of a push service', 'https://push.example/m/é', 'https://push.example/m/é', 26],
  ['nothing', '', '', 1],
  ['a number with a zero before it', '0:01%aa', '0:01%aa', 8],
  ['an odd count of digits', '0:1%abc', '0:1%abc', 8],
];

test.each(ids)('packs %s, and unpacks it as shown', (_what, ...[id, shown, bytes]) => {
  const packed = packMessageId(id);
  expect(unpackMessageId(packed)).toBe(shown);
  expect(packed.length).toBe(bytes);
});

test('unpacks every id unchanged, whatever its form', () => {
  const parts = ['0:', '1', '00', '%', 'ab', 'AB', '-', '/', 'é', '\n', '18446744073709551616', 'projects'];
  for (const one of parts)
    for (const two of parts)
      for (const three of parts)
        for (const id of [one, one + two, one + two + three]) expect(unpackMessageId(packMessageId(id))).toBe(id);
});

test.each([
  ['projects/p/messages/', 21],
  ['projects//messages/0:1%aa', 26],
  ['projects/p/message/0:1%aa', 26],
  ['projects', 9],
  ['project/p/messages/0:1%aa', 26],
  ['x/p/messages/0:1%aa', 20],
  ['somebodys/p/messages/0:1%aa', 28],
])('keeps %s, which is not an FCM name', (id, bytes) => {
  const packed = packMessageId(id);
  expect([unpackMessageId(packed), packed.length]).toEqual([id, bytes]);
});

test.each([
  // Up to fifteen digits, and beyond: as a number of JavaScript, and as one of any size.
  ['0:999999999999999%aa', '0200038d7ea4c67fffaa'],
  ['0:1000000000000000%aa', '0200038d7ea4c68000aa'],
  ['0:0%00', '02000000000000000000'],
])('packs %s as %s', (id, hex) => {
  expect(packMessageIdAsHex(id)).toBe(hex);
});

test('rejects bytes that contain no id', () => {
  expect(() => unpackMessageId(Buffer.of(9, 1))).toThrow(new RangeError('no message id: 0901'));
  expect(() => unpackMessageId(Buffer.alloc(0))).toThrow(RangeError);
});
