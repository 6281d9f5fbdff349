import { describe, expect, test } from 'vitest';
import { drawBeta, makeUniform, learnedShares, shareUnits } from '../../src/domain/experiments/learning.ts';
import { makeVariationOf } from '../../src/domain/experiments/variants.ts';

const isFull = process.env.FULL === '1';
const uniformOf = (seed: number) => makeUniform(Buffer.from(seed.toString(16).padStart(32, '5'), 'hex'));

describe('draws from a seed', () => {
  test('are the same for the same seed, and even', () => {
    const [one, same, other] = [uniformOf(1), uniformOf(1), uniformOf(2)];
    const drawn = Array.from({ length: 20_000 }, one);
    expect(drawn.slice(0, 50)).toEqual(Array.from({ length: 50 }, same));
    expect(drawn[0]).not.toBe(other());
    const tenths = new Array<number>(10).fill(0);
    for (const value of drawn) tenths[Math.floor(value * 10)]! += 1;
    for (const count of tenths) expect(Math.abs(count / drawn.length - 0.1)).toBeLessThan(0.01);
  });

  test.each([
    [1, 1],
    [3, 97],
    [51, 951],
  ])('of a beta distribution (%i, %i) have its mean and its variance', (alpha, beta) => {
    const uniform = uniformOf(7);
    const drawn = Array.from({ length: 20_000 }, () => drawBeta(uniform, { alpha, beta }));
    const mean = drawn.reduce((sum, value) => sum + value, 0) / drawn.length;
    const variance = drawn.reduce((sum, value) => sum + (value - mean) ** 2, 0) / drawn.length;
    const [wanted, spread] = [alpha / (alpha + beta), (alpha * beta) / ((alpha + beta) ** 2 * (alpha + beta + 1))];
    expect(Math.abs(mean / wanted - 1)).toBeLessThan(0.02);
    expect(Math.abs(variance / spread - 1)).toBeLessThan(0.06);
  });
});

describe('learned shares', () => {
  const arms = (...known: [successes: number, trials: number][]) =>
    known.map(([successes, trials]) => ({ successes, trials }));

  test('are whole, even before anything is known, and the same for the same seed', () => {
    const asked = { arms: arms([0, 0], [0, 0], [0, 0]), floorPercent: 5, seed: 'a' };
    const shares = learnedShares(asked);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(shareUnits);
    for (const share of shares) expect(Math.abs(share / shareUnits - 1 / 3)).toBeLessThan(0.06);
    expect(learnedShares(asked)).toEqual(shares);
    expect(learnedShares({ ...asked, seed: 'b' })).not.toEqual(shares);
  });

  test('give the best nearly all, and each other the floor', () => {
    const known = arms([200, 10_000], [300, 10_000], [500, 10_000]);
    expect(learnedShares({ arms: known, floorPercent: 5, seed: 'a' })).toEqual([500, 500, 9_000]);
    expect(learnedShares({ arms: known, floorPercent: 0, seed: 'a' })).toEqual([0, 0, 10_000]);
    // Of as many as there can be, all at the floor.
    const nine = learnedShares({ arms: Array.from({ length: 9 }, () => known[0]!), floorPercent: 11, seed: 'a' });
    expect(Math.min(...nine)).toBeGreaterThanOrEqual(1_100);
  });

  test('hold for successes that are known before their trials', () => {
    const shares = learnedShares({ arms: arms([3, 0], [0, 3]), floorPercent: 10, seed: 'a' });
    expect(shares[0]).toBeGreaterThan(8_000);
  });

  const rates = [0.02, 0.03, 0.05];
  const sends = 50_000;

  /** A campaign over 256 buckets, four of which are on their way at once; users click when their bucket is over. */
  function simulate(seed: number): { best: number; regret: number } {
    const uniform = uniformOf(seed);
    const known = rates.map(() => ({ successes: 0, trials: 0 }));
    const late: (typeof known)[] = [];
    const got = [0, 0, 0];
    for (let bucket = 0; bucket < 256; bucket += 1) {
      const shares = learnedShares({ arms: known, floorPercent: 5, seed: `${seed} ${bucket}` });
      const variationOf = makeVariationOf(shares, `campaign ${seed}`);
      const own = rates.map(() => ({ successes: 0, trials: 0 }));
      const first = Math.floor((bucket * sends) / 256);
      for (let user = first; user < Math.floor(((bucket + 1) * sends) / 256); user += 1) {
        const arm = variationOf(String(user)) - 1;
        got[arm]! += 1;
        own[arm]!.trials += 1;
        if (uniform() < rates[arm]!) own[arm]!.successes += 1;
      }
      late.push(own);
      if (late.length < 4) continue;
      late.shift()!.forEach(({ successes, trials }, arm) => {
        known[arm]!.successes += successes;
        known[arm]!.trials += trials;
      });
    }
    const regret = got.reduce((sum, count, arm) => sum + count * (Math.max(...rates) - rates[arm]!), 0);
    return { best: got[2]! / sends, regret };
  }

  const seeds = isFull ? 100 : 2;
  test(`send the best of 2, 3 and 5 % to more than 60 % of 50,000, in 95 of 100 seeds (${seeds} here)`, () => {
    const runs = Array.from({ length: seeds }, (_, seed) => simulate(seed + 1));
    const good = runs.filter(({ best }) => best > 0.6).length;
    const mean = (name: 'best' | 'regret') => runs.reduce((sum, run) => sum + run[name], 0) / seeds;
    expect(good).toBeGreaterThanOrEqual(0.95 * seeds);
    // Even shares would lose 833 clicks of the 2,500 that the best could have had.
    expect(mean('regret')).toBeLessThan(400);
    if (!isFull) return;
    // As docs/experiments.md says.
    expect([good, Math.round(mean('regret')), Math.round(mean('best') * 1_000)]).toEqual([100, 148, 880]);
  }, 300_000);
});
