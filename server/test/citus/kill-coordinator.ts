/**
 * What a window changes must be stored together although it lies on two machines: outcomes, counters and cursor on a
 * worker of the cluster, the chunk on its coordinator. The coordinator is killed in the middle of campaigns, its own
 * commits held up and one that is under way waited for, so that most kills fall between what a worker has prepared and the
 * coordinator's own commit. Each campaign is sent until so many kills did. Ends with 1 when a promise was broken.
 *
 * Usage: npm run test:coordinator -- --kills 20 --devices 8000 --seed 1
 */
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { auditRun, findMiscounts, findBrokenPromises } from '../rig/audit.ts';
import { findCitus, startKillableCluster } from '../rig/citus-cluster.ts';
import { openTortureBundle } from '../rig/installation.ts';
import type { TortureBundle } from '../rig/installation.ts';
import { pickOccurrences } from '../rig/random.ts';
import { brokenOf, describeReport, readNumbers } from '../rig/report.ts';

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '20' },
    devices: { type: 'string', default: '8000' },
    seed: { type: 'string', default: '1' },
  },
});
const { kills, devices, seed } = readNumbers(
  { kills: values.kills, devices: values.devices, seed: values.seed },
  { command: 'test:coordinator' },
);
const programs = findCitus();
if (programs === undefined) {
  process.stdout.write('Skipped: there is no Citus on this machine; npm run test:citus builds it.\n');
  process.exit(0);
}
// Between the worker's commit and the coordinator's own; a server that does not flush does not wait before it either.
const coordinatorSettings = { fsync: 'on', commit_delay: '100000', commit_siblings: '0' };
const maxMillisecondsAfterPrepared = 100;
/** Looks for a commit that is under way, a few milliseconds each; where none comes the coordinator is killed all the same. */
const maxLooks = 200;
/** Of the kills that are made at random, so many fall between at least, or the run ends and says that they did not. */
const killsPerHit = 3;

// Windows of one bucket are committed on one worker; those of several in two phases.
const isKept = [await sendUnderKills({ windowDevices: 20 }), await sendUnderKills({ windowDevices: 250 })];
process.exit(isKept.every(Boolean) ? 0 : 1);

async function sendUnderKills({ windowDevices }: { windowDevices: number }): Promise<boolean> {
  const options = { seed, devices, rounds: kills * killsPerHit, windowDevices, parallelChunks: 4 };
  const startDatabase = () => startKillableCluster(programs!, { coordinatorSettings });
  const bundle = await openTortureBundle({ ...options, startDatabase });
  const owner = openDatabase({ url: bundle.ownerUrl, connections: 1, name: 'kill-coordinator' });
  const made = { kills: 0, 'between the commits': 0, 'windows stored': 0, 'parts prepared': 0 };
  try {
    await bundle.importDevices();
    await bundle.startWorkers(2);
    const campaignId = await bundle.pushToAll(`Torture: the coordinator is killed, windows of ${windowDevices}`);
    for (const occurrence of pickOccurrences(bundle)) {
      if (made['between the commits'] === kills) break;
      await bundle.waitForReached(occurrence);
      for (let look = 0; look < maxLooks && (await readPrepared(owner).catch(() => 0)) === 0; look += 1);
      // Its own commit is held up for as long as this at most: the kill comes before it, or just behind.
      await setTimeout(bundle.random.between(0, maxMillisecondsAfterPrepared));
      // Halted until it is counted, the workers do not store again what was stored.
      for (const worker of bundle.workers) worker.process.kill('SIGSTOP');
      await bundle.killDatabase();
      const prepared = await countPrepared(bundle, owner);
      const stored = await countStoredInBetween(bundle);
      for (const worker of bundle.workers) worker.process.kill('SIGCONT');
      made.kills += 1;
      made['between the commits'] += stored > 0 || prepared > 0 ? 1 : 0;
      made['windows stored'] += stored;
      made['parts prepared'] += prepared;
    }
    const run = await bundle.waitForRunEnd(campaignId);
    const audit = await auditRun(bundle, campaignId);
    const counters = (await findMiscounts(bundle.database)).length;
    const numbers = { ...audit, ...made, counters };
    const broken = [
      ...findBrokenPromises(audit, run),
      ...brokenOf({
        'each counter is what the ledger has in its bucket': counters === 0,
        [`${kills} kills fall between the commits`]: made['between the commits'] >= kills,
      }),
    ];
    process.stdout.write(`${describeReport(`windows of ${windowDevices}`, { numbers, broken }).join('\n')}\n`);
    return broken.length === 0;
  } finally {
    await owner.end();
    await bundle.stop();
  }
}

/** Transactions of the dead coordinator that a worker has prepared, and that its log decides when it is read again. */
function countPrepared(bundle: TortureBundle, owner: Database): Promise<number> {
  return bundle.waitFor('the workers after the kill', () => readPrepared(owner).catch(() => undefined));
}

async function readPrepared(owner: Database): Promise<number> {
  const rows = await owner<{ prepared: string }[]>`
    select result as prepared from run_command_on_workers(
      'select count(*) from pg_prepared_xacts where database = current_database()')`;
  return rows.reduce((sum, { prepared }) => sum + Number(prepared), 0);
}

/** Windows that are stored and whose chunk has not heard of it: the coordinator died before its own commit. */
function countStoredInBetween(bundle: TortureBundle): Promise<number> {
  const { database } = bundle;
  return bundle.waitFor('the database after its kill', async () => {
    const rows = await Promise.all([
      database<Window[]>`
        select run_id as "runId", window_bucket as bucket, window_position as position
        from chunks where window_opened_at is not null`,
      database<Window[]>`select run_id as "runId", bucket, position from run_cursors`,
    ]).catch(() => undefined);
    if (rows === undefined) return undefined;
    const keyOf = ({ runId, bucket, position }: Window): string => `${runId} ${bucket} ${position}`;
    const stored = new Set(rows[1].map(keyOf));
    return rows[0].filter((row) => stored.has(keyOf(row))).length;
  });
}

type Window = { runId: string; bucket: number; position: string };
