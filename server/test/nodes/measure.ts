import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { distributedTables } from '../../src/domain/operations/cluster.ts';
import { distributeDatabase } from '../../src/start/database/distribute-database.ts';
import type { DistributionProgress } from '../../src/start/database/distribute-database.ts';
import { openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { ensureDeliveriesPartition } from '../../src/storage/ledger/deliveries.ts';
import { durableSettings, findCitus, prepareCoordinator, startCitusCluster } from '../rig/citus-cluster.ts';
import { pushToAll, waitForRunEnd } from '../rig/fleet.ts';
import type { Fleet } from '../rig/fleet.ts';
import { readProcessSeconds, readServerSeconds } from '../rig/processor-time.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

/** Of one campaign to all users, or the mean of several. */
type Throughput = {
  workers: number;
  devices: number;
  devicesPerSecond: number;
  /** User and system time. */
  cpuMillisecondsPerDevice: { workers: number; apis: number; database: number; providers: number };
};

/** Sends campaigns by `workers` workers: one to warm them up, then those that are measured. */
export async function measureThroughput(
  fleet: Fleet,
  { workers, campaigns }: { workers: number; campaigns: number },
): Promise<Throughput> {
  const started = await Promise.all(Array.from({ length: workers }, () => fleet.startWorker()));
  const secondsOf = async (nodes: { process: { pid?: number | undefined } }[]): Promise<number> =>
    sum(await Promise.all(nodes.map(({ process: child }) => readProcessSeconds(child.pid!))));
  const read = async () => ({
    workers: await secondsOf(started),
    apis: await secondsOf(fleet.apis),
    database: await fleet.database.cpuSeconds(),
    providers: await secondsOf([fleet.collector]),
  });
  const send = async (number: number): Promise<number> => {
    const campaignId = await pushToAll(fleet.apis[number % fleet.apis.length]!, `Nodes: ${workers} workers, ${number}`);
    const run = await waitForRunEnd(fleet, campaignId);
    if (run.status !== 'SENT') throw new Error(`the run ended ${run.status} (${run.reason})`);
    return (await fleet.collector.read([campaignId])).of(campaignId).size;
  };
  try {
    await send(0);
    const before = await read();
    let devices = 0;
    let seconds = 0;
    for (let number = 1; number <= campaigns; number += 1) {
      const begin = performance.now();
      devices += await send(number);
      seconds += (performance.now() - begin) / 1000;
    }
    const after = await read();
    const each = (what: keyof typeof after): number => ((after[what] - before[what]) * 1000) / devices;
    return {
      workers,
      devices: devices / campaigns,
      devicesPerSecond: devices / seconds,
      cpuMillisecondsPerDevice: {
        ...{ workers: each('workers'), apis: each('apis') },
        ...{ database: each('database'), providers: each('providers') },
      },
    };
  } finally {
    await Promise.all(started.map((worker) => fleet.end(worker, 'SIGTERM')));
  }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, number) => all + number, 0);
}

type DistributedPart = { table: string; rows: number; megabytes: number; seconds: number };
type Distribution = {
  /** In the order of the work; each table copied, and freed on the coordinator. */
  parts: DistributedPart[];
  cpuSeconds: { coordinator: number; workers: number };
};

const day = '2026-03-01';
const at = new Date(`${day}T09:00:00Z`);

/**
 * Fills a coordinator with `users` users, every second of two devices, and a day of the ledger with two rows for each device,
 * and spreads it over two workers. Every server flushes what it answers.
 */
export async function measureDistribution({ users }: { users: number }): Promise<Distribution> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-distribution-'));
  await chmod(folder, 0o755);
  const parts = [() => rm(folder, { recursive: true, force: true })];
  try {
    const cluster = await startCitusCluster(findCitus()!, {
      workers: 2,
      folder: join(folder, 'servers'),
      settings: durableSettings,
    });
    parts.push(() => cluster.stop());
    const { ownerUrl } = await prepareCoordinator(cluster);
    const servers = [cluster.url, ...cluster.workerUrls].map((server) => {
      const url = new URL(server);
      url.pathname = new URL(ownerUrl).pathname;
      return openDatabase({ url: url.href, connections: 1, name: 'fill' });
    });
    parts.push(async () => void (await Promise.all(servers.map((server) => server.end({ timeoutSeconds: 1 })))));
    await fill(servers[0]!, users);
    return await distribute(ownerUrl, servers);
  } finally {
    for (const part of parts.toReversed()) await part();
  }
}

