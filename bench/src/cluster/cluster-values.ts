import type { ByPlatform } from './scenario.ts';
import { platforms } from './scenario.ts';

/** A number in `bench/results/cluster-values.json`. */
export type ValueRow = {
  value: number;
  unit: string;
  /** `measured` by the command that the file names; `assumed` for the reason in `about`. */
  origin: 'measured' | 'assumed';
  about: string;
};

export type ValuesFile = {
  command: string;
  measuredAt: string;
  machine: string;
  versions: string;
  values: Record<string, ValueRow>;
  runs: RecordedRun[];
};

/** A real run that the simulation is compared with. */
export type RecordedRun = {
  name: string;
  workers: number;
  devices: number;
  shares: ByPlatform;
  parallelChunks: number;
  windowDevices: number;
  cores: number;
  /** The figures that count: times of a machine that also did other work do not. */
  measured: Partial<RunFigures>;
};

export type RunFigures = {
  seconds: number;
  workerCpuSeconds: number;
  databaseCpuSeconds: number;
  walBytes: number;
  statements: number;
};

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

/** Names in a file: `flushMilliseconds`, `streams.ANDROID`. */
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
  replaced: ReadonlyMap<string, number>,
): ClusterValues {
  for (const name of [...Object.keys(rows), ...replaced.keys()])
    if (!valueNames.includes(name))
      throw new RangeError(`there is no value ${name}; there are ${valueNames.join(', ')}`);
  const read = (name: string): number => {
    const value = replaced.get(name) ?? rows[name]?.value;
    if (value === undefined) throw new RangeError(`the value ${name} is missing`);
    if (!Number.isFinite(value) || value < 0)
      throw new RangeError(`the value ${name} is ${value}, which no such thing can be`);
    return value;
  };
  const values: Record<string, number | ByPlatform> = {};
  for (const name of single) values[name] = read(name);
  for (const name of perPlatform)
    values[name] = { ANDROID: read(`${name}.ANDROID`), IOS: read(`${name}.IOS`), WEB: read(`${name}.WEB`) };
  return values as ClusterValues;
}
