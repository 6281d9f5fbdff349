import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { appendFile, chmod, chown, mkdir, mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { distributeDatabase } from '../../src/start/database/distribute-database.ts';
import { prepareDatabase } from '../../src/start/database/prepare-database.ts';
import { commandAs, findServerAccount } from '../../src/start/embedded-postgres/server-account.ts';
import type { ServerAccount } from '../../src/start/embedded-postgres/server-account.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { logLinePrefix } from '../citus/report.ts';
import { findFreePort } from '../find-free-port.ts';
import { killCluster } from './databases.ts';
import type { KillableDatabase } from './databases.ts';

export type CitusCluster = {
  /** A superuser's connection string to the coordinator. */
  url: string;
  /** The same for each worker, in the order in which the coordinator is to know them. */
  workerUrls: string[];
  /** SIGKILL to all processes of the coordinator, then a start on the same folder and port. */
  killCoordinator(): Promise<void>;
  /** @returns whether one had ended by itself, and was started again */
  restartEnded(): Promise<boolean>;
  stop(): Promise<void>;
};

/**
 * Starts one PostgreSQL with the extension as the coordinator, and as many more as there are to be workers, on free
 * loopback ports in a temporary folder. They know nothing of each other yet: a database is made a cluster when it is
 * distributed. They end with this process, however it ends.
 */
export async function startCitusCluster(
  programs: CitusPrograms,
  { workers, folder: given, settings = {}, coordinatorSettings = {}, makeReader = () => () => {} }: ClusterOptions,
): Promise<CitusCluster> {
  const folder = given ?? (await makeFolder());
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const account = await findServerAccount([folder]);
  if (account.kind === 'none') throw new Error(`${account.name} cannot enter ${folder}: ${account.refusal}`);
  const servers: Server[] = [];
  const stop = async (): Promise<void> => {
    await Promise.all(servers.map((server) => server.stop()));
    if (given === undefined) await rm(folder, { recursive: true, force: true });
  };
  try {
    const names = ['coordinator', ...Array.from({ length: workers }, (_, index) => `worker-${index + 1}`)];
    for (const [index, name] of names.entries()) {
      const more = { ...settings, ...(index === 0 && coordinatorSettings) };
      const started = { folder: join(folder, name), account, settings: more, onLine: makeReader() };
      servers.push(await startServer(programs, started));
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [url, ...workerUrls] = servers.map((server) => server.url);
  return {
    url: url!,
    workerUrls,
    killCoordinator: () => servers[0]!.killAndRestart(),
    async restartEnded() {
      const restarted = await Promise.all(servers.map((server) => server.restartEnded()));
      return restarted.includes(true);
    },
    stop,
  };
}

type ClusterOptions = {
  workers: number;
  /** One that stays, instead of a temporary one. */
  folder?: string | undefined;
  /** Of all servers, over those that make them fast. */
  settings?: Record<string, string>;
  /** Besides what all nodes have. */
  coordinatorSettings?: Record<string, string>;
  /** Makes the reader of a server's log, which is called with each line. */
  makeReader?: () => (line: string) => void;
};

/** What is answered is flushed, and dead rows are cleared away: as a server is set up whose data matter. */
export const durableSettings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  max_wal_size: '4GB',
};

/** What the extension needs, and what makes a server fast whose data need not survive the machine. */
const commonSettings = {
  shared_preload_libraries: 'citus',
  // Shards are moved while they are written, by logical replication.
  wal_level: 'logical',
  max_prepared_transactions: '400',
  max_connections: '600',
  // The extension runs a process for each database.
  max_worker_processes: '200',
  max_locks_per_transaction: '256',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  'citus.node_conninfo': 'sslmode=disable',
  log_line_prefix: logLinePrefix,
  // A clone of the template does not have the settings of its database.
  'citus.propagate_set_commands': 'local',
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_wal_size: '512MB',
  autovacuum: 'off',
  jit: 'off',
};

type Server = {
  url: string;
  killAndRestart(): Promise<void>;
  restartEnded(): Promise<boolean>;
  stop(): Promise<void>;
};

async function startServer(
  { initdb, postgres }: CitusPrograms,
  { folder, account, settings, onLine }: ServerOptions,
): Promise<Server> {
  await mkdir(folder, { mode: 0o700 });
  if (account.kind === 'lent') await chown(folder, account.uid, account.gid);
  const parameters = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-locale', '--no-sync'];
  const initialising = start(account, { file: initdb, parameters: [`--pgdata=${folder}`, ...parameters], onLine });
  const [code] = (await once(initialising, 'close')) as [number | null];
  if (code !== 0) throw new Error(`initdb ended with ${code}`);
  const lines = Object.entries({ ...commonSettings, ...settings }).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(folder, 'postgresql.conf'), lines.join(''));
  const port = await findFreePort();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const begin = async () => {
    const server = start(account, { file: postgres, parameters: ['-D', folder, '-p', String(port)], onLine });
    const exited = once(server, 'exit');
    await Promise.race([
      untilReached(url),
      exited.then(() => Promise.reject(new Error('PostgreSQL ended while it started'))),
    ]);
    return { server, exited };
  };
  let running = await begin();
  return {
    url,
    async killAndRestart() {
      await killCluster(folder);
      await running.exited;
      running = await begin();
    },
    async restartEnded() {
      const { exitCode, signalCode } = running.server;
      if (exitCode === null && signalCode === null) return false;
      running = await begin();
      return true;
    },
    async stop() {
      // Fast: sessions are ended, not waited for.
      running.server.kill('SIGINT');
      await running.exited;
    },
  };
}

type ServerOptions = {
  folder: string;
  account: ServerAccount;
  settings: Record<string, string>;
  onLine: (line: string) => void;
};

function start(
  account: ServerAccount,
  { file, parameters, onLine }: { file: string; parameters: string[]; onLine: (line: string) => void },
): ChildProcess {
  const command = commandAs(account, file, parameters);
  const child = spawn(command.file, command.arguments, { ...command.options, stdio: ['ignore', 'ignore', 'pipe'] });
  createInterface({ input: child.stderr! }).on('line', onLine);
  return child;
}

const startMilliseconds = 30_000;

async function untilReached(url: string): Promise<void> {
  const database = openDatabase({ url, connections: 1, name: 'cluster start' });
  const until = performance.now() + startMilliseconds;
  try {
    for (;;) {
      const fault = await database`select 1`.then(
        () => undefined,
        (error: unknown) => error,
      );
      if (fault === undefined) return;
      if (performance.now() > until) throw fault;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  } finally {
    await database.end({ timeoutSeconds: 1 });
  }
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(await findFastFolder(), 'carillon-citus-'));
  await chmod(folder, 0o755);
  return folder;
}

async function findFastFolder(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined);
  return memory !== undefined && memory.bavail * memory.bsize > 4e9 ? '/dev/shm' : tmpdir();
}

