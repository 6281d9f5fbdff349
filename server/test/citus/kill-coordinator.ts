/**
 * What a window changes must be stored together although it lies on two machines: outcomes, counters and cursor on a
 * worker of the cluster, the chunk on its coordinator. The coordinator is killed in the middle of campaigns, its own
 * commits held up so that many a kill falls between the worker's and its own. Ends with 1 when a promise was broken.
 *
 * Usage: npm run test:coordinator -- --kills 20 --devices 8000 --seed 1
 */
import { parseArgs } from 'node:util';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { distributeDatabase } from '../../src/start/distribute-database.ts';
import { openDatabase } from '../../src/storage/database.ts';
import { auditRun, findBrokenPromises } from '../torture/audit-run.ts';
import { pickOccurrences } from '../torture/pick-moments.ts';
import type { KillableDatabase } from '../torture/start-killable-database.ts';
import { openTortureBundle } from '../torture/torture-bundle.ts';
import type { TortureBundle } from '../torture/torture-bundle.ts';
import { findCitus } from './find-citus.ts';
import { startCitusCluster } from './start-citus-cluster.ts';
import type { CitusCluster } from './start-citus-cluster.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    devices: { type: 'string', default: '8000' },
    seed: { type: 'string', default: '1' },
  },
});
const [kills, devices, seed] = [values.kills, values.devices, values.seed].map(Number) as [number, number, number];
if (![kills, devices, seed].every((number) => Number.isSafeInteger(number) && number >= 1)) {
  process.stderr.write('test:coordinator: --kills, --devices and --seed take whole numbers from 1\n');
  process.exit(2);
}
const programs = findCitus();
if (programs === undefined) {
  process.stdout.write('Skipped: there is no Citus on this machine; npm run test:citus builds it.\n');
  process.exit(0);
}
const name = 'carillon';
const [owner, application, across] = ['carillon_owner', 'carillon_app', 'carillon_app_across'];
const coordinatorSettings = {
  synchronous_commit: 'on',
  // Between the worker's commit and the coordinator's own.
  commit_delay: '50000',
  commit_siblings: '0',
  // What was prepared on several workers is decided soon after the coordinator is back.
  'citus.recover_2pc_interval': '1s',
};

// Windows of one bucket are committed on one worker; those of several in two phases.
const isKept = [await sendUnderKills({ windowDevices: 20 }), await sendUnderKills({ windowDevices: 250 })];
process.exit(isKept.every(Boolean) ? 0 : 1);

async function sendUnderKills({ windowDevices }: { windowDevices: number }): Promise<boolean> {
  const cluster = await startCitusCluster(programs!, { workers: 2, coordinatorSettings });
  const options = { seed, devices, rounds: kills, windowDevices, parallelChunks: 4 };
  const bundle = await openTortureBundle({ ...options, startDatabase: () => prepareCluster(cluster) });
  let between = 0;
  try {
    await bundle.importDevices();
    for (let number = 0; number < 2; number += 1) await bundle.startWorker();
    const campaignId = await bundle.pushToAll(`Torture: the coordinator is killed, windows of ${windowDevices}`);
    for (const occurrence of pickOccurrences(bundle)) {
      await bundle.waitForReached(occurrence);
      await bundle.killDatabase();
      between += await countStoredInBetween(bundle);
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const numbers = { ...audit, kills, between, counters: await countMismatches(bundle) };
    const broken = [
      ...findBrokenPromises(audit, run),
      ...(numbers.counters === 0 ? [] : ['each counter is what the ledger has in its bucket']),
    ];
    process.stdout.write(`\nwindows of ${windowDevices}\n`);
    for (const [label, number] of Object.entries(numbers)) process.stdout.write(`  ${label.padEnd(28)}${number}\n`);
    for (const promise of broken) process.stdout.write(`  BROKEN: ${promise}\n`);
    return broken.length === 0;
  } finally {
    await bundle.stop();
  }
}

/** Windows that are stored and whose chunk has not heard of it: the coordinator died before its own commit. */
async function countStoredInBetween({ database }: TortureBundle): Promise<number> {
  for (;;) {
    const rows = await Promise.all([
      database<{ runId: string; bucket: number; position: string }[]>`
        select run_id as "runId", window_bucket as bucket, window_position as position
        from chunks where window_opened_at is not null`,
      database<{ runId: string; bucket: number; position: string }[]>`
        select run_id as "runId", bucket, position from run_cursors`,
    ]).catch(() => undefined);
    if (rows === undefined) continue;
    const keyOf = (row: { runId: string; bucket: number; position: string }): string =>
      `${row.runId} ${row.bucket} ${row.position}`;
    const stored = new Set(rows[1].map(keyOf));
    return rows[0].filter((row) => stored.has(keyOf(row))).length;
  }
}

/** Counters that are not what the ledger has, by run, bucket, platform and outcome. */
async function countMismatches({ database }: TortureBundle): Promise<number> {
  const [row] = await database<{ mismatches: number }[]>`
    select count(*) as mismatches
    from (select run_id, bucket, platform, outcome, sum(devices) as devices from run_counts group by 1, 2, 3, 4) as counts
    full join (select run_id, bucket, platform, outcome, count(*) as devices from deliveries group by 1, 2, 3, 4) as ledger
      using (run_id, bucket, platform, outcome)
    where coalesce(counts.devices, 0) <> coalesce(ledger.devices, 0)`;
  return row!.mismatches;
}

/** A distributed database, as docs/cluster.md makes one. */
async function prepareCluster(cluster: CitusCluster): Promise<KillableDatabase> {
  const servers = [cluster.url, ...cluster.workerUrls];
  const urlOf = (server: string, role: string): string => {
    const url = new URL(server);
    [url.username, url.pathname] = [role, `/${name}`];
    return url.href;
  };
  for (const server of servers) {
    await inDatabase(server, async (database) => {
      for (const role of [`${owner} login`, `${application} login noinherit`, `${across} login bypassrls`])
        await database.unsafe(`create role ${role}`);
      await database.unsafe(`grant ${across} to ${application}`);
      await database.unsafe(`create database ${name} owner ${owner}`);
    });
  }
  const ownerUrl = urlOf(cluster.url, owner);
  await prepareDatabase(ownerUrl, { application });
  for (const server of servers)
    await inDatabase(urlOf(server, 'postgres'), async (database) => void (await database`create extension citus`));
  await inDatabase(urlOf(cluster.url, 'postgres'), async (database) => {
    const { hostname, port } = new URL(cluster.url);
    await database`select citus_set_coordinator_host(${hostname}, ${Number(port)})`;
    for (const worker of cluster.workerUrls)
      await database`select citus_add_node(${new URL(worker).hostname}, ${Number(new URL(worker).port)})`;
  });
  await distributeDatabase(ownerUrl, { shards: 8, onStep: () => {} });
  return {
    url: urlOf(cluster.url, application),
    ownerUrl,
    killAndRestart: () => cluster.killCoordinator(),
    restartEnded: async () => false,
    stop: () => cluster.stop(),
  };
}

async function inDatabase(
  url: string,
  work: (database: ReturnType<typeof openDatabase>) => Promise<void>,
): Promise<void> {
  const database = openDatabase({ url, connections: 1, name: 'coordinator torture' });
  try {
    await work(database);
  } finally {
    await database.end({ timeoutSeconds: 5 });
  }
}
