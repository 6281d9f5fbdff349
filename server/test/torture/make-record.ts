import { availableParallelism, totalmem } from 'node:os';
import { readCommit } from '../read-commit.ts';
import type { PlayedRound } from './play-rounds.ts';
import { sumNumbers } from '../rig/report.ts';
import type { Report } from '../rig/report.ts';
import type { TortureRecord } from './torture-record.ts';

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
