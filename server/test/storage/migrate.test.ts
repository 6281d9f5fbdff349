import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../src/storage/database.ts';
import {
  MigrationChangedError,
  SchemaTooNewError,
  SchemaTooOldError,
  findMissingMigrations,
  migrate,
} from '../../src/storage/migrate.ts';
import { makeNextMigrations } from '../next-migrations.ts';
import type { NextMigrations } from '../next-migrations.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';

const at = new Date('2026-01-01T00:00:00Z');
let bundle: TestDatabase;
/** This version's migrations, and one more that changes a table which every node reads. */
let next: NextMigrations;

beforeEach(async () => {
  bundle = await createTestDatabase();
  next = await makeNextMigrations(`alter table workspaces add column of_next text not null default 'x'`);
});
afterEach(async () => {
  await bundle.drop();
  await next.remove();
});

test('a migration that is missing is applied once, also for two concurrent nodes, and rows that were there have what it adds', async () => {
  const { database } = bundle;
  await insertTestWorkspace(database, at);
  const applied = await Promise.all([0, 1].map(() => migrate(database, { at, folder: next.folder })));
  expect(applied.flat()).toEqual([next.name]);
  expect(await database`select of_next from workspaces`).toEqual([{ of_next: 'x' }]);
  expect(await database`select name, applied_at from schema_migrations order by name desc limit 1`).toEqual([
    { name: next.name, applied_at: at },
  ]);
});

test('a migration that fails leaves nothing, and is applied when it was mended', async () => {
  const { database } = bundle;
  await writeFile(join(next.folder, next.name), 'alter table workspaces add column of_next text; select 1 / 0');
  await expect(migrate(database, { at, folder: next.folder })).rejects.toThrow('division by zero');
  await writeFile(join(next.folder, next.name), 'alter table workspaces add column of_next text');
  expect(await migrate(database, { at, folder: next.folder })).toEqual([next.name]);
});

test('a migrated database has nothing left to apply, also for two concurrent nodes', async () => {
  expect(await Promise.all([0, 1].map(() => migrate(bundle.database, { at })))).toEqual([[], []]);
});

test('a migration that waits for a table holds up nobody for longer than a quarter of a second, and is done when the table is free', async () => {
  const { database } = bundle;
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
  const migrated = migrate(database, { at, folder: next.folder });
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
      migrated = migrate(database, { at, folder: next.folder });
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
  await migrate(bundle.database, { at, folder: next.folder });
  await expect(migrate(bundle.database, { at })).rejects.toThrow(SchemaTooNewError);
  await expect(migrate(bundle.database, { at })).rejects.toThrow(next.name);
});

test('a migration edited after it was applied is refused', async () => {
  await migrate(bundle.database, { at, folder: next.folder });
  await writeFile(join(next.folder, next.name), 'alter table workspaces add column of_next integer');
  await expect(migrate(bundle.database, { at, folder: next.folder })).rejects.toThrow(MigrationChangedError);
});

test('a database of a version before 0.1.0 is refused, and stays as it is', async () => {
  const { database } = bundle;
  const before = ['000001_foundation.sql', '000077_accounts_in_real_time.sql'];
  await database`delete from schema_migrations`;
  for (const name of before) await database`insert into schema_migrations values (${name}, 'x', ${at})`;
  await expect(migrate(database, { at })).rejects.toThrow(SchemaTooOldError);
  await expect(findMissingMigrations(database)).rejects.toThrow(SchemaTooOldError);
  const names = await database<{ name: string }[]>`select name from schema_migrations order by name`;
  expect(names.map(({ name }) => name)).toEqual(before);
});

test('migrations are numbered one after another, each number once', () => {
  const names = readdirSync(join(import.meta.dirname, '..', '..', 'migrations')).sort();
  const numbers = names.map((name) => Number(/^(\d{6})_[a-z0-9_]+\.sql$/.exec(name)?.[1]));
  expect(numbers, names.slice(-4).join(', ')).toEqual(names.map((_, index) => index + 1));
});
