import { hash } from 'node:crypto';

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

/** Evenly from 0 to 1, without the ends; the same sequence for the same seed. */
export type Uniform = () => number;

/**
 * Numbers from a seed, by sfc32 (Chris Doty-Humphrey's PractRand): 128 bits of state, and fast where numbers have 32 bits.
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

/** A draw of the beta distribution, by two of the gamma distribution; both parameters are 1 or greater. */
export function drawBeta(uniform: Uniform, { alpha, beta }: { alpha: number; beta: number }): number {
  const one = drawGamma(uniform, alpha);
  return one / (one + drawGamma(uniform, beta));
}

/** By Marsaglia and Tsang (2000), which holds from a shape of 1 on and hardly ever rejects. */
function drawGamma(uniform: Uniform, shape: number): number {
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = drawNormal(uniform);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(uniform()) < (x * x) / 2 + d - d * v + d * Math.log(v)) return d * v;
  }
}

/** By Box and Muller (1958). */
function drawNormal(uniform: Uniform): number {
  return Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

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

/** From the bucket behind `after` on everybody gets this variation; null: the shares decide again. */
export type WinnerStep = { after: number; variation: number | null };

/** What was decided about the buckets of a chunk of a run: each step holds until the next. */
export type ChunkWinners = { bucketFrom: number; bucketTo: number; steps: WinnerStep[] };

/** The variation that everybody in a bucket gets; null: the shares decide. */
export function winnerInBucket(chunks: readonly ChunkWinners[], bucket: number): number | null {
  const chunk = chunks.find(({ bucketFrom, bucketTo }) => bucketFrom <= bucket && bucket <= bucketTo);
  return chunk?.steps.findLast(({ after }) => after < bucket)?.variation ?? null;
}

/** The steps with one more; of what was decided before, that stays which has begun. */
export function addWinnerStep(steps: readonly WinnerStep[], step: WinnerStep): WinnerStep[] {
  return [...steps.filter(({ after }) => after < step.after), step];
}

/** The shares of a campaign, in percent by variation, of which a winner was named: everything is its. */
export function sharesOfWinner(percents: readonly number[], winner: number | null): number[] {
  return winner === null ? [...percents] : percents.map((_percent, index) => (index + 1 === winner ? 100 : 0));
}

/** Of so many trials, so many succeeded. */
export type Trials = { successes: number; trials: number };

type Interval = { low: number; high: number };

/** The quantile of the normal distribution that leaves 2.5 % beyond it on each side. */
const z95 = 1.959_963_984_540_054;

/**
 * The interval that holds the true rate with 95 % confidence, by Wilson's score (1927), which is right for few trials and for
 * rates near nought, as rates of clicks are. From 0 to 1; undefined without trials.
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

/** How much more often, as a share of the control's rate: 0.1 is a tenth more. */
export type Uplift = { value: number; interval: Interval | undefined };

/**
 * By how much the rate of the treated is above that of the control, with the 95 % interval of the ratio of two rates (Katz
 * and others 1978, on the logarithm). Undefined while the control has no success: nothing can be divided by its rate; the
 * interval is unknown while the treated have none.
 */
export function upliftOf({ treated, control }: { treated: Trials; control: Trials }): Uplift | undefined {
  if (treated.trials === 0 || control.trials === 0 || control.successes === 0) return undefined;
  const ratio = treated.successes / treated.trials / (control.successes / control.trials);
  if (treated.successes === 0) return { value: -1, interval: undefined };
  const error = Math.sqrt(1 / treated.successes - 1 / treated.trials + 1 / control.successes - 1 / control.trials);
  const factor = Math.exp(z95 * error);
  return { value: ratio - 1, interval: { low: ratio / factor - 1, high: ratio * factor - 1 } };
}
