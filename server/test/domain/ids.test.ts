import { describe, expect, test } from 'vitest';
import {
  isId,
  lastIdAt,
  makeId,
  makeIdsInOrder,
  packMessageId,
  packMessageIdAsHex,
  unpackMessageId,
} from '../../src/domain/ids.ts';

describe('ids', () => {
  const at = new Date(0x18_7a_b3_c4_d5_e6);

  test('makes an id of the time in milliseconds and six random bytes, in hexadecimal (decision D40)', () => {
    expect(makeId(at, Uint8Array.of(0, 1, 2, 254, 255, 16, 99))).toBe('187ab3c4d5e6000102feff10');
    expect(makeId(new Date(1), Buffer.alloc(6))).toBe(`${'1'.padStart(12, '0')}${'0'.repeat(12)}`);
    const [one, two] = [makeId(at), makeId(at)];
    expect([isId(one), one.slice(0, 12), one === two]).toEqual([true, '187ab3c4d5e6', false]);
  });

  test('orders the last id of an instant after all its ids, and before those of the next', () => {
    expect(lastIdAt(at)).toBe('187ab3c4d5e6ffffffffffff');
    expect(lastIdAt(new Date(1))).toBe('000000000001ffffffffffff');
    expect(makeId(new Date(at.getTime() + 1), Buffer.alloc(6)) > lastIdAt(at)).toBe(true);
  });

  test('accepts 24 lower-case hexadecimal characters as an id', () => {
    for (const id of ['0'.repeat(24), 'abcdef0123456789abcdef01']) expect(isId(id)).toBe(true);
    for (const id of [
      '0'.repeat(23),
      '0'.repeat(25),
      'A'.repeat(24),
      `${'0'.repeat(23)}g`,
      ` ${'0'.repeat(24)}`,
      `${'0'.repeat(24)}\n`,
    ])
      expect(isId(id)).toBe(false);
  });

  test('counts up within a millisecond, and draws again in the next, below the reserved half', () => {
    let now = at;
    const next = makeIdsInOrder(() => now);
    const [first, second] = [next(), next()];
    expect(Number.parseInt(second.slice(12), 16) - Number.parseInt(first.slice(12), 16)).toBe(1);
    now = new Date(at.getTime() + 1);
    const drawn = Array.from({ length: 20 }, () => {
      now = new Date(now.getTime() + 1);
      return next().slice(12);
    });
    expect(drawn.every((tail) => tail < '800000000000')).toBe(true);
    const steps = drawn.slice(1).map((tail, index) => Number.parseInt(tail, 16) - Number.parseInt(drawn[index]!, 16));
    expect(steps).not.toContain(0);
    expect(steps).not.toContain(1);
  });

  test('continues after the last id, whenever that was made', () => {
    const last = '187ab3c4d5e700000000000f';
    expect(makeIdsInOrder(() => at, last)()).toBe('187ab3c4d5e7000000000010');
    expect(makeIdsInOrder(() => new Date(at.getTime() + 2), last)().slice(0, 12)).toBe('187ab3c4d5e8');
  });
});

describe('ids in order', () => {
  test('increases ids within a millisecond, over thousands, and when the clock goes back', () => {
    let milliseconds = Date.UTC(2026, 10, 23);
    const next = makeIdsInOrder(() => new Date(milliseconds));
    const ids: string[] = [];
    for (const move of [0, 1, -86_400_000, 0, 86_400_001, 5]) {
      milliseconds += move;
      for (let count = 0; count < 2_000; count += 1) ids.push(next());
    }
    expect(ids.every(isId)).toBe(true);
    expect(ids.every((id, index) => index === 0 || id > ids[index - 1]!)).toBe(true);
  });

  test('continues after an id of a clock that was ahead', () => {
    const now = new Date(Date.UTC(2026, 10, 23));
    const ahead = `${makeId(new Date(now.getTime() + 86_400_000)).slice(0, 12)}7fffffffffff`;
    const next = makeIdsInOrder(() => now, ahead);
    const [first, second] = [next(), next()];
    expect([ahead < first, first < second, isId(second)]).toEqual([true, true, true]);
  });
});

describe('message ids', () => {
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
});
