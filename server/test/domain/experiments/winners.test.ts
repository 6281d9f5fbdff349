import { expect, test } from 'vitest';
import { addWinnerStep, sharesOfWinner, winnerInBucket } from '../../../src/domain/experiments/learning.ts';

test('applies each choice of a winner after its bucket, and withdraws choices that have not started', () => {
  const first = addWinnerStep([], { after: 10, variation: 2 });
  const second = addWinnerStep(first, { after: 20, variation: 3 });
  const chunk = (steps: typeof first) => [{ bucketFrom: 0, bucketTo: 63, steps }];
  expect([5, 10, 11, 20, 21, 63, 64].map((bucket) => winnerInBucket(chunk(second), bucket))).toEqual([
    null,
    null,
    2,
    2,
    3,
    3,
    null,
  ]);
  const takenBack = addWinnerStep(second, { after: 20, variation: null });
  expect([15, 21].map((bucket) => winnerInBucket(chunk(takenBack), bucket))).toEqual([2, null]);
  expect(addWinnerStep(first, { after: 10, variation: 1 })).toEqual([{ after: 10, variation: 1 }]);
});

test('derives the winner of each bucket from its chunk', () => {
  const chunks = [
    { bucketFrom: 0, bucketTo: 63, steps: [{ after: -1, variation: 1 }] },
    { bucketFrom: 64, bucketTo: 127, steps: [{ after: -1, variation: 2 }] },
  ];
  expect([0, 63, 64, 127, 128].map((bucket) => winnerInBucket(chunks, bucket))).toEqual([1, 1, 2, 2, null]);
  expect([0, 64].map((bucket) => winnerInBucket(chunks.toReversed(), bucket))).toEqual([1, 2]);
  expect(winnerInBucket([{ bucketFrom: 0, bucketTo: 63, steps: [] }], 5)).toBeNull();
});

test('gives a winner all shares', () => {
  const percents = [50, 30, 20];
  expect([1, 3].map((winner) => sharesOfWinner(percents, winner))).toEqual([
    [100, 0, 0],
    [0, 0, 100],
  ]);
  const kept = sharesOfWinner(percents, null);
  expect(kept).toEqual(percents);
  expect(kept).not.toBe(percents);
});
