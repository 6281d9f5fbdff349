import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { settings } from '../../../server/src/start/settings-table.ts';
import type { DatabaseShape, Scenario } from '../capacity/demands.ts';
import { findSmallest, planCampaign } from '../capacity/law.ts';
import { documentTables, presentReport, presentTable } from '../capacity/report.ts';
import { EndlessCampaignError } from '../capacity/rounds.ts';
import { platforms, readClusterValues, readValuesFile, valueNames } from '../capacity/values.ts';
import type { ByPlatform, ValueRow } from '../capacity/values.ts';
import type { Case } from '../kit/bench.ts';
import { readCaseOptions, UsageError } from '../kit/case-table.ts';
import type { OptionsOf } from '../kit/case-table.ts';

const pagePath = join(import.meta.dirname, '..', '..', '..', 'docs', 'capacity.md');
type CapacityOptions = OptionsOf<'capacity'>;
type Rows = Record<string, ValueRow>;

/** No part of the product runs and nothing is sent: it calculates with the constants of the code and the recorded values. */
export const capacityCase: Case<'capacity', Rows> = {
  prepare: async () => (await readValuesFile()).values,

  async run(bench, rows) {
    if (!bench.options.document) return bench.say(presentPlans(bench.options, rows).trimEnd());
    const table = (words: string[]): string => presentPlans(readCaseOptions('capacity', words), rows);
    await writeFile(pagePath, documentTables(await readFile(pagePath, 'utf8'), table));
  },
};

/** Returns a report, or a table of several plans. @throws UsageError */
export function presentPlans(options: CapacityOptions, rows: Rows): string {
  try {
    return present(options, rows);
  } catch (error) {
    throw error instanceof EndlessCampaignError ? new UsageError(error.message) : error;
  }
}

function present(options: CapacityOptions, rows: Rows): string {
  const values = readClusterValues(rows, readReplaced(options.set));
  const scenarios = readScenarios(options);
  if (options.within !== undefined) {
    const minutes = readWhole('within', options.within, [1, 100_000]);
    const found = scenarios.map((scenario) => findSmallest(scenario, { values, withinSeconds: minutes * 60 }));
    const plans = found.filter((plan) => plan !== undefined);
    const table = plans.length === 0 ? '' : presentTable(plans);
    const rest = found.length - plans.length;
    return rest === 0
      ? table
      : `${table}no number of workers ends ${rest} of ${found.length} within ${minutes} minutes\n`;
  }
  const plans = scenarios.map((scenario) => planCampaign(scenario, values));
  if (options.json) return `${JSON.stringify(plans)}\n`;
  return plans.length === 1 ? presentReport(plans[0]!) : presentTable(plans);
}

const { workerChunks, windowDevices, databaseConnections } = settings;

/** Returns one scenario for each number of devices. @throws UsageError */
export function readScenarios(options: CapacityOptions): Scenario[] {
  type Key = keyof CapacityOptions;
  const whole = (name: Key, bounds: Bounds): number => readWhole(name, String(options[name]), bounds);
  const setting = (name: Key, row: { minimum: number; maximum: number; default: number }): number =>
    options[name] === undefined ? row.default : whole(name, [row.minimum, row.maximum]);
  const { providers, mix, retry } = options;
  if (providers !== 'real' && providers !== 'unlimited')
    throw new UsageError(`--providers is real or unlimited, not ${providers}`);
  const workers = whole('database-workers', [0, 256]);
  const cores = whole('database-cores', [1, 1_024]);
  const workerCores = whole('database-worker-cores', [1, 1_024]);
  const database: DatabaseShape =
    workers === 0 ? { kind: 'single', cores } : { kind: 'citus', workers, coordinatorCores: cores, workerCores };
  const scenario: Omit<Scenario, 'devices'> = {
    ...{ providers, database, shares: readShares(mix), retryShare: readShare('retry', retry) },
    nodes: whole('nodes', [1, 1_000]),
    nodeCores: whole('node-cores', [1, 256]),
    parallelChunks: setting('chunks', workerChunks),
    windowDevices: setting('window', windowDevices),
    apiNodes: whole('api-nodes', [0, 1_000]),
    connectionsPerNode: setting('connections', databaseConnections),
    maxConnections: whole('max-connections', [1, 100_000]),
    sharedHostCores: undefined,
    perMinute: options['fcm-per-minute'] === undefined ? {} : { ANDROID: whole('fcm-per-minute', [1, 1_000_000_000]) },
  };
  return options.devices
    .split(',')
    .map((devices) => ({ ...scenario, devices: readWhole('devices', devices, [1, 10_000_000_000]) }));
}

type Bounds = readonly [from: number, to: number];

function readWhole(name: string, value: string, [from, to]: Bounds): number {
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (!(number >= from && number <= to))
    throw new UsageError(`--${name} is a whole number from ${from} to ${to}, not ${value}`);
  return number;
}

function readShare(name: string, value: string): number {
  const number = /^[\d.]{1,12}$/.test(value) ? Number(value) : Number.NaN;
  // If all requests failed, the campaign would never end.
  if (!(number >= 0 && number <= 0.9)) throw new UsageError(`--${name} is a share from 0 to 0.9, not ${value}`);
  return number;
}

function readShares(mix: string): ByPlatform {
  const parts = mix.split(',').map((part) => (/^[\d.]{1,12}$/.test(part) ? Number(part) : Number.NaN));
  const sum = parts.reduce((all, part) => all + part, 0);
  if (parts.length !== platforms.length || !(Math.abs(sum - 100) < 1e-6))
    throw new UsageError(`--mix is three numbers that make 100 (Android, iOS, web), not ${mix}`);
  const [ANDROID, IOS, WEB] = parts.map((part) => part / 100) as [number, number, number];
  return { ANDROID, IOS, WEB };
}

function readReplaced(text: string): ReadonlyMap<string, number> {
  const pairs = text.split(',').filter((pair) => pair !== '');
  return new Map(
    pairs.map((pair) => {
      const [name, value = ''] = pair.split('=', 2) as [string, string?];
      if (!valueNames.includes(name)) throw new UsageError(`--set knows no ${name}; it knows ${valueNames.join(', ')}`);
      if (!/^[\d.]{1,20}$/.test(value) || !Number.isFinite(Number(value)))
        throw new UsageError(`--set takes name=number, not ${pair}`);
      return [name, Number(value)];
    }),
  );
}
