import { bucketCount } from '../../../server/src/domain/users/users.ts';
import { openDatabase, withSession } from '../../../server/src/storage/database.ts';
import type { Database, Queryable } from '../../../server/src/storage/database.ts';
import { startCitusCluster } from '../../../server/test/rig/citus-cluster.ts';
import type { CitusPrograms } from '../../../server/test/rig/citus-cluster.ts';
import { secondsOf } from './read-usage.ts';

const statements = 2_000;
const windows = 60;
const windowDevices = 250;
const shards = 32;

/**
 * Measures what forwarding costs a coordinator: the processor time of its process for statements that change one row of a
 * shard, and for windows of rows that are stored in one. Uses a separate cluster on this machine.
 */
export async function measureCoordinator(programs: CitusPrograms): Promise<Record<string, number>> {
  const cluster = await startCitusCluster(programs, { workers: 1 });
  try {
    for (const url of cluster.workerUrls) await onDatabase(url, (worker) => worker`create extension citus`);
    return await onDatabase(cluster.url, async (coordinator) => {
      await makeLedger(coordinator, cluster);
      return withSession(coordinator, measurePassing);
    });
  } finally {
    await cluster.stop();
  }
}

async function onDatabase<Result>(url: string, work: (database: Database) => PromiseLike<Result>): Promise<Result> {
  const database = openDatabase({ url, connections: 1, name: 'simulation' });
  try {
    return await work(database);
  } finally {
    await database.end({ timeoutSeconds: 5 });
  }
}

/** Rows as wide as the ledger's, with the same buckets. */
async function makeLedger(
  coordinator: Database,
  { url, workerUrls }: { url: string; workerUrls: readonly string[] },
): Promise<void> {
  await coordinator`create extension citus`;
  const own = new URL(url);
  await coordinator`select citus_set_coordinator_host(${own.hostname}, ${Number(own.port)})`;
  for (const { hostname, port } of workerUrls.map((worker) => new URL(worker)))
    await coordinator`select citus_add_node(${hostname}, ${Number(port)})`;
  await coordinator`
    create table ledger (bucket smallint, run_id text, device_id text, user_id text, outcome text, sent_at timestamptz,
      primary key (bucket, run_id, device_id))`;
  await coordinator`select create_distributed_table('ledger', 'bucket', shard_count => ${shards})`;
}

async function measurePassing(session: Queryable): Promise<Record<string, number>> {
  const [row] = await session<{ pid: number }[]>`select pg_backend_pid() as pid`;
  const microseconds = async (work: () => Promise<void>): Promise<number> => {
    const read = (): Promise<number> => secondsOf(`/proc/${row!.pid}/stat`, 'own');
    const before = await read();
    await work();
    return ((await read()) - before) * 1e6;
  };
  // Opens a connection and a plan for each shard before the measurement starts.
  for (let bucket = 0; bucket < bucketCount; bucket += 1) await storeWindow(session, { bucket, devices: 2 });
  const ofStatements = await microseconds(async () => {
    for (let number = 0; number < statements; number += 1)
      await session`
        update ledger set outcome = 'GONE'
        where bucket = ${number % bucketCount}::smallint and run_id = 'run' and device_id = '0'`;
  });
  const perStatement = ofStatements / statements;
  const ofWindows = await microseconds(async () => {
    for (let bucket = 0; bucket < windows; bucket += 1) await storeWindow(session, { bucket, devices: windowDevices });
  });
  return {
    coordinatorMicrosecondsPerStatement: perStatement,
    coordinatorMicrosecondsPerDevice: Math.max(0, ofWindows / windows - perStatement) / windowDevices,
  };
}

async function storeWindow(
  session: Queryable,
  { bucket, devices }: { bucket: number; devices: number },
): Promise<void> {
  const ids = Array.from({ length: devices }, (_, device) => String(device));
  await session`
    insert into ledger (bucket, run_id, device_id, user_id, outcome, sent_at)
    select ${bucket}::smallint, 'run', row.id, row.user_id, 'ACCEPTED', now()
    from unnest(${ids}::text[], ${ids.map((id) => id.padStart(24, '0'))}::text[]) as row (id, user_id)
    on conflict (bucket, run_id, device_id) do nothing`;
}
