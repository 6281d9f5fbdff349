import { expect, test } from 'vitest';
import { makeBucketCounts, minuteOf } from '../../../src/domain/operations/metrics.ts';

test('counts values up to each bound of a histogram, and all of them', () => {
  const counts = makeBucketCounts([1, 5, 10]);
  const none = [1, 5, 10].map((upTo) => ({ upTo, count: 0 }));
  expect(counts.read()).toEqual({ count: 0, sum: 0, buckets: none });
  for (const value of [0, 1, 1.5, 5, 10, 11, 500]) counts.note(value);
  const expected = {
    ...{ count: 7, sum: 528.5 },
    buckets: [
      { upTo: 1, count: 2 },
      { upTo: 5, count: 4 },
      { upTo: 10, count: 5 },
    ],
  };
  expect(counts.read()).toEqual(expected);
  expect(counts.read()).toEqual(expected);
});

test('returns the minute that has started for an instant', () => {
  expect(minuteOf(new Date('2026-03-01T12:34:59.999Z')).toISOString()).toBe('2026-03-01T12:34:00.000Z');
  expect(minuteOf(new Date('2026-03-01T12:35:00.000Z')).toISOString()).toBe('2026-03-01T12:35:00.000Z');
});
