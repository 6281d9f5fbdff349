import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DemoKeys } from '../app/sandbox/find-demo-workspace.ts';
import { makeRest } from '../engine/jobs/job.ts';
import { ConfigError, readConfig } from '../start/config.ts';
import type { Config } from '../start/config.ts';
import { endLeftBehindServer, isAlive } from '../start/embedded-postgres/left-behind-server.ts';
import { startEmbeddedPostgres } from '../start/embedded-postgres/embedded-postgres.ts';
import type { EmbeddedPostgres } from '../start/embedded-postgres/embedded-postgres.ts';
import { startCarillon } from '../start/node/start-carillon.ts';
import type { Carillon } from '../start/node/start-carillon.ts';
import { openDatabase } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import { cloneDatabase, dropDatabase } from '../storage/installation/installation.ts';

export type TestServers = {
  /** @throws ConfigError */
  start(settings: Record<string, string>): Promise<RunningTestServer>;
  stop(serverId: number): Promise<void>;
  /** Stops all servers and their database. */
  end(): Promise<void>;
};

export type RunningTestServer = {
  serverId: number;
  url: string;
  workspaceId: string;
  dbName: string;
  keys: DemoKeys;
  inbox: string;
};

/** The database that all others are copied from: migrated and seeded once. */
const template = 'carillon';
/** Database copies made in advance, so that a start need not wait. */
const spareDatabases = 4;
/** Servers with the usual settings, started in advance: a test file that begins while others run gets one at once. */
const spareServers = 2;

