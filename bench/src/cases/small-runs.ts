import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Platform } from '../../../server/src/domain/content/content.ts';
import { openDatabase } from '../../../server/src/storage/database.ts';
import type { Database } from '../../../server/src/storage/database.ts';
import { readProcessSeconds, readServerSeconds } from '../../../server/test/rig/processor-time.ts';
import type { Bench } from '../kit/bench.ts';
import { insertDevices, startInstallation } from '../kit/installation.ts';
import type { Installation } from '../kit/installation.ts';

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
};

const lookMilliseconds = 25;
/** A process that has just started is not idle yet. */
const settleMilliseconds = 2_000;
const maxRunMilliseconds = 600_000;

/** Opens one installation for all runs: PostgreSQL with its durable settings, a node of role `api`, and the simulators. */
export async function openSmallRuns(bench: Pick<Bench, 'defer' | 'makeFolder'>): Promise<SmallRuns> {
  const path = await bench.makeFolder();
  const options = { devices: 0, windowDevices: 250, parallelChunks: 4 };
  const bundle = await startInstallation(bench, { ...options, folder: { path, remove: () => Promise.resolve() } });
  const superuser = await countStatements(bundle, path);
  bench.defer(() => superuser.end());
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
    try {
      return await work(() => readUsage(superuser, workerPids));
    } finally {
      await Promise.all(started.map((worker) => bundle.endWorker(worker, 'SIGTERM')));
    }
  }

  async function sendOnce(run: SmallRun): Promise<number> {
    sent += 1;
    const begin = performance.now();
    const campaignId = await bundle.pushToAll(`Bench ${sent}`);
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
  };
}

/** The extension is part of PostgreSQL, but must be loaded at its start. */
export async function countStatements(bundle: Installation, folder: string): Promise<Database> {
  const passwords = JSON.parse(await readFile(join(folder, 'postgres', 'passwords.json'), 'utf8')) as {
    superuser: string;
  };
  const url = new URL(bundle.databaseUrl);
  [url.username, url.password, url.pathname] = ['postgres', passwords.superuser, '/carillon'];
  const superuser = openDatabase({ url: url.href, connections: 2, name: 'bench' });
  await superuser`alter system set shared_preload_libraries = 'pg_stat_statements'`;
  for (const setting of ['track_utility', 'track_planning'])
    await superuser.unsafe(`alter system set pg_stat_statements.${setting} = 'on'`).catch(() => {});
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

/** Cumulative usage; results are differences of two readings. */
export type Usage = {
  atMilliseconds: number;
  workerThreadSeconds: number;
  workerOtherSeconds: number;
  databaseSeconds: number;
  simulatorSeconds: number;
  walBytes: number;
  statements: number;
  /** Statements that open a window; the one that closes it does not read a run. */
  windows: number;
  statementMilliseconds: number;
  pageMilliseconds: number;
};

/**
 * Reads processor time from the kernel's accounting, which other work on the machine does not change, and the rest from
 * PostgreSQL's. As a superuser, to distinguish the measuring connection from the workers.
 */
async function readUsage(superuser: Database, workerPids: readonly number[]): Promise<Usage> {
  const workerThreadSeconds = sum(await Promise.all(workerPids.map(readMainThreadSeconds)));
  const workerSeconds = sum(await Promise.all(workerPids.map(readProcessSeconds)));
  const { user, system } = process.cpuUsage();
  const [row] = await superuser<Omit<Usage, `${string}Seconds` | 'atMilliseconds'>[]>`
    select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as "walBytes",
      coalesce(sum(calls), 0)::float8 as statements,
      coalesce(sum(calls) filter (where query like '%set window_opened_at = $%from runs%'), 0)::float8 as windows,
      coalesce(sum(total_exec_time), 0)::float8 as "statementMilliseconds",
      coalesce(sum(total_exec_time) filter (where query like '%from devices%' and query like '%as position%'), 0)::float8
        as "pageMilliseconds"
    from pg_stat_statements where userid <> (select oid from pg_roles where rolname = current_user)`;
  return {
    atMilliseconds: performance.now(),
    workerThreadSeconds,
    workerOtherSeconds: workerSeconds - workerThreadSeconds,
    databaseSeconds: await readServerSeconds(superuser),
    simulatorSeconds: (user + system) / 1e6,
    ...row!,
  };
}

function usedBetween(before: Usage, after: Usage): Usage {
  const names = Object.keys(after) as (keyof Usage)[];
  return Object.fromEntries(names.map((name) => [name, after[name] - before[name]])) as Usage;
}

async function readMainThreadSeconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/task/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  // User and system time, in the kernel's hundredths of a second.
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}
