import { makeRandom } from '../rig/random.ts';

export type DrawnRound = {
  scenario: string;
  /** Decides the moment and the victim. */
  seed: number;
  devices: number;
};

// So that a size is tried with several moments, and each scenario in several sizes.
const roundsOfSize = 10;
const minDevices = 1_000;
const maxDevices = 3_000;

/**
 * Rounds by seed: of which scenario, with how many devices, and the seed of each. Those that can share an installation
 * follow each other.
 */
export function drawRounds(from: { seed: number; rounds: number; shares: Record<string, number> }): DrawnRound[] {
  const random = makeRandom(from.seed);
  const names = Object.entries(from.shares).flatMap(([name, share]) => Array.from({ length: share }, () => name));
  const drawn = Array.from({ length: from.rounds }, () => names[random.between(0, names.length - 1)]!);
  return Object.keys(from.shares).flatMap((scenario) => {
    let devices = 0;
    return Array.from({ length: drawn.filter((name) => name === scenario).length }, (_, index) => {
      if (index % roundsOfSize === 0) devices = random.between(minDevices, maxDevices);
      return { scenario, seed: random.between(1, 2 ** 31 - 1), devices };
    });
  });
}
