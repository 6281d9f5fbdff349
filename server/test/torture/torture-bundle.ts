import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeClock } from '../../src/clock.ts';
import { readConfig } from '../../src/start/config.ts';
import type { SimulatorEndpoints } from '../../src/providers/registry.ts';
import { makeLog } from '../../src/log.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { setClockOffset } from '../../src/storage/installation/installation.ts';
import { startNode } from '../start/start-bundle.ts';
import type { Node, StartLine } from '../start/start-bundle.ts';
import type { BundleShelf } from './bundle-shelf.ts';
import { emptyTables, findEmptyTables } from './empty-tables.ts';
import type { EmptyTables } from './empty-tables.ts';
import { isDocumented, makeCaller } from './make-caller.ts';
import type { PushBody } from './make-caller.ts';
import { fieldFaults, fcmPhonePrefix } from './field-faults.ts';
import { makeRandom } from './make-random.ts';
import { runCommand } from './run-command.ts';
import type { CommitCutter } from './start-commit-cutter.ts';
import { nodeEnvironment } from './node-environment.ts';
import { startCollector } from './start-collector.ts';
import { startKillableDatabase } from './start-killable-database.ts';
import type { KillableDatabase } from './start-killable-database.ts';
import { watchPutOffs } from './watch-put-offs.ts';
import { startWorkerProcess } from './start-worker-process.ts';
import type { WorkerProcess } from './start-worker-process.ts';

export type TortureOptions = {
  seed: number;
  devices: number;
  /** How often something is killed. */
  rounds: number;
  windowDevices: number;
  parallelChunks: number;
  /** Where rounds take the installation that they share. */
  shelf?: BundleShelf;
  /** Instead of one PostgreSQL of ours; in a folder that the bundle removes in the end. */
  startDatabase?: ((folder: string) => Promise<KillableDatabase>) | undefined;
};

/** What stands between the nodes and the database. */
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
  /** Whether the simulated providers answer as real ones do in operation (field-faults.ts); they accept everything unless said. */
  answers?: 'of the field';
};

export type TortureBundle = Awaited<ReturnType<typeof openTortureBundle>>;

/** Longer than a lease: whoever waits for one to end is not stuck. */
const maxStallMilliseconds = 150_000;

/**
 * An installation in processes that can be killed: database, one node of role `api`, workers; and the simulated
 * providers in this process, which counts what devices receive and is never killed.
 */
export function makeTortureBundle(options: BundleOptions): Promise<TortureBundle> {
  return options.shelf ? options.shelf.take(options) : openTortureBundle(options);
}

