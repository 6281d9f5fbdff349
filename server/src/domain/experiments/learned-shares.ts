import { hash } from 'node:crypto';
import type { Trials } from './intervals.ts';
import { drawBeta, makeUniform } from './random-beta.ts';

/** Shares of learned variations are whole numbers, together so many. */
export const shareUnits = 10_000;

// A share is known to 1.6 of a hundred (one standard error); nine variations take 5 ms.
const draws = 1_000;

export type Learned = {
  /** What is known of each variation. */
  arms: readonly Trials[];
  /** Percent that each gets at least. */
  floorPercent: number;
  /** The same seed and arms give the same shares. */
  seed: string;
};

/**
 * What share of the users gets which variation: Thompson sampling (1933) for many at once. Each gets as much as it is likely to be
 * the best, judged by draws from what is known of the rates (beta distributions, uniform before anything is known), and
 * not less than the floor, so that none is given up for good.
 */
export function learnedShares({ arms, floorPercent, seed }: Learned): number[] {
  const uniform = makeUniform(hash('sha256', seed, 'buffer'));
  const wins = arms.map(() => 0);
  // A success may be heard of before its trial: reports overtake the window that is being stored.
  const rates = arms.map(({ successes, trials }) => ({
    alpha: 1 + successes,
    beta: 1 + Math.max(0, trials - successes),
  }));
  for (let draw = 0; draw < draws; draw += 1) {
    let best = 0;
    let highest = -1;
    rates.forEach((rate, arm) => {
      const drawn = drawBeta(uniform, rate);
      if (drawn > highest) [best, highest] = [arm, drawn];
    });
    wins[best]! += 1;
  }
  const floor = floorPercent * (shareUnits / 100);
  const free = shareUnits - floor * arms.length;
  let [exact, given] = [0, 0];
  return wins.map((won) => {
    exact += floor + (free * won) / draws;
    const share = Math.round(exact) - given;
    given += share;
    return share;
  });
}