async function distribute(ownerUrl: string, servers: readonly Database[]): Promise<Distribution> {
  const [coordinator] = servers;
  const rows = await countRows(coordinator!);
  const before = await Promise.all(servers.map(readServerSeconds));
  const steps: { step: DistributionProgress; at: number }[] = [];
  await distributeDatabase(ownerUrl, {
    shards: 32,
    onStep: (step) => void steps.push({ step, at: performance.now() }),
  });
  const ends = [...steps.slice(1).map((next) => next.at), performance.now()];
  const after = await Promise.all(servers.map(readServerSeconds));
  const parts = new Map<string, DistributedPart>();
  for (const [index, { step, at: begin }] of steps.entries()) {
    const table = step.table.name;
    const part = parts.get(table) ?? { table, rows: rows.get(table)!, megabytes: step.bytes / 1e6, seconds: 0 };
    part.seconds += (ends[index]! - begin) / 1000;
    parts.set(table, part);
  }
  const now = await countRows(coordinator!);
  for (const [table, count] of rows)
    if (now.get(table) !== count) throw new Error(`${table}: ${count} rows before, ${now.get(table)} after`);
  const [ofCoordinator, ...ofWorkers] = after.map((seconds, index) => seconds - before[index]!);
  return {
    parts: [...parts.values()],
    cpuSeconds: { coordinator: ofCoordinator!, workers: ofWorkers.reduce((sum, seconds) => sum + seconds, 0) },
  };
}

async function fill(database: Database, users: number): Promise<void> {
  const workspaceId = await insertTestWorkspace(database, at);
  // As long as ids are, and in no order.
  await database`
    insert into users (workspace_id, bucket, id, customer_id, attributes, created_at, updated_at)
    select ${workspaceId}, number % 256, left(md5('u' || number), 24), 'customer-' || number,
      '{"u_fn": "Ada", "u_em": "ada@example.com", "points": 7, "city": "Rome"}', ${at}, ${at}
    from generate_series(1, ${users}::int) as number`;
  await database`
    insert into identifiers (workspace_id, bucket, user_id, attribute, type, value)
    select workspace_id, bucket, id, 'uid', 'string', customer_id from users`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at)
    select workspace_id, bucket, left(md5(number || id), 24), id, 'phone-' || number, 'ANDROID',
      repeat(md5(number || id), 5), 'ACTIVE', ${at}, ${at}, ${at}
    from users, generate_series(1, 1 + ('x' || left(md5(id), 2))::bit(8)::int % 2) as number`;
  await database`
    insert into push_addresses (workspace_id, address_hash, bucket, device_row_id)
    select workspace_id, sha256(push_id::bytea), bucket, id from devices`;
  await ensureDeliveriesPartition(database, day);
  // As windows are stored: by bucket and user, those of one window at one time; a message id of its provider's length.
  for (const runNumber of [1, 2])
    await database`
      insert into deliveries (
        day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, provider_message_id, attempts, sent_at
      )
      select ${day}::date, workspaces.number, bucket, ${runNumber}::bigint, decode(devices.id, 'hex'), decode(user_id, 'hex'),
        'A', 'A', substr(sha256(devices.id::bytea), 1, 18), 1,
        ${at}::timestamptz + row_number() over (order by bucket, user_id) / 250 * interval '10 milliseconds'
      from devices join workspaces on workspaces.id = workspace_id
      order by bucket, user_id`;
}

/** Through the coordinator, wherever they are. */
async function countRows(database: Database): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const { name } of distributedTables) {
    const [row] = await database<{ rows: number }[]>`select count(*) as rows from ${database(name)}`;
    counts.set(name, row!.rows);
  }
  return counts;
}
