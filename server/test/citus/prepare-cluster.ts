import { distributeDatabase } from '../../src/start/database/distribute-database.ts';
import { prepareDatabase } from '../../src/start/database/prepare-database.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import type { CitusCluster } from './start-citus-cluster.ts';

const name = 'carillon';
const [owner, application, across] = ['carillon_owner', 'carillon_app', 'carillon_app_across'];

/** Connection strings: of the application's role, and of the one that owns the tables. */
export type PreparedDatabase = { url: string; ownerUrl: string };

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
