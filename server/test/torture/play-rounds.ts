import { availableParallelism } from 'node:os';
import { makeBundleShelf, openTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import type { Report } from '../rig/report.ts';
import type { DrawnRound } from './draw-rounds.ts';
import { scenarios } from './scenarios.ts';

export type PlayedRound = DrawnRound & Report;

type Play = {
  drawn: readonly DrawnRound[];
  options: Omit<TortureOptions, 'seed' | 'devices' | 'rounds' | 'shelf'>;
  onPlayed(round: PlayedRound): void;
};

/**
 * Plays drawn rounds, as many side by side as there are cores. Those of one scenario and size follow each other and share
 * an installation until one goes wrong.
 */
export async function playRounds({ drawn, options, onPlayed }: Play): Promise<PlayedRound[]> {
  const waiting = groupRounds(drawn);
  const played: PlayedRound[] = [];
  const work = async (): Promise<void> => {
    const shelf = makeBundleShelf(openTortureBundle);
    for (let group = waiting.shift(); group; group = waiting.shift()) {
      for (const round of group) {
        const { scenario, seed, devices } = round;
        const report = await playOne(scenario, { ...options, seed, devices, rounds: 1, shelf });
        if (report.broken.length > 0) await shelf.clear();
        played.push({ ...round, ...report });
        onPlayed(played.at(-1)!);
      }
      await shelf.clear();
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return played;
}

/**
 * Rounds that follow each other with the same scenario and size; of each scenario one group before the second of any, so
 * that a run that is ended early has tried all of them.
 */
function groupRounds(drawn: readonly DrawnRound[]): DrawnRound[][] {
  const groups: DrawnRound[][] = [];
  for (const round of drawn) {
    const last = groups.at(-1);
    if (last?.[0]!.scenario === round.scenario && last[0]!.devices === round.devices) last.push(round);
    else groups.push([round]);
  }
  const before = new Map<string, number>();
  const turns = new Map(
    groups.map((group) => {
      const turn = before.get(group[0]!.scenario) ?? 0;
      before.set(group[0]!.scenario, turn + 1);
      return [group, turn];
    }),
  );
  return groups.sort((one, other) => turns.get(one)! - turns.get(other)!);
}

/** Longer than a whole recorded run of 200 rounds, so that a scenario that hangs ends with a sentence. */
const maxMinutes = 40;

/** A scenario that could not be played to its end, or comes to none, has broken a promise. */
export async function playOne(name: string, options: TortureOptions): Promise<Report> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const limit = setTimeout(() => reject(new Error(`not ended after ${maxMinutes} minutes`)), maxMinutes * 60_000);
  try {
    return await Promise.race([scenarios[name]!.play(options), late]);
  } catch (error) {
    return { numbers: {}, broken: [(error as Error).stack ?? String(error)] };
  } finally {
    clearTimeout(limit);
  }
}
