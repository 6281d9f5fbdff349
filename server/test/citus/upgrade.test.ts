import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { cutTable, distributedTables } from '../../src/domain/cluster/distributed-tables.ts';
import { planDistribution } from '../../src/domain/cluster/plan-distribution.ts';
import { distributeDatabase } from '../../src/start/distribute-database.ts';
import { prepareDatabase } from '../../src/start/prepare-database.ts';
import { listClusterNodes } from '../../src/storage/cluster/cluster-nodes.ts';
import {
  cutShard,
  distributeTable,
  freeLocalRows,
  readTables,
  shareTransactionSettings,
} from '../../src/storage/cluster/shards.ts';
import { openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { migrateQueue } from '../../src/storage/migrate.ts';
import { dumpSchema } from '../dump-schema.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { migrateUntil } from '../migrate-until.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

/** The oldest state that has the layout of today. */
const oldest = '000037_bucket_shards.sql';
const name = `upgraded_${randomBytes(6).toString('hex')}`;
const [owner, application, across] = [`${name}_owner`, `${name}_app`, `${name}_app_across`];
const at = new Date('2026-03-01T09:00:00Z');
const [shards, rows] = [4, 1_000];
const runId = '0'.repeat(24);
const workers = inject('workerUrls') ?? [];
const needed = 'needs a coordinator and two workers (npm run test:citus)';
/** Two databases of one cluster: migrated after it was distributed, and before. */
const [upgraded, distributed] = [`${name}_a`, `${name}_b`];

const open = new Map<string, Database>();
let workspaceId = '';

beforeAll(async () => {
  if (workers.length < 2) return;
  for (const url of servers()) {
    await onServer(url, async (server) => {
      for (const role of [`${owner} login`, `${application} login noinherit`, `${across} login bypassrls`])
        await server.unsafe(`create role ${role}`);
      await server.unsafe(`grant ${across} to ${application}`);
      for (const database of [upgraded, distributed]) await server.unsafe(`create database ${database} owner ${owner}`);
    });
  }
  for (const database of [upgraded, distributed])
    open.set(database, openDatabase({ url: urlOf(servers()[0]!, { database }), connections: 2, name }));
});
afterAll(async () => {
  for (const database of open.values()) await database.end();
  for (const url of workers.length < 2 ? [] : servers())
    await onServer(url, async (server) => {
      for (const database of [upgraded, distributed]) await server.unsafe(`drop database ${database} with (force)`);
      for (const role of [application, across, owner]) await server.unsafe(`drop role ${role}`);
    });
});

function servers(): string[] {
  return [inject('postgresUrl'), ...workers];
}

function urlOf(server: string, { database, role }: { database: string; role?: string }): string {
  const url = new URL(server);
  url.pathname = `/${database}`;
  if (role !== undefined) url.username = role;
  return url.href;
}

async function onServer(url: string, work: (server: Database) => Promise<void>): Promise<void> {
  const server = openDatabase({ url, connections: 1, name });
  try {
    await work(server);
  } finally {
    await server.end();
  }
}

/** As an administrator does it. */
async function makeCluster(database: string): Promise<void> {
  for (const url of servers())
    await onServer(urlOf(url, { database }), async (server) => void (await server`create extension citus`));
  const coordinator = open.get(database)!;
  const [own, ...others] = servers().map((url) => new URL(url));
  await coordinator`select citus_set_coordinator_host(${own!.hostname}, ${Number(own!.port)})`;
  for (const { hostname, port } of others) await coordinator`select citus_add_node(${hostname}, ${Number(port)})`;
}

/** Migrated to the oldest state, filled and distributed, as the version of that migration did it. */
async function prepareOldest(): Promise<void> {
  const ownerUrl = urlOf(servers()[0]!, { database: upgraded, role: owner });
  await onServer(ownerUrl, async (database) => {
    await migrateUntil(database, { last: oldest, at });
    await migrateQueue(ownerUrl);
    await fill();
    await makeCluster(upgraded);
    await distributeOldest(database);
  });
}

async function fill(): Promise<void> {
  const database = open.get(upgraded)!;
  workspaceId = await insertTestWorkspace(database, at);
  await database`select make_day_partition('deliveries', '2026-03-01')`;
  await database`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${workspaceId}, number % 256, lpad(to_hex(number), 24, '0'), 'c' || number, ${at}, ${at}
    from generate_series(1, ${rows}::int) as number`;
  await database`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at)
    select workspace_id, bucket, id, id, 'd', 'ANDROID', 'token', 'ACTIVE', ${at}, ${at}, ${at} from users`;
  await database`
    insert into push_addresses (workspace_id, address_hash, bucket, device_row_id)
    select workspace_id, sha256(id::bytea), bucket, id from devices`;
  await insertSentRun(database, { workspaceId, id: runId, at });
  await database`
    insert into deliveries (day, workspace_id, bucket, run_id, device_id, user_id, platform, outcome, attempts, sent_at)
    select '2026-03-01', workspace_id, bucket, ${runId}, id, user_id, platform, 'ACCEPTED', 1, ${at} from devices`;
}

async function distributeOldest(database: Database): Promise<void> {
  await withSession(database, async (session) => {
    const names = distributedTables.map((table) => table.name);
    const found = await readTables(session, names);
    const then = distributedTables.filter((table) => found.some((present) => present.name === table.name));
    const plan = planDistribution(then, found);
    if ('refusal' in plan) throw new Error(plan.refusal);
    await shareTransactionSettings(session);
    const nodeIds = (await listClusterNodes(session)).filter((node) => node.holdsShards).map(({ id }) => id);
    for (const { kind, table } of plan.steps) {
      if (kind === 'free') await freeLocalRows(session, table.name);
      else if (kind === 'cut') await cutShard(session, { name: table.name, shards, nodeIds });
      else await distributeTable(session, { table, shards: table.name === cutTable ? 1 : shards });
    }
  });
}

/** Of each distributed table and partition: where its shards are beside, and what the workers have of it. */
async function describeShards(database: Database): Promise<Record<string, unknown>> {
  const tables = await database<{ name: string; besides: string; shards: number }[]>`
    select logicalrelid::text as name,
      (select min(other.logicalrelid::text) from pg_dist_partition as other where other.colocationid = own.colocationid) as besides,
      (select count(*)::int from pg_dist_shard where pg_dist_shard.logicalrelid = own.logicalrelid) as shards
    from pg_dist_partition as own order by 1`;
  const described: Record<string, unknown> = {};
  for (const { name: table, ...layout } of tables) {
    const parts = await database<{ success: boolean; result: string }[]>`
      select distinct success, regexp_replace(result, '_1[0-9]{5}\\M', '', 'g') as result
      from run_command_on_shards(${table}, ${shardDescription}) order by 2`;
    described[table] = { ...layout, parts };
  }
  return described;
}

/** As one text, without what depends on how it came about: its order, the names that PostgreSQL gives to indexes, and
 * whether rows of before were checked, as they are when they are copied. */
const shardDescription = `
  select concat_ws(E'\n',
    (select string_agg(format('%%s %%s %%s %%s', attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid)), E'\n' order by attname)
      from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
      where attrelid = '%1$s'::regclass and attnum > 0 and not attisdropped),
    (select string_agg(definition, E'\n' order by contype, definition)
      from pg_constraint, replace(pg_get_constraintdef(oid), ' NOT VALID', '') as definition where conrelid = '%1$s'::regclass and contype <> 'n'),
    (select string_agg(definition, E'\n' order by definition)
      from pg_index, regexp_replace(pg_get_indexdef(indexrelid), ' INDEX [^ ]+', ' INDEX') as definition
      where indrelid = '%1$s'::regclass),
    (select string_agg(format('%%s %%s %%s %%s', polname, pg_get_expr(polqual, polrelid), polcmd, array(select role::regrole from unnest(polroles) as role order by 1)), E'\n' order by polname)
      from pg_policy where polrelid = '%1$s'::regclass),
    (select string_agg(acl::text, ' ' order by acl::text) from pg_class, unnest(relacl) as acl where oid = '%1$s'::regclass),
    (select format('%%s %%s %%s', relrowsecurity, relforcerowsecurity, reloptions) from pg_class where oid = '%1$s'::regclass))`;

describe('a database that was distributed before it was migrated', () => {
  beforeEach(({ skip }) => skip(workers.length < 2, needed));

  test('is what one is that was distributed afterwards, on every node, and nothing of it is lost', async () => {
    await prepareOldest();
    const ownerUrl = (database: string): string => urlOf(servers()[0]!, { database, role: owner });
    await prepareDatabase(ownerUrl(upgraded), { application });
    await distributeDatabase(ownerUrl(upgraded), { shards, onStep: () => {} });

    await prepareDatabase(ownerUrl(distributed), { application });
    await makeCluster(distributed);
    await distributeDatabase(ownerUrl(distributed), { shards, onStep: () => {} });
    await open.get(distributed)!`select make_day_partition('deliveries', '2026-03-01')`;

    const [left, right] = [open.get(upgraded)!, open.get(distributed)!];
    expect(await dumpSchema(left)).toBe(await dumpSchema(right));
    expect(await describeShards(left)).toEqual(await describeShards(right));
    for (const table of ['users', 'devices', 'push_addresses', 'deliveries'])
      expect([table, await left`select count(*) as rows from ${left(table)}`]).toEqual([table, [{ rows }]]);
    const [ledger] = await left<{ whole: number }[]>`
      select count(*) as whole from readable_deliveries
      where workspace_id = ${workspaceId} and run_id = ${runId} and device_id = user_id and platform = 'ANDROID'
        and outcome = 'ACCEPTED' and sent_at = ${at}`;
    expect(ledger!.whole).toBe(rows);
    // The coordinator keeps no row of what is distributed.
    const [kept] = await left<{ bytes: number }[]>`
      select sum(pg_relation_size(oid))::bigint as bytes from pg_class
      where relkind = 'r' and (relname = any(${distributedTables.map((table) => table.name)}) or relispartition)`;
    expect(kept!.bytes).toBe(0);
  }, 300_000);
});
