import { describe, expect, test } from 'vitest';
import { compareVariations, leaderOf, learnedShares } from '../../../src/domain/experiments/learning.ts';

const arm = (successes: number, trials: number) => ({ successes, trials });

describe('compared variations', () => {
  test('have a rate with its interval, and are best with the probability that learning would use', () => {
    const arms = [arm(10, 100), arm(0, 20)];
    const shares = learnedShares({ arms, floorPercent: 0, seed: 'a' });
    const compared = compareVariations(arms, 'a');
    expect(compared).toMatchObject([
      { variation: 1, ...arms[0], rate: 0.1, bestPercent: shares[0]! / 100 },
      { variation: 2, ...arms[1], rate: 0, bestPercent: shares[1]! / 100 },
    ]);
    expect(compared.map(({ interval }) => interval!.high.toFixed(4))).toEqual(['0.1744', '0.1611']);
    expect(compared.reduce((sum, { bestPercent }) => sum + bestPercent, 0)).toBeCloseTo(100, 9);
  });

  test('have at least as many trials as successes, even if fewer are known', () => {
    expect(compareVariations([arm(3, 1), arm(0, 0)], 'a')).toMatchObject([
      { successes: 3, trials: 3, rate: 1 },
      { successes: 0, trials: 0, rate: undefined, interval: undefined },
    ]);
  });

  test('are ordered by the probability to be best; equals keep their order', () => {
    expect(leaderOf(compareVariations([arm(1, 1_000), arm(300, 1_000), arm(2, 1_000)], 'a')).variation).toBe(2);
    const [one, other] = compareVariations([arm(5, 10), arm(5, 10)], 'a');
    expect(
      leaderOf([
        { ...one!, bestPercent: 50 },
        { ...other!, bestPercent: 50 },
      ]).variation,
    ).toBe(1);
    expect(
      leaderOf([
        { ...one!, bestPercent: 49 },
        { ...other!, bestPercent: 51 },
      ]).variation,
    ).toBe(2);
  });
});
