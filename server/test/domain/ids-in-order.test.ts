import { expect, test } from 'vitest';
import { isId, makeId, makeIdsInOrder } from '../../src/domain/ids.ts';

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
