import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Platform } from '../../../server/src/domain/content/content.ts';
import { openDatabase } from '../../../server/src/storage/database.ts';
import type { Database } from '../../../server/src/storage/database.ts';
import { openTortureBundle } from '../../../server/test/rig/installation.ts';
import type { TortureBundle } from '../../../server/test/rig/installation.ts';
import { insertDevices } from '../insert-devices.ts';
import { readUsage, usedBetween } from './read-usage.ts';
import type { Usage } from './read-usage.ts';

/** A campaign that is really sent, by worker processes on this machine, to the simulators of this process. */
export type SmallRun = {
  workers: number;
  devices: number;
  platforms: readonly Platform[];
  parallelChunks: number;
  windowDevices: number;
};

/** The usage of one round, from the push to the end of the run. */
export type MeasuredRound = Usage & { seconds: number };

export type SmallRuns = {
  superuser: Database;
  folder: string;
  /** Sends one round that warms up the processes, then the measured rounds. */
  send(run: SmallRun, rounds: number): Promise<MeasuredRound[]>;
  /** Returns the usage of this many workers while there is nothing to send. */
  rest(options: { workers: number; seconds: number }): Promise<Usage>;
  stop(): Promise<void>;
};

const lookMilliseconds = 25;
/** A process that has just started is not idle yet. */
const settleMilliseconds = 2_000;
const maxRunMilliseconds = 600_000;

/** Opens one installation for all runs: PostgreSQL with its durable settings, a node of role `api`, and the simulators. */
export async function openSmallRuns(): Promise<SmallRuns> {
  const path = await mkdtemp(join(tmpdir(), 'carillon-simulate-'));
  const folder = { path, remove: () => rm(path, { recursive: true, force: true }) };
  const bundle = await openTortureBundle({
    ...{ seed: 1, devices: 0, rounds: 0, windowDevices: 250, parallelChunks: 4 },
    folder,
  });
  let superuser: Database;
  try {
    superuser = await countStatements(bundle, path);
  } catch (error) {
    await bundle.stop();
    throw error;
  }
  let sent = 0;
  let inserted = '';

  async function withWorkers<Result>(
    { workers, ...run }: Pick<SmallRun, 'workers' | 'parallelChunks' | 'windowDevices'>,
    work: (observe: () => Promise<Usage>) => Promise<Result>,
  ): Promise<Result> {
    const settings = {
      CARILLON_WINDOW_DEVICES: String(run.windowDevices),
      CARILLON_WORKER_CHUNKS: String(run.parallelChunks),
    };
    const started = await Promise.all(
      Array.from({ length: workers }, () => bundle.startWorker(bundle.collector.endpoints, settings)),
    );
    const workerPids = started.map((worker) => worker.process.pid!);
    const clusterFolder = join(path, 'postgres', 'cluster');
    try {
      return await work(() => readUsage({ superuser, clusterFolder, workerPids }));
    } finally {
      await Promise.all(started.map((worker) => bundle.endWorker(worker, 'SIGTERM')));
    }
  }

  async function sendOnce(run: SmallRun): Promise<number> {
    sent += 1;
    const begin = performance.now();
    const campaignId = await bundle.pushToAll(`Simulation ${sent}`);
    await waitForEnd(superuser, campaignId);
    const seconds = (performance.now() - begin) / 1000;
    // The simulators report received messages in batches.
    await bundle.collector.settle();
    const received = bundle.collector.of(campaignId).size;
    if (received !== run.devices) throw new Error(`${received} of ${run.devices} devices were reached`);
    bundle.collector.forget();
    return seconds;
  }

  return {
    superuser,
    folder: path,
    async send(run, rounds) {
      const wanted = `${run.devices} ${run.platforms.join()}`;
      if (inserted !== wanted) await insertDevices(bundle, { ...run, users: 'without' });
      inserted = wanted;
      return withWorkers(run, async (observe) => {
        await sendOnce(run);
        const measured: MeasuredRound[] = [];
        for (let round = 0; round < rounds; round += 1) {
          const before = await observe();
          const seconds = await sendOnce(run);
          measured.push({ ...usedBetween(before, await observe()), seconds });
        }
        return measured;
      });
    },
    rest({ workers, seconds }) {
      return withWorkers({ workers, parallelChunks: 4, windowDevices: 250 }, async (observe) => {
        await setTimeout(settleMilliseconds);
        const before = await observe();
        await setTimeout(seconds * 1000);
        return usedBetween(before, await observe());
      });
    },
    async stop() {
      await superuser.end();
      await bundle.stop();
    },
  };
}

/** The extension is part of PostgreSQL, but must be loaded at its start. */
async function countStatements(bundle: TortureBundle, folder: string): Promise<Database> {
  const passwords = JSON.parse(await readFile(join(folder, 'postgres', 'passwords.json'), 'utf8')) as {
    superuser: string;
  };
  const url = new URL(bundle.databaseUrl);
  [url.username, url.password, url.pathname] = ['postgres', passwords.superuser, '/carillon'];
  const superuser = openDatabase({ url: url.href, connections: 2, name: 'simulation' });
  await superuser`alter system set shared_preload_libraries = 'pg_stat_statements'`;
  await superuser`alter system set pg_stat_statements.track_utility = 'on'`.catch(() => {});
  await bundle.killDatabase();
  await retry(() => superuser`create extension if not exists pg_stat_statements`);
  return superuser;
}

/** Retries, because connections from before the restart are lost one by one. */
async function retry(ask: () => Promise<unknown>): Promise<void> {
  const maxTries = 10;
  for (let tries = 1; ; tries += 1) {
    try {
      await ask();
      return;
    } catch (error) {
      if (tries === maxTries) throw error;
      await setTimeout(200);
    }
  }
}

async function waitForEnd(superuser: Database, campaignId: string): Promise<void> {
  const deadline = performance.now() + maxRunMilliseconds;
  for (;;) {
    const [run] = await superuser<{ status: string; isOpen: boolean }[]>`
      select status, status in ('QUEUED', 'SENDING') as "isOpen" from runs where campaign_id = ${campaignId}`;
    if (run?.status === 'SENT') return;
    if (run && !run.isOpen) throw new Error(`the run ended as ${run.status}`);
    if (performance.now() > deadline) throw new Error('the run does not end');
    await setTimeout(lookMilliseconds);
  }
}
