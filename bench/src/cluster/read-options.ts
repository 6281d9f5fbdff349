import { parseArgs } from 'node:util';
import { settings } from '../../../server/src/start/settings-table.ts';
import { valueNames } from './cluster-values.ts';
import type { ByPlatform, DatabaseShape, Scenario } from './scenario.ts';
import { platforms } from './scenario.ts';

export type Command =
  | { kind: 'simulate'; scenarios: Scenario[]; replaced: ReadonlyMap<string, number>; format: 'text' | 'json' }
  | { kind: 'measure' }
  | { kind: 'validate' }
  | { kind: 'document' }
  | { kind: 'help' };

/** An invalid option; the message explains it. */
export class OptionError extends Error {
  override readonly name = 'OptionError';
}

const { workerChunks, windowDevices, databaseConnections } = settings;

export const usage = `Usage: npm run simulate -- [options]

A campaign to everybody on a cluster, simulated: when it ends, what holds it up, what the databases carry.

  --devices 1000000          devices; several, with commas between, make a table
  --nodes 4                  worker processes, each on a host of its own
  --seed 1                   the same seed makes the same result
  --chunks ${workerChunks.default}                 chunks a worker sends side by side (${workerChunks.variable})
  --window ${windowDevices.default}               devices in a window (${windowDevices.variable})
  --node-cores 2             cores of a worker's host
  --database-workers 0       Citus workers; 0 is one PostgreSQL
  --shards 32                shards of each distributed table
  --database-cores 8         cores of PostgreSQL, or of the coordinator
  --database-worker-cores 8  cores of each Citus worker
  --api-nodes 2              nodes that answer calls; they hold connections
  --connections ${databaseConnections.default}           connections of a node (${databaseConnections.variable})
  --max-connections 100      what PostgreSQL, or the coordinator, is set to
  --mix 60,35,5              devices in a hundred: Android, iOS, web
  --fcm-per-minute N         quota of the Firebase project (default: Google's)
  --providers real           unlimited: they take everything at once
  --gone 0.01                share of addresses that are gone
  --retry 0.005              share of requests that are to be made again
  --crashes 0                how often a worker is lost while the campaign runs
  --restart-seconds 10       until it is started again
  --set name=number          another value than the recorded one, any number of times
  --json                     everything that is known, instead of a report
  --measure                  measures the values here and records them (some minutes; on a machine that does nothing else)
  --validate                 sends small campaigns and compares them with their simulation
  --document                 makes the tables of docs/capacity.md anew, when the values have changed
`;

const text = (value: string) => ({ type: 'string', default: value }) as const;
const options = {
  devices: text('1000000'),
  nodes: text('4'),
  seed: text('1'),
  chunks: text(String(workerChunks.default)),
  window: text(String(windowDevices.default)),
  'node-cores': text('2'),
  'database-workers': text('0'),
  shards: text('32'),
  'database-cores': text('8'),
  'database-worker-cores': text('8'),
  'api-nodes': text('2'),
  connections: text(String(databaseConnections.default)),
  'max-connections': text('100'),
  mix: text('60,35,5'),
  'fcm-per-minute': { type: 'string' },
  providers: text('real'),
  gone: text('0.01'),
  retry: text('0.005'),
  crashes: text('0'),
  'restart-seconds': text('10'),
  set: { type: 'string', multiple: true, default: [] as string[] },
  json: { type: 'boolean', default: false },
  measure: { type: 'boolean', default: false },
  validate: { type: 'boolean', default: false },
  document: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const;

type Values = ReturnType<typeof parseWords>;
type Bounds = { from: number; to: number };

/** @throws OptionError */
export function readOptions(words: readonly string[]): Command {
  const values = parseWords(words);
  if (values.help) return { kind: 'help' };
  const alone = (['measure', 'validate', 'document'] as const).find((kind) => values[kind]);
  if (alone !== undefined) {
    if (words.length > 1) throw new OptionError(`--${alone} stands alone`);
    return { kind: alone };
  }
  const scenario = readScenario(values);
  const scenarios = values.devices.split(',').map((devices) => ({
    ...scenario,
    devices: readWhole('devices', devices, { from: 1, to: 10_000_000_000 }),
  }));
  return { kind: 'simulate', scenarios, replaced: readReplaced(values.set), format: values.json ? 'json' : 'text' };
}

function parseWords(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options }).values;
  } catch (error) {
    throw new OptionError((error as Error).message.split('. ')[0]!);
  }
}

