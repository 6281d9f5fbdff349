import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClock } from '../../src/clock.ts';
import { makeLog } from '../../src/log.ts';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { setClockOffset } from '../../src/storage/installation/installation.ts';
import { fcmPhonePrefix, fieldFaults, findFinishedRun, isAllEnded, tokenOf, watchPutOffs } from './audit.ts';
import { isDocumented, makeCaller } from './caller.ts';
import type { PushBody } from './caller.ts';
import { startCollector } from './collector.ts';
import type { CommitCutter } from './commit-cutter.ts';
import { startKillableDatabase } from './databases.ts';
import { makeRecorder, noteDevices, noteRows } from './history.ts';
import type { History, LedgerRow } from './history.ts';
import type { KillableDatabase } from './databases.ts';
import { importUsers, nodeEnvironment, startMain, startWorkerProcess } from './processes.ts';
import type { WorkerProcess } from './processes.ts';
import { makeRandom } from './random.ts';

export type TortureOptions = {
  seed: number;
  devices: number;
  /** How often something is killed. */
  rounds: number;
  windowDevices: number;
  parallelChunks: number;
  /** Notes every call, message and kill of the round. */
  history?: History | undefined;
  /** Where rounds take the installation that they share. */
  shelf?: BundleShelf;
  /** Instead of one PostgreSQL of ours; in a folder that the bundle removes in the end. */
  startDatabase?: ((folder: string) => Promise<KillableDatabase>) | undefined;
};

/** A proxy or pooler between the nodes and the database. */
export type Front = {
  /** Settings that lead the nodes through it. */
  environment: Record<string, string>;
  /** What cuts connections at their commits. */
  cutters?: readonly CommitCutter[];
  close(): Promise<void>;
};

type Folder = { path: string; remove(): Promise<void> };

export type BundleOptions = TortureOptions & {
  startFront?: (url: string) => Promise<Front>;
  /** For the database and the nodes; the bundle removes it in the end. */
  folder?: Folder;
  /** Whether the simulated providers answer as real ones do in operation (`fieldFaults` in audit.ts); they accept everything unless said. */
  answers?: 'of the field';
};

export type TortureBundle = Awaited<ReturnType<typeof openTortureBundle>>;

/** Longer than a lease, so that a worker that waits for one to end does not count as stuck. */
const maxStallMilliseconds = 150_000;

/**
 * An installation in processes that can be killed: database, one node of role `api`, workers; and the simulated
 * providers in this process, which counts what devices receive and is never killed.
 */
export function makeTortureBundle(options: BundleOptions): Promise<TortureBundle> {
  return options.shelf ? options.shelf.take(options) : openTortureBundle(options);
}

/** Opens an installation as above for some work, and ends it whatever happens. */
export async function withTortureBundle<Result>(
  options: BundleOptions,
  work: (bundle: TortureBundle) => Promise<Result>,
): Promise<Result> {
  const bundle = await makeTortureBundle(options);
  try {
    const result = await work(bundle);
    await bundle.noteEnd();
    return result;
  } finally {
    await bundle.stop();
  }
}

const addressOf = ({ platform, pushId }: LedgerRow): string | null =>
  pushId === null ? null : tokenOf({ platform, pushId });

/** Opens an installation that rounds do not share. */
export async function openTortureBundle(options: BundleOptions) {
  const folder = options.folder ?? (await makeFolder());
  const startDatabase = options.startDatabase ?? startKillableDatabase;
  const postgres = await startDatabase(join(folder.path, 'postgres'));
  try {
    return await startNodes(options, { folder, postgres });
  } catch (error) {
    await postgres.stop();
    throw error;
  }
}

async function makeFolder(): Promise<Folder> {
  const path = await mkdtemp(join(tmpdir(), 'carillon-torture-'));
  return { path, remove: () => rm(path, { recursive: true, force: true }) };
}

