import { open, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import type { Platform } from '../../../server/src/domain/content/content.ts';
import { lastIdAt } from '../../../server/src/domain/ids.ts';
import { bucketCount } from '../../../server/src/domain/users/users.ts';
import { countAudiencePlatforms } from '../../../server/src/storage/campaigns/audience-groups.ts';
import { openDatabase, withSession } from '../../../server/src/storage/database.ts';
import type { Database, Queryable } from '../../../server/src/storage/database.ts';
import { findCitus } from '../../../server/test/rig/citus-cluster.ts';
import type { CitusPrograms } from '../../../server/test/rig/citus-cluster.ts';
import { startCitusCluster } from '../../../server/test/rig/citus-cluster.ts';
import { readProcessSeconds } from '../../../server/test/rig/processor-time.ts';
import { compareRuns, predictRun, presentComparisons } from '../capacity/report.ts';
import { byPlatform, platforms, readClusterValues, readValuesFile, valuesPath } from '../capacity/values.ts';
import type { ClusterValues, RecordedRun, RunFigures, ValuesFile } from '../capacity/values.ts';
import { median } from '../kit/bench.ts';
import type { Bench, Case } from '../kit/bench.ts';
import { fitCosts } from './fit-costs.ts';
import type { CalibrationRun, Rest } from './fit-costs.ts';
import { openSmallRuns } from './small-runs.ts';
import type { SmallRun, SmallRuns, Usage } from './small-runs.ts';

const rounds = 3;
const restSeconds = 5;
const flushes = 200;

/**
 * Measures the values by small campaigns of each platform, with large and with small windows. It also sends other campaigns,
 * which are not used for the values, to compare predictions with. The first kind is sent before and after the others: a shared
 * machine is a quarter faster at one time than some minutes later. Needs Linux, and PostgreSQL with Citus for the values of a
 * coordinator. Takes five minutes; nothing else should run meanwhile.
 */
export const clusterValuesCase: Case<'cluster-values', SmallRuns> = {
  prepare: openSmallRuns,

  async run(bench, runs) {
    const { compare, record } = bench.options;
    const file = compare ? await readValuesFile() : await measureValues(bench, runs);
    const recorded = compare ? await recordRuns(bench, runs) : file.runs;
    bench.say(`values of ${file.measuredAt}, ${file.machine}`);
    const comparisons = compareRuns(recorded, readClusterValues(file.values));
    for (const line of presentComparisons(comparisons)) bench.say(line);
    if (compare && !comparisons.every(({ isClose }) => isClose)) bench.fail();
    if (record && !compare) await writeFile(valuesPath, `${JSON.stringify(file, null, 2)}\n`);
  },
};

/** Returns the recorded file with the values and campaigns of this machine; values that are assumed stay. */
async function measureValues(bench: Bench<'cluster-values'>, runs: SmallRuns): Promise<ValuesFile> {
  const citus = findCitus();
  if (!citus && bench.options.record)
    throw new Error('--record needs PostgreSQL with Citus, as npm run test:citus does');
  bench.say(citus ? 'what passing on costs a coordinator' : 'no Citus here: the values of a coordinator stay');
  const coordinator = citus ? await measureCoordinator(citus) : {};
  const before = await calibrate(bench, runs);
  bench.say('campaigns to compare with');
  const recorded = await recordRuns(bench, runs);
  const after = await calibrate(bench, runs);
  const { values: rows } = await readValuesFile();
  const replace = (measured: Record<string, number>): ValuesFile['values'] =>
    Object.fromEntries(
      Object.entries(rows).map(([name, row]) => [name, { ...row, value: rounded(measured[name] ?? row.value) }]),
    );
  const costs = { ...joinCosts(before, after), ...coordinator, flushMilliseconds: await measureFlush(runs.folder) };
  const startMilliseconds = await measureStart(runs, readClusterValues(replace({ ...costs, startMilliseconds: 0 })));
  return {
    command: 'npm run bench -- cluster-values --record',
    measuredAt: new Date().toISOString().slice(0, 10),
    machine: `${availableParallelism()} × ${cpus()[0]!.model.trim()}`,
    versions: await readVersions(runs),
    values: replace({ ...costs, startMilliseconds }),
    runs: recorded,
  };
}

type Calibration = Parameters<typeof fitCosts>[0] & { countedMillisecondsPerMillion: number };

async function calibrate({ say, options }: Bench<'cluster-values'>, runs: SmallRuns): Promise<Calibration> {
  const { devices } = options;
  say('a worker that has nothing to send');
  const nobody = await runs.rest({ workers: 0, seconds: restSeconds });
  const one = await runs.rest({ workers: 1, seconds: restSeconds });
  const send = async (platform: Platform, windowDevices: number): Promise<CalibrationRun> => {
    say(`${devices} devices of ${platform} in windows of ${windowDevices}`);
    const small = { workers: 1, devices, platforms: [platform], parallelChunks: 4, windowDevices };
    return { platform, devices, rounds: await runs.send(small, rounds) };
  };
  const large = [await send('ANDROID', 250), await send('IOS', 250), await send('WEB', 250)];
  const small = await send('ANDROID', 25);
  return {
    large,
    small,
    rest: { nobody, one, seconds: restSeconds },
    countedMillisecondsPerMillion: ((await measureCounting(runs)) / devices) * 1e6,
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
  return {
    ...fitCosts({
      large: before.large.map((run, index) => joined(run, after.large[index]!)),
      small: joined(before.small, after.small),
      rest,
    }),
    startMillisecondsPerMillionDevices:
      (before.countedMillisecondsPerMillion + after.countedMillisecondsPerMillion) / 2,
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

/** Measures a campaign of one window, minus the predicted time of the window. */
async function measureStart(runs: SmallRuns, values: ClusterValues): Promise<number> {
  const run = { workers: 1, devices: 200, parallelChunks: 4, windowDevices: 250 };
  const measured = await runs.send({ ...run, platforms: ['ANDROID'] }, rounds);
  const shares = byPlatform((platform) => Number(platform === 'ANDROID'));
  const predicted = predictRun({ ...run, shares, cores: availableParallelism() }, values);
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

const all: readonly Platform[] = ['ANDROID', 'IOS', 'WEB'];

/** Campaigns that are not used for the values: other numbers of workers, devices and chunks, and mixed platforms. */
function validationRuns(devices: number): SmallRun[] {
  const usual = { parallelChunks: 4, windowDevices: 250 };
  return [
    { workers: 1, devices: devices * 2, platforms: ['ANDROID'], ...usual },
    { workers: 2, devices: devices * 2, platforms: ['ANDROID'], ...usual },
    { workers: 1, devices: devices * 1.5, platforms: all, ...usual },
    { workers: 2, devices: devices * 1.5, platforms: all, ...usual },
    { workers: 1, devices, platforms: ['IOS'], parallelChunks: 2, windowDevices: 100 },
  ];
}

/** Sends each campaign several times, and records the median of each figure. */
async function recordRuns({ options }: Bench<'cluster-values'>, runs: SmallRuns): Promise<RecordedRun[]> {
  const recorded: RecordedRun[] = [];
  for (const run of validationRuns(options.devices)) recorded.push(await recordRun(runs, run));
  return recorded;
}

async function recordRun(runs: SmallRuns, run: SmallRun): Promise<RecordedRun> {
  const measured = (await runs.send(run, rounds)).map((round): RunFigures => ({
    seconds: round.seconds,
    workerCpuSeconds: round.workerThreadSeconds + round.workerOtherSeconds,
    databaseCpuSeconds: round.databaseSeconds,
    walBytes: round.walBytes,
    statements: round.statements,
  }));
  const { workers, devices, platforms, parallelChunks, windowDevices } = run;
  const middle = (figure: keyof RunFigures): number =>
    Number(median(measured.map((round) => round[figure])).toPrecision(4));
  return {
    name: `${workers} ${workers === 1 ? 'worker' : 'workers'}, ${devices} devices (${platforms.join(', ')}), ${parallelChunks} chunks, windows of ${windowDevices}`,
    ...{ workers, devices, parallelChunks, windowDevices },
    shares: byPlatform((platform) => (platforms.includes(platform) ? 1 / platforms.length : 0)),
    cores: availableParallelism(),
    measured: {
      seconds: middle('seconds'),
      workerCpuSeconds: middle('workerCpuSeconds'),
      databaseCpuSeconds: middle('databaseCpuSeconds'),
      walBytes: middle('walBytes'),
      statements: middle('statements'),
    },
  };
}

const passedStatements = 2_000;
const storedWindows = 60;
const windowDevices = 250;
const shards = 32;

/**
 * Measures what forwarding costs a coordinator: the processor time of its process for statements that change one row of a
 * shard, and for windows of rows that are stored in one. Uses a separate cluster on this machine.
 */
async function measureCoordinator(programs: CitusPrograms): Promise<Record<string, number>> {
  const cluster = await startCitusCluster(programs, { workers: 1 });
  try {
    for (const url of cluster.workerUrls) await onDatabase(url, (worker) => worker`create extension citus`);
    return await onDatabase(cluster.url, async (coordinator) => {
      await makeLedger(coordinator, cluster);
      return withSession(coordinator, measurePassing);
    });
  } finally {
    await cluster.stop();
  }
}

async function onDatabase<Result>(url: string, work: (database: Database) => PromiseLike<Result>): Promise<Result> {
  const database = openDatabase({ url, connections: 1, name: 'bench' });
  try {
    return await work(database);
  } finally {
    await database.end({ timeoutSeconds: 5 });
  }
}

/** Rows as wide as the ledger's, with the same buckets. */
async function makeLedger(
  coordinator: Database,
  { url, workerUrls }: { url: string; workerUrls: readonly string[] },
): Promise<void> {
  await coordinator`create extension citus`;
  const own = new URL(url);
  await coordinator`select citus_set_coordinator_host(${own.hostname}, ${Number(own.port)})`;
  for (const { hostname, port } of workerUrls.map((worker) => new URL(worker)))
    await coordinator`select citus_add_node(${hostname}, ${Number(port)})`;
  await coordinator`
    create table ledger (bucket smallint, run_id text, device_id text, user_id text, outcome text, sent_at timestamptz,
      primary key (bucket, run_id, device_id))`;
  await coordinator`select create_distributed_table('ledger', 'bucket', shard_count => ${shards})`;
}

async function measurePassing(session: Queryable): Promise<Record<string, number>> {
  const [row] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const microseconds = async (work: () => Promise<void>): Promise<number> => {
    const before = await readProcessSeconds(row!.pid);
    await work();
    return ((await readProcessSeconds(row!.pid)) - before) * 1e6;
  };
  // Opens a connection and a plan for each shard before the measurement starts.
  for (let bucket = 0; bucket < bucketCount; bucket += 1) await storeWindow(session, { bucket, devices: 2 });
  const ofStatements = await microseconds(async () => {
    for (let number = 0; number < passedStatements; number += 1)
      await session`
        update ledger set outcome = 'GONE'
        where bucket = ${number % bucketCount}::smallint and run_id = 'run' and device_id = '0'`;
  });
  const perStatement = ofStatements / passedStatements;
  const ofWindows = await microseconds(async () => {
    for (let bucket = 0; bucket < storedWindows; bucket += 1)
      await storeWindow(session, { bucket, devices: windowDevices });
  });
  return {
    coordinatorMicrosecondsPerStatement: perStatement,
    coordinatorMicrosecondsPerDevice: Math.max(0, ofWindows / storedWindows - perStatement) / windowDevices,
  };
}

async function storeWindow(
  session: Queryable,
  { bucket, devices }: { bucket: number; devices: number },
): Promise<void> {
  const ids = Array.from({ length: devices }, (_, device) => String(device));
  await session`
    insert into ledger (bucket, run_id, device_id, user_id, outcome, sent_at)
    select ${bucket}::smallint, 'run', row.id, row.user_id, 'ACCEPTED', now()
    from unnest(${ids}::text[], ${ids.map((id) => id.padStart(24, '0'))}::text[]) as row (id, user_id)
    on conflict (bucket, run_id, device_id) do nothing`;
}
