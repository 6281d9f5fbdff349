import { open } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { findCitus } from '../../../server/test/rig/citus-cluster.ts';
import { lastIdAt } from '../../../server/src/domain/ids.ts';
import { countAudiencePlatforms } from '../../../server/src/storage/campaigns/audience-groups.ts';
import type { Platform } from '../../../server/src/domain/content/content.ts';
import { median } from '../median.ts';
import { readClusterValues } from './cluster-values.ts';
import type { ValuesFile } from './cluster-values.ts';
import { compareRuns, predictRun } from './compare-runs.ts';
import { fitCosts } from './fit-costs.ts';
import type { CalibrationRun, Rest } from './fit-costs.ts';
import { measureCoordinator } from './measure-coordinator.ts';
import { presentComparisons } from './present-comparisons.ts';
import { OptionError } from './read-options.ts';
import { recordRuns, validationRuns } from './record-runs.ts';
import { byPlatform, platforms } from './scenario.ts';
import type { Usage } from './read-usage.ts';
import { openSmallRuns } from './small-runs.ts';
import type { SmallRuns } from './small-runs.ts';
import { assumedValues, valueTable } from './value-table.ts';

const calibrationDevices = 20_000;
const rounds = 3;
const restSeconds = 5;
const flushes = 200;

export type MeasureClusterOptions = {
  say: (line: string) => void;
  /** Stores the values, and the campaigns to compare with. */
  record: (file: ValuesFile) => Promise<void>;
};

/**
 * Measures the values by small campaigns of each platform, with large and with small windows. It also sends other campaigns,
 * which are not used for the values, to compare the simulation with. The first kind is sent before and after the others: a
 * shared machine is a quarter faster at one time than some minutes later. Takes five minutes; nothing else should run
 * meanwhile.
 */
export async function measureCluster({ say, record }: MeasureClusterOptions): Promise<void> {
  const citus = findCitus();
  if (!citus) throw new OptionError('--measure needs PostgreSQL with Citus, as npm run test:citus does');
  const runs = await openSmallRuns();
  try {
    say('what passing on costs a coordinator');
    const coordinator = await measureCoordinator(citus);
    const before = await calibrate(runs, say);
    say('campaigns to compare with');
    const recorded = await recordRuns(runs, validationRuns());
    const after = await calibrate(runs, say);
    const flushMilliseconds = await measureFlush(runs.folder);
    const measured = { ...joinCosts(before, after), flushMilliseconds, ...coordinator, ...assumedValues };
    const values: Record<string, number> = {
      ...measured,
      startMilliseconds: await measureStart(runs, { ...measured, startMilliseconds: 0 }),
    };
    const file: ValuesFile = {
      command: 'npm run simulate -- --measure',
      measuredAt: new Date().toISOString().slice(0, 10),
      machine: `${availableParallelism()} × ${cpus()[0]!.model.trim()}`,
      versions: await readVersions(runs),
      values: Object.fromEntries(
        Object.entries(valueTable).map(([name, row]) => [name, { value: rounded(values[name]!), ...row }]),
      ),
      runs: recorded,
    };
    await record(file);
    for (const line of presentComparisons(compareRuns(recorded, readClusterValues(file.values, new Map())))) say(line);
  } finally {
    await runs.stop();
  }
}

type Calibration = Parameters<typeof fitCosts>[0] & { countedMilliseconds: number };

async function calibrate(runs: SmallRuns, say: (line: string) => void): Promise<Calibration> {
  say('a worker that has nothing to send');
  const nobody = await runs.rest({ workers: 0, seconds: restSeconds });
  const one = await runs.rest({ workers: 1, seconds: restSeconds });
  const send = async (platform: Platform, windowDevices: number): Promise<CalibrationRun> => {
    say(`${calibrationDevices} devices of ${platform} in windows of ${windowDevices}`);
    const small = { workers: 1, devices: calibrationDevices, platforms: [platform], parallelChunks: 4, windowDevices };
    return { platform, devices: calibrationDevices, rounds: await runs.send(small, rounds) };
  };
  const large = [await send('ANDROID', 250), await send('IOS', 250), await send('WEB', 250)];
  const small = await send('ANDROID', 25);
  return {
    large,
    small,
    rest: { nobody, one, seconds: restSeconds },
    countedMilliseconds: await measureCounting(runs),
  };
}

/** Returns the costs from the rounds of both calibrations. */
function joinCosts(before: Calibration, after: Calibration): Record<string, number> {
  const joined = (one: CalibrationRun, other: CalibrationRun): CalibrationRun => ({
    ...one,
    rounds: [...one.rounds, ...other.rounds],
  });
  const sum = (one: Usage, other: Usage): Usage =>
    Object.fromEntries(Object.entries(one).map(([name, used]) => [name, used + other[name as keyof Usage]])) as Usage;
  const rest: Rest = {
    nobody: sum(before.rest.nobody, after.rest.nobody),
    one: sum(before.rest.one, after.rest.one),
    seconds: before.rest.seconds + after.rest.seconds,
  };
  const counted = (before.countedMilliseconds + after.countedMilliseconds) / 2;
  return {
    ...fitCosts({
      large: before.large.map((run, index) => joined(run, after.large[index]!)),
      small: joined(before.small, after.small),
      rest,
    }),
    startMillisecondsPerMillionDevices: (counted / calibrationDevices) * 1e6,
  };
}

/** Measures how long it takes to count an audience whose devices are in memory. */
async function measureCounting({ superuser }: SmallRuns): Promise<number> {
  const [workspace] = await superuser<{ id: string }[]>`select workspace_id as id from devices limit 1`;
  const asked = {
    workspaceId: workspace!.id,
    platforms,
    iosProvisional: null,
    segment: undefined,
    bound: lastIdAt(new Date()),
  };
  await countAudiencePlatforms(superuser, asked);
  const begin = performance.now();
  await countAudiencePlatforms(superuser, asked);
  return performance.now() - begin;
}

/** Measures a campaign of one window, minus the simulated time of the window. */
async function measureStart(runs: SmallRuns, values: Record<string, number>): Promise<number> {
  const devices = 200;
  const run = { workers: 1, devices, parallelChunks: 4, windowDevices: 250 };
  const measured = await runs.send({ ...run, platforms: ['ANDROID'] }, rounds);
  const rows = Object.fromEntries(Object.keys(valueTable).map((name) => [name, { value: values[name]! }]));
  const shares = byPlatform((platform) => (platform === 'ANDROID' ? 1 : 0));
  const predicted = predictRun({ ...run, shares, cores: availableParallelism() }, readClusterValues(rows, new Map()));
  return Math.max(0, (median(measured.map(({ seconds }) => seconds)) - predicted.seconds) * 1000);
}

async function measureFlush(folder: string): Promise<number> {
  const file = await open(join(folder, 'flushes'), 'w');
  const block = Buffer.alloc(8_192, 1);
  const times: number[] = [];
  try {
    for (let flush = 0; flush < flushes; flush += 1) {
      const begin = performance.now();
      await file.write(block);
      await file.datasync();
      times.push(performance.now() - begin);
    }
  } finally {
    await file.close();
  }
  return median(times);
}

async function readVersions({ superuser }: SmallRuns): Promise<string> {
  const [row] = await superuser<{ version: string }[]>`select split_part(version(), ' on ', 1) as version`;
  return `Node ${process.version}, ${row!.version}`;
}

function rounded(value: number): number {
  return Number(value.toPrecision(4));
}
