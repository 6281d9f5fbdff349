import { expect, test } from 'vitest';
import { isId, lastIdAt, makeId, makeIdsInOrder } from '../../src/domain/ids.ts';

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
