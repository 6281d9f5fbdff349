import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { cutTable, distributedTables, planDistribution } from '../../src/domain/operations/cluster.ts';
import { distributeDatabase } from '../../src/start/database/distribute-database.ts';
import { prepareDatabase } from '../../src/start/database/prepare-database.ts';
import {
  listClusterNodes,
  cutShard,
  distributeTable,
  freeLocalRows,
  readTables,
  shareTransactionSettings,
} from '../../src/storage/cluster.ts';
import { openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { grantRights } from '../../src/storage/installation/database-roles.ts';
import { migrate } from '../../src/storage/migrate.ts';
import { dumpSchema } from '../dump-schema.ts';
import { insertSentRun } from '../insert-sent-run.ts';
import { makeNextMigrations } from '../next-migrations.ts';
import type { NextMigrations } from '../next-migrations.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

/**
 * Every kind of change that a migration may make to a table that is distributed (lint-migration.ts): columns, checks, indexes and a
 * key, of a partitioned table as well; and to functions, views and tables that are not.
 */
const nextText = `
  alter table devices add column of_next text not null default 'x';
  alter table devices add constraint devices_of_next_check check (of_next <> '') not valid;
  create index devices_of_next on devices (workspace_id, bucket, of_next) where of_next <> 'x';
  alter table deliveries add column of_next "char";
  create index deliveries_of_next on deliveries (workspace_number, of_next) where of_next is not null;
  alter table conversions drop constraint conversions_pkey;
  alter table conversions add constraint conversions_pkey
    primary key (workspace_id, bucket, campaign_id, goal, event_id, attribution, run_id);
  alter table workspaces add column of_next text, add constraint workspaces_of_next_check check (of_next <> '');
  create or replace view readable_of_next with (security_invoker = true) as select bucket, of_next from deliveries;
  create or replace function analyze_table(analyzed text) returns void
  language plpgsql security definer set search_path = public, pg_temp as $$
  begin
    execute format('analyze public.%I', analyzed);
  end $$`;
/** Left on the coordinator by the first distribution, as if the next version had made them. */
const later = ['run_variations', 'audience_seats', 'run_interactions', 'triggers'];
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

/** Migrated by this version, filled and distributed. */
async function prepareUpgraded(): Promise<void> {
  const ownerUrl = urlOf(servers()[0]!, { database: upgraded, role: owner });
  await prepareDatabase(ownerUrl, { application });
  await fill();
  await makeCluster(upgraded);
  await onServer(ownerUrl, distributeFirst);
}

/** Migrates as the next version does. Afterwards this version distributes the database, which it would refuse as too new. */
async function migrateToNext(database: string, { folder, name: next }: NextMigrations): Promise<void> {
  await onServer(urlOf(servers()[0]!, { database, role: owner }), async (asOwner) => {
    expect(await migrate(asOwner, { at, folder })).toEqual([next]);
    await grantRights(asOwner, application);
    await asOwner`delete from schema_migrations where name = ${next}`;
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
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, attempts, sent_at)
    select '2026-03-01', workspaces.number, bucket, runs.number, decode(devices.id, 'hex'), decode(user_id, 'hex'), 'A', 'A', 1, ${at}
    from devices join workspaces on workspaces.id = devices.workspace_id join runs on runs.workspace_id = workspaces.id
    where runs.id = ${runId}`;
}

async function distributeFirst(database: Database): Promise<void> {
  await withSession(database, async (session) => {
    const names = distributedTables.map((table) => table.name).filter((table) => !later.includes(table));
    const first = distributedTables.filter((table) => !later.includes(table.name));
    const plan = planDistribution(first, await readTables(session, names));
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
    const next = await makeNextMigrations(nextText);
    onTestFinished(() => next.remove());
    const ownerUrl = (database: string): string => urlOf(servers()[0]!, { database, role: owner });
    await prepareUpgraded();
    await migrateToNext(upgraded, next);
    await distributeDatabase(ownerUrl(upgraded), { shards, onStep: () => {} });

    await prepareDatabase(ownerUrl(distributed), { application });
    await migrateToNext(distributed, next);
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
