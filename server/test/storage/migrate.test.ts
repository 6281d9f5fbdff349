import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/storage/database.ts';
import { MigrationChangedError, SchemaTooNewError, migrate, migrateQueue } from '../../src/storage/migrate.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';

const at = new Date('2026-01-01T00:00:00Z');
let bundle: TestDatabase;

beforeAll(async () => {
  bundle = await createTestDatabase();
});
afterAll(() => bundle.drop());

test('a migrated database has nothing left to apply, also for two concurrent nodes', async () => {
  expect(await Promise.all([migrate(bundle.database, at), migrate(bundle.database, at)])).toEqual([[], []]);
});

test("a database that shuts down while the queue's own migrations close their connection ends nothing else", async () => {
  const { hostname, port, host } = new URL(bundle.url);
  // It answers the goodbye of a connection as a database that is shut down at that moment does (57P01).
  const shuttingDown = Buffer.from(
    [...['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection due to administrator command'], ''].join('\0') + '\0',
  );
  const length = Buffer.alloc(4);
  length.writeInt32BE(shuttingDown.length + 4);
  const { promise: gone, resolve } = Promise.withResolvers<void>();
  const between = createServer((client) => {
    const server = connect({ host: hostname, port: Number(port || 5432) });
    server.pipe(client, { end: false });
    client.on('data', (sent) => {
      if (sent.at(0) === 'X'.charCodeAt(0)) client.end(Buffer.concat([Buffer.from('E'), length, shuttingDown]));
      else server.write(sent);
    });
    client.on('error', () => {});
    client.on('close', () => (server.destroy(), resolve()));
  }).listen(0, '127.0.0.1');
  await once(between, 'listening');
  const faults: Error[] = [];
  const take = (fault: Error): void => void faults.push(fault);
  process.on('uncaughtExceptionMonitor', take);
  await migrateQueue(bundle.url.replace(host, `127.0.0.1:${(between.address() as AddressInfo).port}`));
  await gone;
  await new Promise(setImmediate);
  process.off('uncaughtExceptionMonitor', take);
  between.close();
  expect(faults).toEqual([]);
});

test('workspaces that were there before there were modes keep what their apps get, and refuse what they refused', async () => {
  const { database } = bundle;
  await database`alter table workspaces drop column android_mode, drop column push_from, drop column data_prefix,
    drop column push_bodies`;
  await database`alter table sandbox_messages drop column screen`;
  await database`delete from schema_migrations where name like '%_android_payload.sql' or name like '%_push_bodies.sql'`;
  const add = (id: string) =>
    database`insert into workspaces (id, db_name, name, created_at) values (${id}, ${id}, 'A workspace', ${at})`;
  await add('OLD');
  expect(await migrate(database, at)).toHaveLength(2);
  await add('NEW');
  const rows = await database`select id, android_mode, push_from, data_prefix, push_bodies from workspaces order by id`;
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['NEW', 'data', 'carillon', null, 'lenient'],
    ['OLD', 'both', 'carillon', 'svc', 'strict'],
  ]);
});

test('a migration that waits for a table holds up nobody for longer than a quarter of a second, and is done when the table is free', async () => {
  const { database } = bundle;
  await database`alter table workspaces drop column push_bodies`;
  await database`delete from schema_migrations where name like '%_push_bodies.sql'`;
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  let hold!: () => void;
  const held = new Promise<void>((resolve) => (hold = resolve));
  const reader = inTransaction(database, async (tx) => {
    await tx`lock table workspaces in access share mode`;
    hold();
    await released;
  });
  await held;
  const migrated = migrate(database, at);
  // It waits in the queue of the table before it gives up; whoever comes behind it waits as well.
  for (;;) {
    const [waiting] = await database`select 1 from pg_locks where mode = 'AccessExclusiveLock' and not granted
      and relation = 'workspaces'::regclass`;
    if (waiting) break;
  }
  await database`select count(*) from workspaces`;
  release();
  await reader;
  expect(await migrated).toHaveLength(1);
});

test('a migration and a push that wait for each other: it is the migration that gives way', async () => {
  const { database } = bundle;
  await database`alter table workspaces drop column push_bodies`;
  await database`delete from schema_migrations where name like '%_push_bodies.sql'`;
  // A migration of two tables, whose first statement takes 0.4 s: by then the push has waited the longer of the two. The
  // second table follows the first, because Citus locks the first before any trigger is called.
  await database.unsafe(`
    create function take_push_requests() returns event_trigger language plpgsql as $$
      begin perform pg_sleep(0.4); lock table push_requests in access exclusive mode; end $$;
    create event trigger push_requests_last on ddl_command_end when tag in ('ALTER TABLE')
      execute function take_push_requests()`);
  let migrated: Promise<string[]> | undefined;
  try {
    await inTransaction(database, async (tx) => {
      await tx`lock table push_requests in row exclusive mode`;
      migrated = migrate(database, at);
      for (;;) {
        const [taken] = await database`select 1 from pg_locks where mode = 'AccessExclusiveLock' and granted
          and relation = 'workspaces'::regclass`;
        if (taken) break;
      }
      await tx`lock table workspaces in access share mode`;
    });
    expect(await migrated).toHaveLength(1);
  } finally {
    await migrated?.catch(() => {});
    await database`drop event trigger push_requests_last`;
    await database`drop function take_push_requests`;
  }
});

test('a database migrated by a newer version is refused by the name of the unknown migration', async () => {
  await bundle.database`insert into schema_migrations values ('999999_future.sql', 'x', ${at})`;
  await expect(migrate(bundle.database, at)).rejects.toThrow(SchemaTooNewError);
  await expect(migrate(bundle.database, at)).rejects.toThrow('999999_future.sql');
  await bundle.database`delete from schema_migrations where name = '999999_future.sql'`;
});

test('a migration edited after it was applied is refused', async () => {
  await bundle.database`update schema_migrations set digest = 'edited' where name like '000001%'`;
  await expect(migrate(bundle.database, at)).rejects.toThrow(MigrationChangedError);
});

test('migrations are numbered one after another, each number once', () => {
  const names = readdirSync(join(import.meta.dirname, '..', '..', 'migrations')).sort();
  const numbers = names.map((name) => Number(/^(\d{6})_[a-z0-9_]+\.sql$/.exec(name)?.[1]));
  expect(numbers, names.slice(-4).join(', ')).toEqual(names.map((_, index) => index + 1));
});
