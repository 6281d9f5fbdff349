import type { ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import type { Network, Place } from '../nodes/network.ts';
import type { StartLine } from '../start/start-bundle.ts';
import { findFinishedRun } from './audit.ts';
import type { FinishedRun } from './audit.ts';
import { makeCaller } from './caller.ts';
import type { Caller } from './caller.ts';
import {
  durableSettings,
  findCitus,
  makeServer,
  prepareCluster,
  prepareServer,
  startCitusCluster,
} from './citus-cluster.ts';
import type { CitusCluster, CitusPrograms } from './citus-cluster.ts';
import { startCollectorProcess } from './collector.ts';
import { importUsers, nodeEnvironment, startMain, startRigNode } from './processes.ts';
import { readServerSeconds } from './processor-time.ts';
import { until } from './until.ts';

type FleetOptions = {
  database: DatabaseKind;
  devices: number;
  apis: number;
  /** Undefined where there are no network namespaces. */
  network: Network | undefined;
};

/** The product's own settings, unless others are given. */
type WorkerOptions = {
  place?: Place | undefined;
  windowDevices?: number;
  /** Chunks that it has in hand. */
  parallelChunks?: number;
};

export type FleetNode = {
  process: ChildProcess;
  exited: Promise<unknown>;
  place: Place | undefined;
};
export type ApiNode = FleetNode & { url: string; caller: Caller; line: StartLine };

export type Fleet = Awaited<ReturnType<typeof openFleet>>;

/**
 * An installation of many nodes, each a process with a role as the product's settings define it: `apis` of role `api`, and
 * workers as they are asked for; one database, which stays; the simulated providers in a process of their own.
 */
export async function openFleet(options: FleetOptions) {
  const { network } = options;
  const folder = await mkdtemp(join(tmpdir(), 'carillon-nodes-'));
  const parts: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true, force: true })];
  const close = async (): Promise<void> => {
    for (const part of parts.toReversed()) await part();
  };
  try {
    return await startFleet(options, { folder, parts, network, close });
  } catch (error) {
    await close();
    throw error;
  }
}

type Parts = {
  folder: string;
  parts: (() => Promise<unknown>)[];
  network: Network | undefined;
  close: () => Promise<void>;
};

async function startFleet(options: FleetOptions, { folder, parts, network, close }: Parts) {
  const addresses = network ? [network.databaseAddress] : [];
  const database = await startFleetDatabase(options.database, addresses);
  parts.push(() => database.stop());
  const environment = nodeEnvironment(folder, database);
  /** What a node in another network namespace finds elsewhere. */
  const environmentAt = (place: Place | undefined): Record<string, string> => {
    if (!place) return environment;
    const there = (text: string): string => {
      const url = new URL(text);
      url.hostname = network!.databaseAddress;
      return url.href;
    };
    return {
      ...environment,
      DATABASE_URL: there(database.url),
      CARILLON_DATABASE_OWNER_URL: there(database.ownerUrl),
      // What it says while it is cut off is expected.
      CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'silent',
    };
  };

  const nodes = new Set<FleetNode>();
  parts.push(() => Promise.all([...nodes].map((node) => end(node, 'SIGKILL'))));
  async function end(node: FleetNode, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    nodes.delete(node);
    node.process.kill(signal);
    await node.exited;
  }

  async function startApi(place?: Place, port = '0'): Promise<ApiNode> {
    const host = place ? ['--host', place.address] : [];
    const parameters = ['--role', 'api', '--port', port, ...host];
    const { line, ...node } = await startMain(environmentAt(place), parameters, place?.before);
    const url = place ? `http://${place.address}:${new URL(line.url).port}` : line.url;
    const api = { ...node, place, url, caller: makeCaller(line, () => url), line };
    nodes.add(api);
    return api;
  }

  const first = await startApi();
  const collector = await startCollectorProcess(environment, network?.otherAddress);
  parts.push(() => collector.stop());
  await importUsers(environment, options.devices);
  const apis = [first];
  while (apis.length < options.apis) apis.push(await startApi());

  async function startWorker({ place, windowDevices, parallelChunks }: WorkerOptions = {}): Promise<FleetNode> {
    const node = await startRigNode(
      {
        ...environmentAt(place),
        ...(windowDevices && { CARILLON_WINDOW_DEVICES: String(windowDevices) }),
        ...(parallelChunks && { CARILLON_WORKER_CHUNKS: String(parallelChunks) }),
      },
      {
        endpoints: place ? collector.endpoints.relayed! : collector.endpoints.here,
        parameters: ['--role', 'worker'],
        before: place?.before,
        // Its libraries write there as well when it is cut off.
        errors: place && process.env.DEBUG_LEVEL === undefined ? 'ignore' : 'inherit',
      },
    );
    const worker = { process: node.process, exited: node.exited, place };
    nodes.add(worker);
    return worker;
  }

  return {
    ...options,
    database,
    observer: database.observer,
    workspaceId: first.line.workspaceId,
    collector,
    apis,
    startApi,
    startWorker,
    end,
    /** The name under which a node holds work. */
    async nameOf({ process: child }: FleetNode): Promise<string> {
      const rows = await database.observer<{ id: string }[]>`
        select id from nodes where process_id = ${child.pid!} order by started_at desc limit 1`;
      return rows[0]!.id;
    },
    close,
  };
}

