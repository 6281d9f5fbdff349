import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { makeClock } from '../../src/clock.ts';
import { distributedTables } from '../../src/domain/operations/cluster.ts';
import { makeLog } from '../../src/log.ts';
import { readConfig } from '../../src/start/config.ts';
import { openInstallation } from '../../src/start/database/open-installation.ts';
import { prepareDatabase } from '../../src/start/database/prepare-database.ts';
import { inTransaction, openDatabase } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { splitStatements } from '../../src/storage/postgres/split-statements.ts';
import { runCommand, startCommand } from '../cli/run-command.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { idBytes } from '../../src/storage/ledger/ledger-encoding.ts';

const name = `filled_${randomBytes(6).toString('hex')}`;
const [owner, application, across] = [`${name}_owner`, `${name}_app`, `${name}_app_across`];
const at = new Date('2026-03-01T09:00:00Z');
const rows = 20_000;
const workers = inject('workerUrls') ?? [];
const needed = 'needs a coordinator and two workers (npm run test:citus)';

/** Of a superuser, to this database on each node; the coordinator first. */
let nodes: Database[] = [];
let [dataFolder, workspaceId] = ['', ''];
const coordinator = (): Database => nodes[0]!;

beforeAll(async () => {
  if (workers.length < 2) return;
  dataFolder = await mkdtemp(join(tmpdir(), 'carillon-distribute-'));
  const serverUrls = [inject('postgresUrl'), ...workers];
  for (const url of serverUrls) {
    const server = openDatabase({ url, connections: 1, name });
    for (const role of [`${owner} login`, `${application} login noinherit`, `${across} nologin bypassrls`])
      await server.unsafe(`create role ${role}`);
    await server.unsafe(`grant ${across} to ${application}`);
    await server.unsafe(`create database ${name} owner ${owner}`);
    await server.end();
  }
  nodes = serverUrls.map((url) => openDatabase({ url: urlOf(url), connections: 2, name }));
  await prepareDatabase(urlOf(serverUrls[0]!, owner), { application });
  workspaceId = await insertTestWorkspace(coordinator(), at);
  await fill();
});
afterAll(async () => {
  for (const node of nodes) await node.end();
  for (const url of nodes.length === 0 ? [] : [inject('postgresUrl'), ...workers]) {
    const server = openDatabase({ url, connections: 1, name });
    await server.unsafe(`drop database ${name} with (force)`);
    for (const role of [application, across, owner]) await server.unsafe(`drop role ${role}`);
    await server.end();
  }
  if (dataFolder !== '') await rm(dataFolder, { recursive: true });
});

function urlOf(serverUrl: string, role?: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  if (role !== undefined) url.username = role;
  return url.href;
}

async function numberOf(): Promise<number> {
  const [row] = await coordinator()<{ number: number }[]>`select number from workspaces where id = ${workspaceId}`;
  return row!.number;
}

async function fill(): Promise<void> {
  await coordinator()`select make_day_partition('deliveries', '2026-03-01')`;
  await coordinator()`
    insert into users (workspace_id, bucket, id, customer_id, created_at, updated_at)
    select ${workspaceId}, number % 256, lpad(to_hex(number), 24, '0'), 'c' || number, ${at}, ${at} from generate_series(1, ${rows}::int) as number`;
  await coordinator()`
    insert into devices (workspace_id, bucket, id, user_id, device_id, platform, push_id, state, registered_at, created_at, updated_at)
    select workspace_id, bucket, 'd' || substr(id, 2), id, 'd', 'ANDROID', 'token', 'ACTIVE', ${at}, ${at}, ${at} from users`;
  await coordinator()`
    insert into push_addresses (workspace_id, address_hash, bucket, device_row_id)
    select workspace_id, sha256(id::bytea), bucket, id from devices`;
  await coordinator()`
    insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, attempts, sent_at)
    select '2026-03-01', ${await numberOf()}, bucket, 1, decode(id, 'hex'), decode(user_id, 'hex'), 'A', 'A', 1, ${at}
    from devices`;
}

