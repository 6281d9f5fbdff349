import { makeBundleShelf } from './bundle-shelf.ts';
import type { DrawnRound } from './draw-rounds.ts';
import type { Report } from './scenario.ts';
import { scenarios } from './scenarios.ts';
import { openTortureBundle } from './torture-bundle.ts';
import type { TortureOptions } from './torture-bundle.ts';

export type PlayedRound = DrawnRound & Report;

type Play = {
  drawn: readonly DrawnRound[];
  options: Omit<TortureOptions, 'seed' | 'devices' | 'rounds' | 'shelf'>;
  onPlayed(round: PlayedRound): void;
};

/** Plays drawn rounds one after the other. Those of one scenario and size share an installation until one goes wrong. */
export async function playRounds({ drawn, options, onPlayed }: Play): Promise<PlayedRound[]> {
  const shelf = makeBundleShelf(openTortureBundle);
  const played: PlayedRound[] = [];
  for (const [index, round] of drawn.entries()) {
    const { scenario, seed, devices } = round;
    const report = await playOne(scenario, { ...options, seed, devices, rounds: 1, shelf });
    const next = drawn[index + 1];
    const isShared = next?.scenario === scenario && next.devices === devices && report.broken.length === 0;
    if (!isShared) await shelf.clear();
    played.push({ ...round, ...report });
    onPlayed(played.at(-1)!);
  }
  return played;
}

/** A scenario that could not be played to its end has broken a promise. */
export function playOne(name: string, options: TortureOptions): Promise<Report> {
  return scenarios[name]!.play(options).catch((error: unknown): Report => ({
    numbers: {},
    broken: [(error as Error).stack ?? String(error)],
  }));
}