export type CitusPrograms = { initdb: string; postgres: string };

/** The newest PostgreSQL of Debian's packages that has the extension. */
export function findCitus(): CitusPrograms | undefined {
  const versions = readVersions().sort((left, right) => right - left);
  const version = versions.find((number) => existsSync(`/usr/share/postgresql/${number}/extension/citus.control`));
  if (version === undefined) return undefined;
  const folder = join('/usr/lib/postgresql', String(version), 'bin');
  return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
}

function readVersions(): number[] {
  if (!existsSync('/usr/lib/postgresql')) return [];
  return readdirSync('/usr/lib/postgresql').map(Number).filter(Number.isInteger);
}

const name = 'carillon';
const [owner, application, across] = ['carillon_owner', 'carillon_app', 'carillon_app_across'];

/** Connection strings: of the application's role, and of the one that owns the tables. */
type PreparedDatabase = { url: string; ownerUrl: string };

/** A migrated database with its roles, as docs/operations.md makes one. */
export async function prepareServer(server: string): Promise<PreparedDatabase> {
  const made = await makeServer(server);
  await prepareDatabase(made.ownerUrl, { application });
  return made;
}

/** The same before its first migration. */
export async function makeServer(server: string): Promise<PreparedDatabase> {
  await makeDatabase(server);
  return { url: urlOf(server, application), ownerUrl: urlOf(server, owner) };
}

type Servers = Pick<CitusCluster, 'url' | 'workerUrls'>;

/** A distributed database, as docs/cluster.md makes one. */
export async function prepareCluster(cluster: Servers, { shards }: { shards: number }): Promise<PreparedDatabase> {
  const prepared = await prepareCoordinator(cluster);
  await distributeDatabase(prepared.ownerUrl, { shards, onStep: () => {} });
  return prepared;
}

/** The same before it is distributed: the coordinator has everything, and knows its workers. */
export async function prepareCoordinator(cluster: Servers): Promise<PreparedDatabase> {
  const prepared = await prepareServer(cluster.url);
  for (const server of cluster.workerUrls) await makeDatabase(server);
  for (const server of [cluster.url, ...cluster.workerUrls])
    await inDatabase(urlOf(server, 'postgres'), async (database) => void (await database`create extension citus`));
  await inDatabase(urlOf(cluster.url, 'postgres'), async (database) => {
    const { hostname, port } = new URL(cluster.url);
    await database`select citus_set_coordinator_host(${hostname}, ${Number(port)})`;
    for (const worker of cluster.workerUrls)
      await database`select citus_add_node(${new URL(worker).hostname}, ${Number(new URL(worker).port)})`;
  });
  return prepared;
}

async function makeDatabase(server: string): Promise<void> {
  await inDatabase(server, async (database) => {
    for (const role of [`${owner} login`, `${application} login noinherit`, `${across} login bypassrls`])
      await database.unsafe(`create role ${role}`);
    await database.unsafe(`grant ${across} to ${application}`);
    await database.unsafe(`create database ${name} owner ${owner}`);
  });
}

function urlOf(server: string, role: string): string {
  const url = new URL(server);
  [url.username, url.pathname] = [role, `/${name}`];
  return url.href;
}

async function inDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({ url, connections: 1, name: 'prepare' });
  try {
    await work(database);
  } finally {
    await database.end({ timeoutSeconds: 5 });
  }
}

type KillableClusterOptions = {
  /** The parent of the servers' data folders; a temporary one unless given. */
  folder?: string;
  coordinatorSettings?: Record<string, string>;
};

/** A distributed database, as docs/cluster.md makes one, on two workers; what is killed is the coordinator. */
export async function startKillableCluster(
  programs: CitusPrograms,
  { folder, coordinatorSettings = {} }: KillableClusterOptions = {},
): Promise<KillableDatabase> {
  const cluster = await startCitusCluster(programs, {
    workers: 2,
    folder,
    // What was prepared on several workers is decided soon after the coordinator is back.
    coordinatorSettings: { synchronous_commit: 'on', 'citus.recover_2pc_interval': '1s', ...coordinatorSettings },
  });
  try {
    return {
      ...(await prepareCluster(cluster, { shards: 8 })),
      killAndRestart: () => cluster.killCoordinator(),
      restartEnded: () => cluster.restartEnded(),
      stop: () => cluster.stop(),
    };
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}