/** The end of the run of a campaign, whatever it is. */
export function waitForRunEnd({ observer }: Pick<Fleet, 'observer'>, campaignId: string): Promise<FinishedRun> {
  const look = () => findFinishedRun(observer, campaignId);
  return until(`the end of campaign ${campaignId}`, { seconds: 300, look });
}

/** Sends a campaign to all users. @returns its id */
export async function pushToAll({ caller }: Pick<ApiNode, 'caller'>, campaignName: string): Promise<string> {
  const { body } = await caller.push({ campaignName, targetAudience: 'All Users' });
  if (body.status !== 'Success') throw new Error(`sendpush: ${JSON.stringify(body)}`);
  return String(body.cid);
}

export type FleetDatabase = {
  url: string;
  ownerUrl: string;
  /** A superuser's connection, which delays nothing that it observes. */
  observer: Database;
  /** User and system time of all its servers so far. */
  cpuSeconds(): Promise<number>;
  stop(): Promise<void>;
};

/** `empty`: one server with a database and its roles, before the first migration. */
export type DatabaseKind = 'one' | 'cluster' | 'empty';

const prepare = {
  one: ({ url }: CitusCluster) => prepareServer(url),
  empty: ({ url }: CitusCluster) => makeServer(url),
  cluster: (cluster: CitusCluster) => prepareCluster(cluster, { shards: 8 }),
};

const debian = '/usr/lib/postgresql/15/bin';

/** What a database of this kind needs and this machine lacks; undefined when nothing. */
export function findDatabaseRefusal(kind: DatabaseKind): string | undefined {
  if (kind === 'cluster') return findCitus() ? undefined : 'there is no Citus (npm run test:citus builds it)';
  return existsSync(join(debian, 'postgres'))
    ? undefined
    : "there is no Debian's PostgreSQL 15 (apt install postgresql)";
}

// Without the extension, and without what it needs.
const settingsOfOne = { shared_preload_libraries: '', wal_level: 'replica', max_prepared_transactions: '0' };
const settingsOfCluster = { 'citus.recover_2pc_interval': '1s' };

/**
 * One PostgreSQL 15 of Debian's, or a coordinator and two workers over which the product has distributed it. The nodes'
 * server also listens at the given addresses, and accepts every caller there.
 */
export async function startFleetDatabase(kind: DatabaseKind, addresses: readonly string[]): Promise<FleetDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-nodes-'));
  const rules = join(folder, 'pg_hba.conf');
  await chmod(folder, 0o755);
  await writeFile(rules, 'host all all 127.0.0.0/8 trust\nhost all all 198.18.0.0/15 trust\n');
  const programs: CitusPrograms =
    kind === 'cluster' ? findCitus()! : { initdb: join(debian, 'initdb'), postgres: join(debian, 'postgres') };
  const cluster = await startCitusCluster(programs, {
    workers: kind === 'cluster' ? 2 : 0,
    folder: join(folder, 'servers'),
    settings: durableSettings,
    coordinatorSettings: {
      ...(kind === 'cluster' ? settingsOfCluster : settingsOfOne),
      listen_addresses: ['127.0.0.1', ...addresses].join(),
      hba_file: rules,
    },
  });
  const observers: Database[] = [];
  const stop = async (): Promise<void> => {
    for (const observer of observers) await observer.end({ timeoutSeconds: 1 });
    await cluster.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const urls = await prepare[kind](cluster);
    for (const server of [cluster.url, ...cluster.workerUrls]) {
      const url = new URL(server);
      url.pathname = new URL(urls.url).pathname;
      observers.push(openDatabase({ url: url.href, connections: 2, name: 'observer' }));
    }
    return {
      ...urls,
      observer: observers[0]!,
      async cpuSeconds() {
        const each = await Promise.all(observers.map(readServerSeconds));
        return each.reduce((sum, seconds) => sum + seconds, 0);
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
