import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { findCitus } from '../citus/find-citus.ts';
import type { CitusPrograms } from '../citus/find-citus.ts';
import { makeServer, prepareCluster, prepareServer } from '../citus/prepare-cluster.ts';
import { durableSettings, startCitusCluster } from '../citus/start-citus-cluster.ts';
import type { CitusCluster } from '../citus/start-citus-cluster.ts';
import { readServerSeconds } from './processor-time.ts';

export type FleetDatabase = {
  url: string;
  ownerUrl: string;
  /** Of a superuser: who observes holds nothing up. */
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
 * server also listens at the given addresses, and lets everybody in there.
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
