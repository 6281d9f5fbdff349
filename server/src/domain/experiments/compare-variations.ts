import { rateInterval } from './intervals.ts';
import type { Interval, Trials } from './intervals.ts';
import { learnedShares, shareUnits } from './learned-shares.ts';

/** What is known of a variation: messages that a provider accepted, and how many of them were clicked or followed by the goal. */
export type ComparedVariation = Trials & {
  variation: number;
  /** From 0 to 1; undefined without messages. */
  rate: number | undefined;
  interval: Interval | undefined;
  /** How likely it is to be the best of them, in percent. */
  bestPercent: number;
};

/** A variation that is the best so likely is the winner by its figures. */
export const winnerFromPercent = 95;

/**
 * How the variations stand, in their order. How likely each is to be the best is what a campaign that learns would give it without a
 * floor: the same draws, from a seed, so that the same figures name the same winner.
 */
export function compareVariations(arms: readonly Trials[], seed: string): ComparedVariation[] {
  // Reports may come of messages whose acceptance was never heard of.
  const known = arms.map(({ successes, trials }) => ({ successes, trials: Math.max(trials, successes) }));
  const shares = learnedShares({ arms: known, floorPercent: 0, seed });
  return known.map((arm, index) => ({
    ...arm,
    variation: index + 1,
    rate: arm.trials === 0 ? undefined : arm.successes / arm.trials,
    interval: rateInterval(arm),
    bestPercent: (shares[index]! * 100) / shareUnits,
  }));
}

/** The variation that is most likely the best, the first of equals. */
export function leaderOf(compared: readonly ComparedVariation[]): ComparedVariation {
  return compared.reduce((best, one) => (one.bestPercent > best.bestPercent ? one : best));
}
