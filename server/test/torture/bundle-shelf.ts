import { makeRandom } from './make-random.ts';
import type { BundleOptions, TortureBundle } from './torture-bundle.ts';

/**
 * Keeps one installation for the rounds of a scenario: database, API node, imported devices, workers that live. Each round
 * takes it as if it were new, since what rounds before it stored is deleted.
 */
export type BundleShelf = {
  take(options: BundleOptions): Promise<TortureBundle>;
  /** The next round gets a new one. */
  clear(): Promise<void>;
};

export function makeBundleShelf(open: (options: BundleOptions) => Promise<TortureBundle>): BundleShelf {
  let kept: TortureBundle | undefined;
  return {
    async take(options) {
      if (kept) await kept.forget();
      else kept = await open(options);
      const { seed, rounds } = options;
      return { ...kept, seed, rounds, random: makeRandom(seed), stop: kept.restWorkers };
    },
    async clear() {
      const ending = kept;
      kept = undefined;
      await ending?.stop();
    },
  };
}