const config = () => ({ config: { databaseUrl: urlOf(inject('postgresUrl'), owner), dataFolder } });
const run = (words: string) => runCommand(config(), words.split(' '));

/** Of each table all that a statement sees, and what the coordinator has of it itself. */
async function countRows(): Promise<{ name: string; rows: number }[]> {
  const counts: { name: string; rows: number }[] = [];
  for (const table of distributedTables) {
    const [row] = await coordinator()<{ rows: number }[]>`select count(*) as rows from ${coordinator()(table.name)}`;
    if (row!.rows > 0) counts.push({ name: table.name, rows: row!.rows });
  }
  return counts;
}

const filled = ['users', 'devices', 'deliveries', 'push_addresses'].map((table) => ({ name: table, rows }));

async function addNode(index: number): Promise<void> {
  const { hostname, port } = new URL(workers[index]!);
  await coordinator()`select citus_add_node(${hostname}, ${Number(port)})`;
}

// In this order: each finds the database as the one before left it.
describe('a filled database of an owner who is no superuser', () => {
  beforeEach(({ skip }) => skip(workers.length < 2, needed));

  test.each<[fact: string, mend: () => Promise<unknown>, message: string]>([
    ['without the extension in this database', () => makeExtension(), 'create extension citus;'],
    ['without a worker', () => addNode(0), "select citus_add_node('<host>', 5432);"],
    [
      'with a role that may not sign in to a worker',
      () => coordinator().unsafe(`alter role ${across} login`),
      `alter role "${across}" login;`,
    ],
    ['while a node runs', () => coordinator()`delete from nodes`, 'Stop every node first'],
    [
      'with a trigger on one of its tables',
      () => coordinator()`drop trigger mine on devices`,
      'The table devices has what no cluster takes: trigger mine',
    ],
  ])('%s is refused, and the message says what to do: 21', async (fact, mend, message) => {
    if (fact.includes('node runs'))
      await coordinator()`
        insert into nodes (id, host, process_id, role, version, started_at, seen_at, memory_bytes, connections)
        values ('n', 'h', 1, 'all', 'v', clock_timestamp(), clock_timestamp(), 1, 1)`;
    if (fact.includes('trigger'))
      await coordinator()`
        create trigger mine before update on devices for each row execute function suppress_redundant_updates_trigger()`;
    const refused = await run('database distribute');
    expect([refused.code, refused.stdout]).toEqual([21, '']);
    expect(refused.stderr).toContain(message);
    expect(await countRows()).toEqual(expect.arrayContaining(filled));
    await mend();
  });

  test('killed in the middle it leaves each table whole, and the next run does the rest', async () => {
    const killed = startCommand(config(), ['database', 'distribute', '--shards', '8']);
    let said = '';
    for await (const piece of killed.stdout) {
      said += String(piece);
      if (said.includes('distribute deliveries')) break;
    }
    killed.kill('SIGKILL');
    if (killed.exitCode === null && killed.signalCode === null) await once(killed, 'exit');
    await coordinator()`
      select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where application_name = 'carillon distribute' and datname = current_database()`;
    expect((await countRows()).sort((left, right) => left.name.localeCompare(right.name))).toEqual(
      filled.toSorted((left, right) => left.name.localeCompare(right.name)),
    );
    const done = await run('database distribute --shards 8');
    expect([done.code, done.stderr]).toEqual([0, '']);
    expect(done.stdout).not.toContain('distribute users');
    expect(done.stdout).toContain('distribute deliveries');
    expect(done.stdout).toContain('The database is distributed over 1 workers.');
  });

  test('nothing is lost, the coordinator keeps no row, and all is done', async () => {
    expect(await countRows()).toEqual(expect.arrayContaining(filled));
    const [kept] = await coordinator()<{ bytes: number }[]>`
      select sum(pg_relation_size(oid))::bigint as bytes from pg_class
      where relname = any(${distributedTables.map((table) => table.name)}) or (relname like 'deliveries\\_%' and relkind = 'r')`;
    expect(kept!.bytes).toBe(0);
    // 256 buckets in 8 shards; the hash of a bucket would put 39 of them into one.
    const buckets = await coordinator()<{ result: string }[]>`
      select distinct result from run_command_on_shards('users', 'select count(distinct bucket) from %s')`;
    expect(buckets.map(({ result }) => result)).toEqual(['32']);
    const again = await run('database distribute');
    expect(again).toEqual({ code: 0, stdout: 'Everything is distributed already, over 1 workers.\n', stderr: '' });
    const forced = await coordinator()`
      select relname from pg_class where relname in ('users', 'deliveries_20260301') and relforcerowsecurity`;
    expect(forced.length).toBe(2);
  });

  test('a second worker takes its part, without a row lost, and the status shows how even that is', async () => {
    await addNode(1);
    await coordinator()`select citus_rebalance_start(shard_transfer_mode => 'block_writes')`;
    await coordinator()`select citus_rebalance_wait()`;
    expect(await countRows()).toEqual(expect.arrayContaining(filled));
    const status = await run('database status');
    expect([status.code, status.stderr]).toEqual([0, '']);
    expect(status.stdout).toMatch(/^deliveries +8 +[\d.]+ MB +bucket_shards$/m);
    expect(status.stdout).toMatch(/^push_addresses +8 +/m);
    for (const { port } of workers.map((url) => new URL(url)))
      expect(status.stdout).toMatch(new RegExp(`^127\\.0\\.0\\.1:${port} +8 +[\\d.]+ MB$`, 'm'));
    expect(status.stdout).toMatch(/^Largest node\/average: 1\.\d\d$/m);
  });

  test('a migration is taken statement by statement, and not as one text', async () => {
    const text = `
      alter table devices add column note text;
      alter table devices add constraint devices_note_check check (note <> '; none');`;
    await expect(inTransaction(coordinator(), (tx) => tx.unsafe(text))).rejects.toThrow();
    await inTransaction(coordinator(), async (tx) => {
      for (const statement of splitStatements(text)) await tx.unsafe(statement);
    });
    await expect(coordinator()`update devices set note = '; none' where bucket = 7`).rejects.toThrow(
      'devices_note_check',
    );
  });

  test('a node that owns nothing works behind the wall, and makes the partition of a day', async () => {
    const environment = {
      DATABASE_URL: urlOf(inject('postgresUrl'), application),
      CARILLON_MASTER_KEY: Buffer.alloc(32, 1).toString('base64'),
    };
    const installation = await openInstallation(readConfig({ environment, arguments: [] }), {
      clock: makeClock(),
      log: makeLog({ level: 'silent', pretty: false }),
    });
    try {
      expect(installation.wallFault).toBeUndefined();
      const count = async () => (await installation.callDatabase`select 1 from users`).length;
      expect(await count()).toBe(0);
      expect(await installation.inWorkspace(workspaceId, count)).toBe(rows);
      expect(await installation.inWorkspace('another', count)).toBe(0);
      expect((await installation.acrossWorkspaces`select 1 from users`).length).toBe(rows);
      // Not in one transaction: the owner makes it, and a transaction reaches a shard that it changed as one role alone.
      await installation.acrossWorkspaces`select make_day_partition('deliveries', '2026-03-02')`;
      await installation.acrossWorkspaces`
        insert into deliveries (day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, attempts, sent_at)
        values ('2026-03-02', ${await numberOf()}, 7, 1, ${idBytes('d'.repeat(24))}, ${idBytes('e'.repeat(24))}, 'W', 'A', 1, ${at})`;
      const read = async () =>
        (await installation.callDatabase`select 1 from deliveries where bucket = 7 and day > '2026-03-01'`).length;
      expect(await installation.inWorkspace(workspaceId, read)).toBe(1);
      expect(await installation.inWorkspace('another', read)).toBe(0);
    } finally {
      await installation.close();
    }
  });
});

async function makeExtension(): Promise<void> {
  for (const node of nodes) await node`create extension citus`;
  const { hostname, port } = new URL(inject('postgresUrl'));
  await coordinator()`select citus_set_coordinator_host(${hostname}, ${Number(port)})`;
}
