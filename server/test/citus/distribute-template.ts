import { distributeDatabase } from '../../src/start/database/distribute-database.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';

/** Set for a run on a cluster: connection strings to its workers, with commas between; empty where all is on one node. */
export function readWorkerUrls(): string[] | undefined {
  return process.env.TEST_CITUS_WORKERS?.split(',').filter(Boolean);
}

// Two on each of two workers: enough for every statement to meet several shards. A clone copies the files of all.
const shards = 4;

/**
 * Makes a migrated database the coordinator's part of a cluster, as the documentation tells an administrator to, and
 * leaves it on all nodes so that it can be cloned.
 */
export async function distributeTemplate({
  serverUrl,
  templateName,
  workerUrls,
}: {
  serverUrl: string;
  templateName: string;
  workerUrls: string[];
}): Promise<void> {
  for (const url of workerUrls) {
    await onDatabase(url, async (server) => {
      await server.unsafe(`drop database if exists ${templateName} with (force)`);
      await server.unsafe(`create database ${templateName}`);
    });
    await onDatabase(urlOf(url, templateName), async (worker) => void (await worker`create extension citus`));
  }
  await onDatabase(urlOf(serverUrl, templateName), (coordinator) =>
    makeCluster(coordinator, { serverUrl, workerUrls }),
  );
  await distributeDatabase(urlOf(serverUrl, templateName), { shards, onStep: () => {} });
  for (const url of [serverUrl, ...workerUrls]) await onDatabase(url, (server) => closeDatabase(server, templateName));
}

async function makeCluster(
  coordinator: Database,
  { serverUrl, workerUrls }: { serverUrl: string; workerUrls: string[] },
): Promise<void> {
  await coordinator`create extension citus`;
  const own = new URL(serverUrl);
  await coordinator`select citus_set_coordinator_host(${own.hostname}, ${Number(own.port)})`;
  if (workerUrls.length === 0)
    await coordinator`select citus_set_node_property(${own.hostname}, ${Number(own.port)}, 'shouldhaveshards', true)`;
  for (const { hostname, port } of workerUrls.map((url) => new URL(url)))
    await coordinator`select citus_add_node(${hostname}, ${Number(port)})`;
}

/** The extension has a session in each of its databases, and one with a session cannot be cloned. */
async function closeDatabase(server: Database, name: string): Promise<void> {
  await server.unsafe(`alter database ${name} allow_connections false`);
  for (;;) {
    const [row] = await server<{ left: number }[]>`
      select count(pg_terminate_backend(pid, 5000))::int as left from pg_stat_activity where datname = ${name}`;
    if (row!.left === 0) return;
  }
}

async function onDatabase(url: string, work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase({ url, connections: 1, name: 'test cluster' });
  try {
    await work(database);
  } finally {
    await database.end({ timeoutSeconds: 5 });
  }
}

function urlOf(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
