import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from '../../../server/src/domain/content/content.ts';

export const platforms = ['ANDROID', 'IOS', 'WEB'] as const satisfies readonly Platform[];

/** A number per platform; shares add up to 1. */
export type ByPlatform = Record<Platform, number>;

/**
 * A number in `bench/results/cluster-values.json`: measured by the command that the file names, or assumed, because it cannot be
 * measured with simulators; `--set` replaces it for a plan.
 */
export type ValueRow = { value: number; unit: string; origin: 'measured' | 'assumed'; about: string };

export type ValuesFile = {
  command: string;
  measuredAt: string;
  machine: string;
  versions: string;
  values: Record<string, ValueRow>;
  runs: RecordedRun[];
};

/** A campaign that was sent on one machine, which the law is compared with. */
export type RecordedRun = {
  name: string;
  workers: number;
  devices: number;
  shares: ByPlatform;
  parallelChunks: number;
  windowDevices: number;
  cores: number;
  /** Times are missing if the machine also did other work. */
  measured: Partial<RunFigures>;
};

export type RunFigures = {
  seconds: number;
  workerCpuSeconds: number;
  databaseCpuSeconds: number;
  walBytes: number;
  statements: number;
};

export const valuesPath = join(import.meta.dirname, '..', '..', 'results', 'cluster-values.json');

export async function readValuesFile(): Promise<ValuesFile> {
  return JSON.parse(await readFile(valuesPath, 'utf8')) as ValuesFile;
}

const single = [
  'workerMicrosecondsPerWindow',
  'workerIdleMillisecondsPerSecond',
  'databaseMicrosecondsPerWindow',
  'pageShare',
  'walBytesPerDevice',
  'walBytesPerWindow',
  'statementsPerWindow',
  'statementMicroseconds',
  'walBytesPerStatement',
  'idleStatementsPerSecond',
  'idleDatabaseMillisecondsPerSecond',
  'retryMicrosecondsPerDevice',
  'retryWalBytesPerDevice',
  'flushMilliseconds',
  'roundTripMilliseconds',
  'startMilliseconds',
  'startMillisecondsPerMillionDevices',
  'simulatorMilliseconds',
  'coordinatorMicrosecondsPerStatement',
  'coordinatorMicrosecondsPerDevice',
  'coordinatorWalBytesPerTransaction',
] as const;
const perPlatform = [
  'workerMicrosecondsPerDevice',
  'helperMicrosecondsPerDevice',
  'databaseMicrosecondsPerDevice',
  'simulatorMicrosecondsPerDevice',
  'streams',
  'latencyMilliseconds',
  'latencySpread',
] as const;

export type ClusterValues = Record<(typeof single)[number], number> & Record<(typeof perPlatform)[number], ByPlatform>;

/** The names in the file, which has the unit, the origin and the meaning of each: `flushMilliseconds`, `streams.ANDROID`. */
export const valueNames: readonly string[] = [
  ...single,
  ...perPlatform.flatMap((name) => platforms.map((platform) => `${name}.${platform}`)),
];

/**
 * Returns the numbers of a file, with some replaced.
 *
 * @throws RangeError that names a missing, unknown or invalid value
 */
export function readClusterValues(
  rows: Record<string, { value: number }>,
  replaced: ReadonlyMap<string, number> = new Map(),
): ClusterValues {
  for (const name of [...Object.keys(rows), ...replaced.keys()])
    if (!valueNames.includes(name))
      throw new RangeError(`there is no value ${name}; there are ${valueNames.join(', ')}`);
  const read = (name: string): number => {
    const value = replaced.get(name) ?? rows[name]?.value;
    if (value === undefined) throw new RangeError(`the value ${name} is missing`);
    if (!Number.isFinite(value) || value < 0)
      throw new RangeError(`the value ${name} is ${value}, not a number from 0 on`);
    return value;
  };
  return {
    ...Object.fromEntries(single.map((name) => [name, read(name)])),
    ...Object.fromEntries(perPlatform.map((name) => [name, byPlatform((platform) => read(`${name}.${platform}`))])),
  } as ClusterValues;
}

/** Returns the sum of the counts, each multiplied by its platform's value. */
export function weigh(counts: ByPlatform, each: ByPlatform): number {
  return platforms.reduce((sum, platform) => sum + counts[platform] * each[platform], 0);
}

export function byPlatform(make: (platform: Platform) => number): ByPlatform {
  return { ANDROID: make('ANDROID'), IOS: make('IOS'), WEB: make('WEB') };
}