function readScenario(values: Values): Omit<Scenario, 'devices'> {
  const whole = (
    name: Exclude<keyof Values, 'set' | 'json' | 'measure' | 'validate' | 'document' | 'help'>,
    bounds: Bounds,
  ): number => readWhole(name, values[name]!, bounds);
  const fcm = values['fcm-per-minute'];
  if (values.providers !== 'real' && values.providers !== 'unlimited')
    throw new OptionError(`--providers is real or unlimited, not ${values.providers}`);
  return {
    shares: readShares(values.mix),
    seed: whole('seed', { from: 0, to: 2 ** 32 - 1 }),
    nodes: whole('nodes', { from: 1, to: 1_000 }),
    nodeCores: whole('node-cores', { from: 1, to: 256 }),
    parallelChunks: whole('chunks', { from: workerChunks.minimum, to: workerChunks.maximum }),
    windowDevices: whole('window', { from: windowDevices.minimum, to: windowDevices.maximum }),
    database: readDatabase(whole),
    apiNodes: whole('api-nodes', { from: 0, to: 1_000 }),
    connectionsPerNode: whole('connections', { from: databaseConnections.minimum, to: databaseConnections.maximum }),
    maxConnections: whole('max-connections', { from: 1, to: 100_000 }),
    providers: values.providers,
    sharedHostCores: undefined,
    crashes: whole('crashes', { from: 0, to: 1_000 }),
    restartSeconds: whole('restart-seconds', { from: 0, to: 3_600 }),
    goneShare: readShare('gone', values.gone),
    retryShare: readShare('retry', values.retry),
    perMinute: fcm === undefined ? {} : { ANDROID: whole('fcm-per-minute', { from: 1, to: 1_000_000_000 }) },
  };
}

type ReadWhole = (
  name: 'database-workers' | 'shards' | 'database-cores' | 'database-worker-cores',
  bounds: Bounds,
) => number;

function readDatabase(whole: ReadWhole): DatabaseShape {
  const workers = whole('database-workers', { from: 0, to: 256 });
  const shards = whole('shards', { from: 1, to: 256 });
  const cores = whole('database-cores', { from: 1, to: 1_024 });
  const workerCores = whole('database-worker-cores', { from: 1, to: 1_024 });
  if (workers === 0) return { kind: 'single', cores };
  if (shards < workers)
    throw new OptionError(`--shards ${shards} leaves some of ${workers} database workers without one`);
  return { kind: 'citus', workers, shards, coordinatorCores: cores, workerCores };
}

function readWhole(name: string, value: string, { from, to }: Bounds): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= from && number <= to))
    throw new OptionError(`--${name} is a whole number from ${from} to ${to}, not ${value}`);
  return number;
}

function readShare(name: string, value: string): number {
  const number = /^[\d.]{1,12}$/.test(value) ? Number(value) : Number.NaN;
  // If all requests failed, the campaign would never end.
  if (!(number >= 0 && number <= 0.9)) throw new OptionError(`--${name} is a share from 0 to 0.9, not ${value}`);
  return number;
}

function readShares(mix: string): ByPlatform {
  const parts = mix.split(',').map((part) => (/^[\d.]{1,12}$/.test(part) ? Number(part) : Number.NaN));
  const sum = parts.reduce((all, part) => all + part, 0);
  if (parts.length !== platforms.length || !(Math.abs(sum - 100) < 1e-6))
    throw new OptionError(`--mix is three numbers that make 100 (Android, iOS, web), not ${mix}`);
  const [ANDROID, IOS, WEB] = parts.map((part) => part / 100) as [number, number, number];
  return { ANDROID, IOS, WEB };
}

function readReplaced(pairs: readonly string[]): ReadonlyMap<string, number> {
  return new Map(
    pairs.map((pair) => {
      const [name, value = ''] = pair.split('=', 2) as [string, string?];
      if (!valueNames.includes(name))
        throw new OptionError(`--set knows no ${name}; it knows ${valueNames.join(', ')}`);
      if (!/^[\d.]{1,20}$/.test(value) || !Number.isFinite(Number(value)))
        throw new OptionError(`--set takes name=number, not ${pair}`);
      return [name, Number(value)];
    }),
  );
}