/** One that nobody shares. */
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
    CARILLON_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    CARILLON_WINDOW_DEVICES: String(options.windowDevices),
    CARILLON_WORKER_CHUNKS: String(options.parallelChunks),
  };
  const environment = { ...direct, ...front?.environment };
  const startApi = async (port = '0'): Promise<{ node: Node; line: StartLine }> => {
    const parameters = ['--role', 'api', '--port', port, '--json', '--seed', String(options.seed)];
    const node = startNode(parameters, environment);
    const line = await node.firstLine;
    if (line === undefined) throw new Error(`api: ${(await node.exited).stderr}`);
    return { node, line: JSON.parse(line) as StartLine };
  };
  let api = await startApi();
  const { url, workspaceId } = api.line;
  const caller = makeCaller(api.line, () => url);

  const clock = makeClock();
  const log = makeLog({ level: 'error', pretty: false });
  const installation = await openInstallation(readConfig({ environment: direct, arguments: [] }), { clock, log });
  const database = installation.acrossWorkspaces;
  const secret = installation.secretFor('simulator');
  const collector = await startCollector({ ...installation, database, clock, log, secret });
  const field =
    options.answers === undefined ? undefined : { putOffs: await watchPutOffs(database, postgres.ownerUrl) };
  if (field) await collector.setFaults(fieldFaults);
  const workers: WorkerProcess[] = [];
  /** Those that a round left alive, for the next one. */
  const resting: WorkerProcess[] = [];
  /** Those that send elsewhere, or are told to fail. */
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
    secret,
    workspaceId,
    workers,
    url,
    encryption: installation.encryption,
    /** Connection strings: of the application's role, and of the one that owns the tables. */
    databaseUrl: postgres.url,
    ownerUrl: postgres.ownerUrl,
    api: () => api.node,
    now: () => clock.now(),

    /** People with one device each, a third of each platform, as `carillon import` loads them. */
    async importDevices(): Promise<void> {
      if (empty) return;
      const file = join(folder, 'users.ndjson');
      const count = String(options.devices);
      await runCommand(direct, ['sandbox', 'generate-users', '--users', count, '--out', file]);
      await runCommand(direct, ['import', file]);
      // One iPhone of sixteen is reached through Firebase.
      if (field)
        await database`
          update devices set push_provider = 'fcm', push_id = ${fcmPhonePrefix} || push_id
          where workspace_id = ${workspaceId} and platform = 'IOS' and push_id like '0%'`;
      empty = await findEmptyTables(database);
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
    /** Ends a worker process and takes it off the list of those that must live. */
    async endWorker(worker: WorkerProcess, signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
      workers.splice(workers.indexOf(worker), 1);
      worker.process.kill(signal);
      return (await worker.exited).code;
    },
    /** Whether it had ended by itself, and was started again. */
    restartEndedDatabase: () => postgres.restartEnded(),
    killDatabase: () => postgres.killAndRestart(),
    async killApi(): Promise<void> {
      api.node.process.kill('SIGKILL');
      await api.node.exited;
    },
    /** On the port it had, so that its callers find it. */
    async restartApi(): Promise<void> {
      api = await startApi(new URL(url).port);
    },
    /** As if the longest lease had passed: what the dead held is free, and nobody waits for it. */
    async endLeases(): Promise<void> {
      await database`update chunks set lease_until = lease_until - interval '1 hour' where state = 'CLAIMED'`;
      await database`update deliveries set lease_until = null where lease_until is not null`;
    },
    /** Moves the clock of every process, at once. */
    async advanceClock(milliseconds: number): Promise<void> {
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
    /** One campaign to everybody. @returns its id */
    async pushToAll(campaignName: string): Promise<string> {
      const answer = await bundle.push({ campaignName, targetAudience: 'All Users' });
      if (answer.status !== 'Success') throw new Error(`sendpush: ${answer.Error_Message}`);
      return answer.cid;
    },
    /**
     * Looks again until there is something; a question the database cannot answer now is asked again.
     *
     * @throws when a worker ended by itself or nothing was received for longer than a lease
     */
    async waitFor<T>(what: string, look: () => Promise<T | undefined> | T | undefined): Promise<T> {
      let requests = -1;
      let movedAt = performance.now();
      for (;;) {
        const found = await look();
        if (found !== undefined) return found;
        const dead = workers.find((worker) => worker.process.exitCode !== null || worker.process.signalCode !== null);
        if (dead) throw new Error(`${what}: a worker ended by itself: ${(await dead.exited).stderr}`);
        if (collector.requests() !== requests) {
          requests = collector.requests();
          movedAt = performance.now();
        } else if (performance.now() - movedAt > maxStallMilliseconds) throw new Error(`${what}: nothing moves`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    /** Until so many devices of all campaigns together have got a message. */
    waitForReached: (devices: number) =>
      bundle.waitFor(`${devices} devices reached`, () => (collector.reached() >= devices ? true : undefined)),
    /** The end of a campaign's run, whatever it is. What waits for a time, and for nothing else, does not wait for real. */
    waitForRunEnd: (campaignId: string) =>
      bundle.waitFor(`end of campaign ${campaignId}`, async () => {
        const [run] = await database<{ status: string; reason: string | null; isOpen: boolean }[]>`
          select status, status_reason as reason, status in ('QUEUED', 'SENDING') as "isOpen"
          from runs where campaign_id = ${campaignId}`.catch(() => []);
        if (run && !run.isOpen) return run;
        if (run && field) await bundle.passWait(campaignId).catch(() => {});
        return undefined;
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
    /** Who is as every other may work for the next round. */
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
