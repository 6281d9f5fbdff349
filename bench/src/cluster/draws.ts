import { makeRandom } from '../../../server/test/rig/random.ts';

/** Random decisions, reproducible by a seed. */
export type Draws = {
  /** 0 ≤ number < 1. */
  next(): number;
  /** Returns how many of `count` have an event of this probability. */
  ofMany(count: number, probability: number): number;
  /** Returns a value of a normal distribution with mean 0 and deviation 1. */
  normal(): number;
};

// Up to this count each is drawn separately; above it the normal distribution is as exact.
const maxSingleDraws = 64;

export function makeDraws(seed: number): Draws {
  const random = makeRandom(seed);
  const next = (): number => random.next();
  /** Box and Muller's method; 1 - next() is never 0. */
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

  /** For a rare event: skips from one occurrence to the next, by the geometric distribution. */
  function ofRare(count: number, probability: number): number {
    const log = Math.log1p(-probability);
    let happened = 0;
    for (let place = Math.floor(Math.log(1 - next()) / log); place < count;) {
      happened += 1;
      place += 1 + Math.floor(Math.log(1 - next()) / log);
    }
    return happened;
  }

  return {
    next,
    normal,
    ofMany(count, probability) {
      if (probability <= 0 || count === 0) return 0;
      if (probability >= 1) return count;
      if (probability > 0.5) return count - this.ofMany(count, 1 - probability);
      if (count * probability <= maxSingleDraws) return ofRare(count, probability);
      const deviation = Math.sqrt(count * probability * (1 - probability));
      const drawn = Math.round(count * probability + deviation * normal());
      return Math.min(count, Math.max(0, drawn));
    },
  };
}

/** Distributes exactly `count` items over places of equal probability. */
export function spreadOver(draws: Draws, { count, places }: { count: number; places: number }): number[] {
  let left = count;
  return Array.from({ length: places }, (_, place) => {
    const here = draws.ofMany(left, 1 / (places - place));
    left -= here;
    return here;
  });
}
