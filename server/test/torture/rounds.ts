import { availableParallelism, totalmem } from 'node:os';
import { readCommit } from '../read-commit.ts';
import { makeBundleShelf, openTortureBundle } from '../rig/installation.ts';
import type { TortureOptions } from '../rig/installation.ts';
import { makeHistory, writeHistory } from '../rig/history.ts';
import { makeRandom } from '../rig/random.ts';
import { sumNumbers } from '../rig/report.ts';
import type { Report, Sums } from '../rig/report.ts';
import { scenarios } from './scenarios.ts';

type DrawnRound = {
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

export type PlayedRound = DrawnRound & Report;

/** `historyFolder`: where each round leaves its history, for the checker. */
export type PlayOptions = Omit<TortureOptions, 'seed' | 'devices' | 'rounds' | 'shelf' | 'history'> & {
  historyFolder: string | undefined;
};

type Play = {
  drawn: readonly DrawnRound[];
  options: PlayOptions;
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
export async function playOne(
  name: string,
  { historyFolder, ...given }: TortureOptions & PlayOptions,
): Promise<Report> {
  const { seed, devices, rounds } = given;
  const history = historyFolder === undefined ? undefined : makeHistory();
  history?.note({ kind: 'begin', rig: 'torture', seed, scenario: name, devices, rounds });
  const options = { ...given, history };
  const { promise: late, reject } = Promise.withResolvers<never>();
  const limit = setTimeout(() => reject(new Error(`not ended after ${maxMinutes} minutes`)), maxMinutes * 60_000);
  try {
    return await Promise.race([scenarios[name]!.play(options), late]);
  } catch (error) {
    return { numbers: {}, broken: [(error as Error).stack ?? String(error)] };
  } finally {
    clearTimeout(limit);
    if (history && historyFolder !== undefined)
      writeHistory(history, { folder: historyFolder, name: `torture-${name}-${seed}-${devices}` });
  }
}

type Measured = {
  seed: number;
  devices: number;
  rounds: number;
  minutes: number;
  played: readonly PlayedRound[];
  whole: Record<string, Report>;
};

export function makeRecord({ seed, devices, rounds, minutes, played, whole }: Measured): TortureRecord {
  const once = `--devices ${devices} --rounds ${rounds}`;
  const names = [...new Set(played.map(({ scenario }) => scenario))];
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: readCommit(),
    command: `npm run test:torture -- --random-rounds ${played.length} --seed ${seed} ${once} --record`,
    minutes,
    machine: {
      cores: availableParallelism(),
      memoryGiB: Math.round(totalmem() / 1024 ** 3),
      node: process.version,
    },
    rounds: Object.fromEntries(
      names.map((name) => {
        const own = played.filter(({ scenario }) => scenario === name);
        return [name, { rounds: own.length, ...sumNumbers(own) }];
      }),
    ),
    whole: Object.fromEntries(Object.entries(whole).map(([name, { numbers }]) => [name, numbers])),
    broken: [
      ...played.flatMap((round) => round.broken.map((promise) => ({ promise, command: commandOf(round) }))),
      ...Object.entries(whole).flatMap(([name, { broken }]) =>
        broken.map((promise) => ({
          promise,
          command: `npm run test:torture -- --seed ${seed} --only ${name} ${once}`,
        })),
      ),
    ],
  };
}

/** Plays one drawn round alone, with its own moment and size. */
export function commandOf({ scenario, seed, devices }: { scenario: string; seed: number; devices: number }): string {
  return `npm run test:torture -- --seed ${seed} --only ${scenario} --devices ${devices} --rounds 1`;
}

/** What a run measured, as docs/reports/torture.json keeps it. */
export type TortureRecord = {
  /** Day of the run, UTC. */
  date: string;
  commit: string;
  /** What ran it. */
  command: string;
  minutes: number;
  machine: { cores: number; memoryGiB: number; node: string };
  /** Drawn by seed, summed for each scenario. */
  rounds: Record<string, Sums & { rounds: number }>;
  /** Scenarios that ran once, as a whole. */
  whole: Record<string, Record<string, number | string | boolean>>;
  broken: { promise: string; command: string }[];
};
