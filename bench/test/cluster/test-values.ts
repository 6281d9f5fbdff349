import { readClusterValues } from '../../src/cluster/cluster-values.ts';
import type { ClusterValues } from '../../src/cluster/cluster-values.ts';
import { platforms } from '../../src/cluster/scenario.ts';
import type { Scenario } from '../../src/cluster/scenario.ts';
import { assumedValues, valueTable } from '../../src/cluster/value-table.ts';

const ofEach = (name: string, microseconds: number): Record<string, number> =>
  Object.fromEntries(platforms.map((platform) => [`${name}MicrosecondsPerDevice.${platform}`, microseconds]));

/** Round numbers, so that a test knows what saturates when: a hundred µs of a worker a device, half of that in the database. */
const roundValues: Record<string, number> = {
  ...assumedValues,
  workerMicrosecondsPerWindow: 1_000,
  workerIdleMillisecondsPerSecond: 5,
  ...ofEach('helper', 10),
  ...ofEach('database', 50),
  databaseMicrosecondsPerWindow: 1_000,
  pageShare: 0.1,
  walBytesPerDevice: 1_000,
  walBytesPerWindow: 2_000,
  statementsPerWindow: 8,
  statementMicroseconds: 125,
  walBytesPerStatement: 500,
  idleStatementsPerSecond: 10,
  idleDatabaseMillisecondsPerSecond: 5,
  retryMicrosecondsPerDevice: 100,
  retryWalBytesPerDevice: 2_000,
  flushMilliseconds: 1,
  simulatorMilliseconds: 1,
  startMilliseconds: 50,
  coordinatorMicrosecondsPerStatement: 150,
  coordinatorMicrosecondsPerDevice: 5,
  startMillisecondsPerMillionDevices: 300,
};

export function makeValues(replaced: Record<string, number> = {}): ClusterValues {
  const rows = Object.fromEntries(Object.keys(valueTable).map((name) => [name, { value: roundValues[name] ?? 100 }]));
  return readClusterValues(rows, new Map(Object.entries(replaced)));
}

/** Four workers, one PostgreSQL, providers that take everything at once; nothing fails. */
export function makeScenario(changes: Partial<Scenario> = {}): Scenario {
  return {
    devices: 200_000,
    shares: { ANDROID: 0.6, IOS: 0.35, WEB: 0.05 },
    seed: 1,
    nodes: 4,
    nodeCores: 2,
    parallelChunks: 4,
    windowDevices: 250,
    database: { kind: 'single', cores: 8 },
    apiNodes: 2,
    connectionsPerNode: 20,
    maxConnections: 200,
    providers: 'unlimited',
    sharedHostCores: undefined,
    crashes: 0,
    restartSeconds: 10,
    goneShare: 0,
    retryShare: 0,
    perMinute: {},
    ...changes,
  };
}

export const citus = { kind: 'citus', workers: 4, shards: 32, coordinatorCores: 4, workerCores: 4 } as const;
