import { hash } from 'node:crypto';

/** The sum of the shares of learned variations, which are whole numbers. */
export const shareUnits = 10_000;

// The standard error of a share is 1.6 percentage points; nine variations take 5 ms.
const draws = 1_000;

export type Learned = {
  /** The trials and successes of each variation. */
  arms: readonly Trials[];
  /** The minimum percent of each variation. */
  floorPercent: number;
  /** The same seed and arms give the same shares. */
  seed: string;
};

/**
 * Returns the share of the users that each variation gets, by Thompson sampling (1933) for many users at once. A share
 * is the probability that the variation is the best. It is estimated with draws from the known distributions of the
 * rates (beta distributions, uniform before anything is known). No share is below the floor, so that no variation is
 * given up for good.
 */
export function learnedShares({ arms, floorPercent, seed }: Learned): number[] {
  const uniform = makeUniform(hash('sha256', seed, 'buffer'));
  const wins = arms.map(() => 0);
  // A success may be counted before its trial: reports can overtake the window that is being stored.
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

/** Returns a number between 0 and 1, evenly distributed, without the ends. The same seed gives the same sequence. */
export type Uniform = () => number;

/**
 * Returns a random number generator for a seed: sfc32 (Chris Doty-Humphrey's PractRand), which has 128 bits of state
 * and is fast with 32-bit numbers.
 *
 * @param seed 16 bytes, evenly distributed
 */
export function makeUniform(seed: Buffer): Uniform {
  let [a, b, c, counter] = [0, 4, 8, 12].map((place) => seed.readInt32LE(place)) as [number, number, number, number];
  return () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return ((sum >>> 0) + 0.5) / 2 ** 32;
  };
}

/** Draws from the beta distribution, with two draws from the gamma distribution. Both parameters must be 1 or greater. */
export function drawBeta(uniform: Uniform, { alpha, beta }: { alpha: number; beta: number }): number {
  const one = drawGamma(uniform, alpha);
  return one / (one + drawGamma(uniform, beta));
}

/** Uses the method of Marsaglia and Tsang (2000), which is valid for shapes of 1 or greater and rarely rejects a draw. */
function drawGamma(uniform: Uniform, shape: number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(uniform);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(uniform()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** Uses the method of Box and Muller (1958). */
function drawNormal(uniform: Uniform): number {
  return Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/**
 * The results of a variation. Trials are messages that a provider accepted; successes are those that were clicked or
 * followed by the goal.
 */
export type ComparedVariation = Trials & {
  variation: number;
  /** From 0 to 1; undefined without messages. */
  rate: number | undefined;
  interval: Interval | undefined;
  /** The probability that it is the best variation, in percent. */
  bestPercent: number;
};

/** A variation is the winner by its figures if it is the best with at least this probability, in percent. */
export const winnerFromPercent = 95;

/**
 * Returns the results of the variations, in their order. The probability of being the best is the share that a learning
 * campaign would give without a floor. The draws come from a seed, so the same figures name the same winner.
 */
export function compareVariations(arms: readonly Trials[], seed: string): ComparedVariation[] {
  // Devices may report messages whose acceptance was never recorded.
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

/** Returns the variation that is most likely the best; the first one if several are equal. */
export function leaderOf(compared: readonly ComparedVariation[]): ComparedVariation {
  return compared.reduce((best, one) => (one.bestPercent > best.bestPercent ? one : best));
}

/** All users in buckets after `after` get this variation; null: the shares apply again. */
export type WinnerStep = { after: number; variation: number | null };

/** The winners that were named for the buckets of a run's chunk. Each step applies until the next one. */
export type ChunkWinners = { bucketFrom: number; bucketTo: number; steps: WinnerStep[] };

/** Returns the variation that all users in a bucket get; null: the shares apply. */
export function winnerInBucket(chunks: readonly ChunkWinners[], bucket: number): number | null {
  const chunk = chunks.find(({ bucketFrom, bucketTo }) => bucketFrom <= bucket && bucket <= bucketTo);
  return chunk?.steps.findLast(({ after }) => after < bucket)?.variation ?? null;
}

/** Returns the steps with a new one added. Earlier steps stay only if they begin before the new one. */
export function addWinnerStep(steps: readonly WinnerStep[], step: WinnerStep): WinnerStep[] {
  return [...steps.filter(({ after }) => after < step.after), step];
}

/** Returns the shares of a campaign, in percent by variation. If a winner was named, it gets 100 percent. */
export function sharesOfWinner(percents: readonly number[], winner: number | null): number[] {
  return winner === null ? [...percents] : percents.map((_percent, index) => (index + 1 === winner ? 100 : 0));
}

export type Trials = { successes: number; trials: number };

type Interval = { low: number; high: number };

/** The quantile of the normal distribution that leaves 2.5 % beyond it on each side. */
const z95 = 1.959_963_984_540_054;

/**
 * Returns the interval that contains the true rate with 95 % confidence, from 0 to 1; undefined without trials.
 * Wilson's score (1927) is accurate for few trials and for rates near zero, such as click rates.
 */
export function rateInterval({ successes, trials }: Trials): Interval | undefined {
  if (trials === 0) return undefined;
  const rate = successes / trials;
  const square = z95 * z95;
  const centre = rate + square / (2 * trials);
  const half = z95 * Math.sqrt((rate * (1 - rate)) / trials + square / (4 * trials * trials));
  const whole = 1 + square / trials;
  return { low: Math.max(0, (centre - half) / whole), high: Math.min(1, (centre + half) / whole) };
}

/** The uplift as a share of the control's rate: 0.1 is a tenth more. */
export type Uplift = { value: number; interval: Interval | undefined };

/**
 * Returns the relative difference between the rates of the treated group and the control group, with the 95 % interval of the ratio of two
 * rates (Katz and others 1978, on the logarithm). Undefined without trials and while the control has no success,
 * because its rate is the divisor. The interval is undefined while the treated have no success.
 */
export function upliftOf({ treated, control }: { treated: Trials; control: Trials }): Uplift | undefined {
  if (treated.trials === 0 || control.trials === 0 || control.successes === 0) return undefined;
  const ratio = treated.successes / treated.trials / (control.successes / control.trials);
  if (treated.successes === 0) return { value: -1, interval: undefined };
  const error = Math.sqrt(1 / treated.successes - 1 / treated.trials + 1 / control.successes - 1 / control.trials);
  const factor = Math.exp(z95 * error);
  return { value: ratio - 1, interval: { low: ratio / factor - 1, high: ratio * factor - 1 } };
}