async function startNodes(
  options: BundleOptions,
  { folder: place, postgres }: { folder: Folder; postgres: KillableDatabase },
) {
  const folder = place.path;
  const front = await options.startFront?.(postgres.url);
  const direct = {
    ...nodeEnvironment(folder, postgres),
    CARILLON_WINDOW_DEVICES: String(options.windowDevices),
    CARILLON_WORKER_CHUNKS: String(options.parallelChunks),
  };
  const environment = { ...direct, ...front?.environment };
  const startApi = (port = '0') =>
    startMain(environment, ['--role', 'api', '--port', port, '--seed', String(options.seed)]);
  let api = await startApi();
  const { url, workspaceId } = api.line;
  const recorder = makeRecorder(options.history);
  const caller = makeCaller(api.line, () => url, recorder);

  const clock = makeClock();
  const log = makeLog({ level: 'error', pretty: false });
  const installation = await openInstallation(readConfig({ environment: direct, arguments: [] }), { clock, log });
  const database = installation.acrossWorkspaces;
  const collector = await startCollector(installation, { clock, recorder });
  const field =
    options.answers === undefined ? undefined : { putOffs: await watchPutOffs(database, postgres.ownerUrl) };
  if (field) await collector.setFaults(fieldFaults);
  const workers: WorkerProcess[] = [];
  /** Workers that a round left alive, for the next round. */
  const resting: WorkerProcess[] = [];
  /** Workers that send elsewhere, or that fail on purpose. */
  const special = new Set<WorkerProcess>();
  /** Those that were empty when the devices had been imported. */
  let empty: EmptyTables | undefined;

  const bundle = {
    ...options,
    random: makeRandom(options.seed),
    cutters: front?.cutters ?? [],
    database,
    collector,
    /** What is watched while the providers answer as in operation. */
    field,
    /** Derives the keys of the simulated browsers. */
    secret: installation.secretFor('simulator'),
    workspaceId,
    workers,
    url,
    encryption: installation.encryption,
    /** Connection strings: of the application's role, and of the one that owns the tables. */
    databaseUrl: postgres.url,
    ownerUrl: postgres.ownerUrl,
    api: () => api,
    now: () => clock.now(),

    /** People with one device each, a third of each platform, as `carillon import` loads them. */
    async importDevices(): Promise<void> {
      if (!empty) await bundle.fillTables();
      if (recorder.history()) await noteDevices(recorder, { database, addressOf, isWell: !field });
    },
    async fillTables(): Promise<void> {
      await importUsers(direct, options.devices);
      // One iPhone of sixteen is reached through Firebase.
      if (field)
        await database`
          update devices set push_provider = 'fcm', push_id = ${fcmPhonePrefix} || push_id
          where workspace_id = ${workspaceId} and platform = 'IOS' and push_id like '0%'`;
      empty = await findEmptyTables(database);
    },
    recorder,
    /** Notes what the database holds when everything has ended. */
    async noteEnd(): Promise<void> {
      if (!recorder.history()) return;
      await collector.settle();
      recorder.note({ kind: 'quiet', isStuck: !(await isAllEnded(database)) });
      await noteRows(recorder, { database, addressOf });
    },
    /** As it was when the devices had been imported. */
    async forget(): Promise<void> {
      collector.forget();
      // Each device is limited again in the next round.
      if (field) await collector.setFaults(fieldFaults);
      if (empty) await emptyTables(empty, { database, ownerUrl: postgres.ownerUrl });
    },
    async startWorker(
      endpoints: SimulatorEndpoints = collector.endpoints,
      more: Record<string, string> = {},
    ): Promise<WorkerProcess> {
      const isPlain = endpoints === collector.endpoints && Object.keys(more).length === 0;
      const rested = isPlain ? resting.pop() : undefined;
      const worker = rested ?? (await startWorkerProcess({ ...environment, ...more }, endpoints));
      if (!isPlain) special.add(worker);
      workers.push(worker);
      return worker;
    },
    async startWorkers(count: number): Promise<void> {
      for (let number = 0; number < count; number += 1) await bundle.startWorker();
    },
    /** Ends a worker process and takes it off the list of those that must live. */
    async endWorker(worker: WorkerProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
      workers.splice(workers.indexOf(worker), 1);
      recorder.note({
        kind: 'fault',
        what: signal === 'SIGKILL' ? 'kill' : 'stop',
        worker: String(worker.process.pid),
      });
      worker.process.kill(signal);
      return (await worker.exited).code;
    },
    /** Whether it had ended by itself, and was started again. */
    restartEndedDatabase: () => postgres.restartEnded(),
    async killDatabase(): Promise<void> {
      recorder.note({ kind: 'fault', what: 'database killed' });
      await postgres.killAndRestart();
    },
    async killApi(): Promise<void> {
      recorder.note({ kind: 'fault', what: 'api killed' });
      api.process.kill('SIGKILL');
      await api.exited;
    },
    /** On the port it had, so that its callers find it. */
    async restartApi(): Promise<void> {
      api = await startApi(new URL(url).port);
    },
    /** As if the longest lease had passed: the work of dead workers is free at once. */
    async endLeases(): Promise<void> {
      await database`update chunks set lease_until = lease_until - interval '1 hour' where state = 'CLAIMED'`;
      await database`update deliveries set lease_until = null where lease_until is not null`;
    },
    /** Moves the clock of every process, at once. */
    async advanceClock(milliseconds: number): Promise<void> {
      recorder.note({ kind: 'fault', what: 'clock moved', milliseconds });
      const offset = clock.offsetMilliseconds() + milliseconds;
      await setClockOffset(database, offset);
      clock.setOffset(offset);
      collector.syncClock();
      await Promise.all(workers.map((worker) => worker.followClock()));
    },
    caller,
    async push(body: PushBody) {
      const answer = await caller.push(body);
      const reply = answer.body as { status: string; cid: string; requestId: string; Error_Message?: string };
      return { ...reply, httpStatus: answer.httpStatus, isDocumented: isDocumented(answer) };
    },
    /** Sends a campaign to all users. @returns its id */
    async pushToAll(campaignName: string): Promise<string> {
      const answer = await bundle.push({ campaignName, targetAudience: 'All Users' });
      if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
      return answer.cid;
    },
    /**
     * Looks again until there is something other than `false` or undefined.
     *
     * @throws when a worker ended by itself or nothing was received for longer than a lease
     */
    async waitFor<T>(what: string, look: () => Promise<T | false | undefined> | T | false | undefined): Promise<T> {
      let requests = -1;
      let movedAt = performance.now();
      for (;;) {
        const found = await look();
        if (found !== undefined && found !== false) return found;
        const dead = workers.find((worker) => worker.process.exitCode !== null || worker.process.signalCode !== null);
        if (dead) throw new Error(`${what}: a worker ended by itself: ${(await dead.exited).stderr}`);
        if (collector.requests() !== requests) {
          requests = collector.requests();
          movedAt = performance.now();
        } else if (performance.now() - movedAt > maxStallMilliseconds) throw new Error(`${what}: nothing moves`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    /** Until this many devices, of all campaigns together, have got a message. */
    waitForReached: (devices: number) =>
      bundle.waitFor(`${devices} devices reached`, () => collector.reached() >= devices),
    /** Until no run, fill or callback is open. */
    waitForAll: () => bundle.waitFor('the end of everything', () => isAllEnded(database).catch(() => false)),
    /** The end of a campaign's run, whatever it is. What waits for a time, and for nothing else, does not wait for real. */
    waitForRunEnd: (campaignId: string) =>
      bundle.waitFor(`end of campaign ${campaignId}`, async () => {
        const run = await findFinishedRun(database, campaignId).catch(() => undefined);
        if (!run && field) await bundle.passWait(campaignId).catch(() => {});
        return run;
      }),
    /** Moves time to the next attempt when the rest of a run waits for one. */
    async passWait(campaignId: string): Promise<void> {
      const [open] = await database<{ chunks: number; leased: number; retryAt: Date | null }[]>`
        select
          (select count(*) from chunks where run_id = runs.id and state in ('READY', 'CLAIMED')) as chunks,
          (select count(*) from readable_deliveries as deliveries
            where run_id = runs.id and outcome = 'WAITING' and lease_until is not null) as leased,
          (select min(retry_at) from readable_deliveries as deliveries
            where run_id = runs.id and outcome = 'WAITING') as "retryAt"
        from runs where campaign_id = ${campaignId}`;
      const wait = (open?.retryAt?.getTime() ?? 0) - bundle.now().getTime();
      if (open?.chunks === 0 && open.leased === 0 && wait > 1_000) await bundle.advanceClock(wait);
    },
    /** Workers without special settings may work for the next round. */
    async restWorkers(): Promise<void> {
      await Promise.all(
        workers.filter((worker) => special.has(worker)).map((worker) => bundle.endWorker(worker, 'SIGKILL')),
      );
      resting.push(...workers.splice(0));
    },
    async stop(): Promise<void> {
      workers.push(...resting.splice(0));
      await Promise.all([...workers].map((worker) => bundle.endWorker(worker, 'SIGKILL')));
      await bundle.killApi();
      await collector.stop();
      await installation.close();
      await front?.close();
      await postgres.stop();
      await place.remove();
    },
  };
  return bundle;
}

/**
 * Keeps one installation for the rounds of a scenario: database, API node, imported devices, workers that live. Each round
 * takes it as if it were new, since what rounds before it stored is deleted.
 */
type BundleShelf = {
  take(options: BundleOptions): Promise<TortureBundle>;
  /** The next round gets a new one. */
  clear(): Promise<void>;
};

export function makeBundleShelf(open: (options: BundleOptions) => Promise<TortureBundle>): BundleShelf {
  let kept: TortureBundle | undefined;
  return {
    async take(options) {
      if (kept) await kept.forget();
      else kept = await open(options);
      const { seed, rounds } = options;
      kept.recorder.follow(options.history);
      return { ...kept, seed, rounds, random: makeRandom(seed), stop: kept.restWorkers };
    },
    async clear() {
      const ending = kept;
      kept = undefined;
      await ending?.stop();
    },
  };
}

type EmptyTables = {
  /** Nothing that stays refers to them. */
  truncated: string[];
  /** Other tables refer to them, though not to their rows; a table comes before those that it refers to. */
  deleted: string[];
};

/** Tables without a row, partitioned ones as a whole: those that a round fills. */
async function findEmptyTables(database: Database): Promise<EmptyTables> {
  const tables = await database<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition`;
  const references = await database<{ from: string; to: string }[]>`
    select distinct conrelid::regclass::text as "from", confrelid::regclass::text as "to"
    from pg_constraint where contype = 'f' and conparentid = 0 and conrelid <> confrelid`;
  const empty = new Set<string>();
  for (const { name } of tables) {
    const rows = await database.unsafe(`select from ${name} limit 1`);
    if (rows.length === 0) empty.add(name);
  }
  const deleted: string[] = [];
  const staying = tables.map(({ name }) => name).filter((name) => !empty.has(name));
  for (const stays of staying) {
    for (const { to } of references.filter(({ from }) => from === stays)) {
      if (!empty.delete(to)) continue;
      deleted.push(to);
      staying.push(to);
    }
  }
  return { truncated: [...empty], deleted };
}

const maxTries = 100;

/**
 * Nodes that live have jobs of their own, which lock the same tables in another order: it waits for none of them for long,
 * and tries again.
 *
 * @param ownerUrl only the owner of tables may truncate them
 */
async function emptyTables(
  { truncated, deleted }: EmptyTables,
  { database, ownerUrl }: { database: Database; ownerUrl: string },
): Promise<void> {
  const owner = openDatabase({ url: ownerUrl, connections: 1, name: 'carillon torture' });
  try {
    // Below `deadlock_timeout`, which is a second.
    await owner.unsafe(`set lock_timeout = '200ms'`);
    for (let tries = 1; ; tries += 1) {
      try {
        await owner.unsafe(`truncate ${truncated.join(', ')}`);
        break;
      } catch (error) {
        if (tries === maxTries) throw error;
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    for (const name of deleted) await database.unsafe(`delete from ${name}`);
  } finally {
    await owner.end();
  }
}