/** Starts the one database server of all test servers, and makes the template. */
export async function startTestServers(): Promise<TestServers> {
  const { folder, postgres } = await startPostgres();
  try {
    return await makeTestServers({ folder, postgres });
  } catch (error) {
    await postgres.stop();
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function makeTestServers({ folder, postgres }: TestPostgres): Promise<TestServers> {
  const superuser = openDatabase({ url: postgres.superuserUrl, connections: 1, name: 'test servers' });
  const configOf = makeReadTestConfig({ folder, postgres });
  // Leaves a database with all data of a first start and no open connections.
  const first = await startCarillon(configOf(template, { CARILLON_DATABASE_OWNER_URL: postgres.ownerUrl }));
  const keys = first.block.keys as DemoKeys;
  await first.stop();

  const databases = makeSpareDatabases(superuser);
  const running = new Map<number, { carillon: Carillon; database: string }>();
  let lastId = 0;

  async function stop(serverId: number): Promise<void> {
    const server = running.get(serverId);
    if (!server) return;
    running.delete(serverId);
    await server.carillon.stop();
    await dropDatabase(superuser, server.database);
  }

  async function begin(settings: Record<string, string>): Promise<RunningTestServer> {
    const config = configOf('none', settings);
    const database = await databases.take();
    const databaseUrl = toDatabase(postgres.url, database);
    const carillon = await startCarillon(
      { ...config, databaseUrl },
      { simulatorsRunIn: 'this thread', rest: makeRest(() => performance.now()) },
    );
    const serverId = (lastId += 1);
    running.set(serverId, { carillon, database });
    const { url, workspaceId, dbName, inbox } = carillon.block;
    return { serverId, url, workspaceId: workspaceId!, dbName: dbName!, keys, inbox: inbox! };
  }

  const spare: Promise<RunningTestServer>[] = [];
  let isEnding = false;
  function fill(): void {
    while (!isEnding && spare.length < spareServers) {
      const begun = begin({});
      // Reported to the caller that takes it.
      begun.catch(() => {});
      spare.push(begun);
    }
  }

  return {
    async start(settings) {
      const taken = Object.keys(settings).length === 0 ? spare.shift() : undefined;
      if (taken) {
        fill();
        return taken;
      }
      const server = await begin(settings);
      fill();
      return server;
    },
    stop,
    async end() {
      isEnding = true;
      await Promise.allSettled(spare);
      await Promise.all([...running.keys()].map(stop));
      await databases.settle();
      await superuser.end({ timeoutSeconds: 5 });
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Returns a function that reads the settings of one test server. All servers share a master key. */
function makeReadTestConfig({ folder, postgres }: TestPostgres) {
  const masterKey = randomBytes(32).toString('hex');
  return (database: string, settings: Record<string, string>): Config => {
    refuseFixedSettings(settings);
    const environment = {
      DATABASE_URL: toDatabase(postgres.url, database),
      CARILLON_DATA_DIR: folder,
      CARILLON_MASTER_KEY: masterKey,
      CARILLON_LOG_LEVEL: 'error',
      CARILLON_DATABASE_CONNECTIONS: '6',
      // Each worker chunk polls every second for as long as a server runs.
      CARILLON_WORKER_CHUNKS: '1',
      ...settings,
    };
    return readConfig({ environment, arguments: ['--port', '0', '--seed', '1'] });
  };
}

/** Settings that a test server depends on, so that a test cannot change them. */
const fixedSettings =
  /^(DATABASE_URL|CARILLON_(DATA_DIR|DATABASE_.*|MASTER_KEY.*|NEXT_MASTER_KEY.*|MODE|ROLE|PORT|HOST|SEED))(_FILE)?$/;

function refuseFixedSettings(settings: Record<string, string>): void {
  const fixed = Object.keys(settings).find(
    (name) => fixedSettings.test(name) && name !== 'CARILLON_DATABASE_OWNER_URL',
  );
  if (fixed !== undefined) throw new ConfigError(`A test server has its own ${fixed}.`);
}

type SpareDatabases = { take(): Promise<string>; settle(): Promise<unknown> };

/** Copies one database at a time: two copies of a template cannot run concurrently. */
function makeSpareDatabases(superuser: Database): SpareDatabases {
  const spare: Promise<string>[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const make = (): Promise<string> => {
    const name = `test_${randomBytes(8).toString('hex')}`;
    const made = last.then(() => cloneDatabase(superuser, { name, template })).then(() => name);
    last = made.catch(() => {});
    return made;
  };
  return {
    take() {
      const taken = spare.shift() ?? make();
      while (spare.length < spareDatabases) spare.push(make());
      return taken;
    },
    settle: () => last,
  };
}

function toDatabase(url: string, database: string): string {
  const to = new URL(url);
  to.pathname = `/${database}`;
  return to.href;
}

type TestPostgres = { folder: string; postgres: EmbeddedPostgres };

async function startPostgres(): Promise<TestPostgres> {
  const place = await findFastFolder();
  await removeLeftBehind(place);
  const folder = await mkdtemp(join(place, `carillon-test-host-${process.pid}-`));
  const postgres = await startEmbeddedPostgres({
    folder: join(folder, 'postgres'),
    // Only for speed: the data of a test server need not survive a crash of the machine.
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_wal_size: '256MB',
      // Enough for a hundred servers with all their connections.
      max_connections: '1200',
      // Small, because creating a database as files and dropping one scan all of it.
      shared_buffers: '64MB',
      // Tests open thousands of connections, and the passwords are random.
      scram_iterations: '1',
    },
  });
  return { folder, postgres };
}

/** Uses memory if there is enough: a copy is 600 files, which cost the system five times as much on a disk. */
async function findFastFolder(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => undefined);
  return memory !== undefined && memory.bavail * memory.bsize > 4e9 ? '/dev/shm' : tmpdir();
}

/** Removes the database server and the folder of a killed host. */
async function removeLeftBehind(place: string): Promise<void> {
  for (const name of await readdir(place)) {
    const pid = Number(/^carillon-test-host-(\d+)-/.exec(name)?.[1] ?? process.pid);
    if (isAlive(pid)) continue;
    const postgres = join(place, name, 'postgres');
    try {
      const { superuser } = JSON.parse(await readFile(join(postgres, 'passwords.json'), 'utf8')) as {
        superuser: string;
      };
      const stopRequested = new AbortController().signal;
      await endLeftBehindServer({ cluster: join(postgres, 'cluster'), password: superuser, stopRequested });
      await rm(join(place, name), { recursive: true, force: true });
    } catch {
      // It belongs to another account, or another process is removing it.
    }
  }
}
