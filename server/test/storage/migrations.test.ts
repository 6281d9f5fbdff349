import { readFileSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { distributedTables } from '../../src/domain/operations/cluster.ts';
import { inTransaction } from '../../src/storage/database.ts';
import {
  MigrationChangedError,
  SchemaTooNewError,
  SchemaTooOldError,
  findMissingMigrations,
  migrate,
} from '../../src/storage/migrate.ts';
import { splitStatements } from '../../src/storage/postgres/split-statements.ts';
import { makeNextMigrations } from '../next-migrations.ts';
import type { NextMigrations } from '../next-migrations.ts';
import { propertyRuns } from '../property-runs.ts';
import { createTestDatabase } from '../test-database.ts';
import type { TestDatabase } from '../test-database.ts';
import { insertTestWorkspace } from '../test-workspace.ts';
import { lintMigration } from './lint-migration.ts';

describe('the migration of a database', () => {
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

  test('applies a missing migration once, even for two concurrent nodes, and fills in existing rows', async () => {
    const { database } = bundle;
    await insertTestWorkspace(database, at);
    const applied = await Promise.all([0, 1].map(() => migrate(database, { at, folder: next.folder })));
    expect(applied.flat()).toEqual([next.name]);
    expect(await database`select of_next from workspaces`).toEqual([{ of_next: 'x' }]);
    expect(await database`select name, applied_at from schema_migrations order by name desc limit 1`).toEqual([
      { name: next.name, applied_at: at },
    ]);
  });

  test('leaves nothing of a failed migration, and applies it after a correction', async () => {
    const { database } = bundle;
    await writeFile(join(next.folder, next.name), 'alter table workspaces add column of_next text; select 1 / 0');
    await expect(migrate(database, { at, folder: next.folder })).rejects.toThrow('division by zero');
    await writeFile(join(next.folder, next.name), 'alter table workspaces add column of_next text');
    expect(await migrate(database, { at, folder: next.folder })).toEqual([next.name]);
  });

  test('has nothing left to apply after a migration, even for two concurrent nodes', async () => {
    expect(await Promise.all([0, 1].map(() => migrate(bundle.database, { at })))).toEqual([[], []]);
  });

  test('blocks no other statement for longer than a quarter of a second while it waits for a table, and completes afterwards', async () => {
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

  test('yields to a push if both wait for each other', async () => {
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

  test('rejects a database migrated by a newer version, and names the unknown migration', async () => {
    await migrate(bundle.database, { at, folder: next.folder });
    await expect(migrate(bundle.database, { at })).rejects.toThrow(SchemaTooNewError);
    await expect(migrate(bundle.database, { at })).rejects.toThrow(next.name);
  });

  test('rejects a migration that was edited after it was applied', async () => {
    await migrate(bundle.database, { at, folder: next.folder });
    await writeFile(join(next.folder, next.name), 'alter table workspaces add column of_next integer');
    await expect(migrate(bundle.database, { at, folder: next.folder })).rejects.toThrow(MigrationChangedError);
  });

  test('rejects a database from before version 0.1.0, and leaves it unchanged', async () => {
    const { database } = bundle;
    const before = ['000001_foundation.sql', '000077_accounts_in_real_time.sql'];
    await database`delete from schema_migrations`;
    for (const name of before) await database`insert into schema_migrations values (${name}, 'x', ${at})`;
    await expect(migrate(database, { at })).rejects.toThrow(SchemaTooOldError);
    await expect(findMissingMigrations(database)).rejects.toThrow(SchemaTooOldError);
    const names = await database<{ name: string }[]>`select name from schema_migrations order by name`;
    expect(names.map(({ name }) => name)).toEqual(before);
  });

  test('numbers its files consecutively, each number once', () => {
    const names = readdirSync(join(import.meta.dirname, '..', '..', 'migrations')).sort();
    const numbers = names.map((name) => Number(/^(\d{6})_[a-z0-9_]+\.sql$/.exec(name)?.[1]));
    expect(numbers, names.slice(-4).join(', ')).toEqual(names.map((_, index) => index + 1));
  });
});

describe('checks of a migration', () => {
  const folder = join(import.meta.dirname, '..', '..', 'migrations');

  test('find nothing that a cluster rejects', () => {
    const faults = readdirSync(folder).flatMap((name) =>
      lintMigration(readFileSync(join(folder, name), 'utf8')).map((fault) => `${name}: ${fault}`),
    );
    expect(faults).toEqual([]);
  });

  describe('a migration on a distributed table', () => {
    test.each([
      ['alter table users add column a integer, add column b integer', 'one change a statement'],
      ['alter table users add column a integer check (a > 0)', 'a column is added without its constraints'],
      ['alter table devices add column a text references workspaces (id)', 'a column is added without its constraints'],
      ['alter table devices add check (a > 0)', 'a constraint has a name'],
      ['alter table devices add constraint a foreign key (b) references c (d)', 'no foreign key'],
      ['alter table users add constraint a unique (workspace_id, customer_id)', 'holds the column'],
      ['create unique index a on users (workspace_id, customer_id)', 'holds the column'],
      ['create trigger a before update on users for each row execute function b()', 'no trigger'],
      ['create policy a on users using (b = (select current_setting(c)))', 'no subquery'],
      ['create table notes (workspace_id text, \n bucket smallint not null)', 'stands in distributedTables'],
      ['create table users (workspace_id text, bucket smallint, id text primary key)', 'holds the column'],
      ["do $$ begin execute 'drop index a; drop index b'; end $$", 'several commands in one text'],
      ["do $$ begin execute format('drop index %I; drop index b', c); end $$", 'several commands in one text'],
    ])('is rejected: %s', (text, fault) => {
      expect(lintMigration(`-- why; because\n${text};`)).toEqual([expect.stringContaining(fault)]);
    });

    test.each([
      ["alter table users add column a text default ', ' not null"],
      ['alter table users add constraint users_a_check check (a in (1, 2))'],
      ['alter table users drop constraint users_a_check'],
      ['create unique index a on users (workspace_id, bucket, customer_id)'],
      ['create index a on users (workspace_id, customer_id)'],
      ['create policy a on users using (b = current_setting(c))'],
      ['create table notes (id text primary key references workspaces (id))'],
      [
        'create table users (workspace_id text, bucket smallint, id text, primary key (bucket, id), unique (bucket, id))',
      ],
      ['alter table campaigns add column a integer check (a > 0), add column b integer'],
      ["do $$ begin execute 'drop index a'; execute 'drop index b'; end $$"],
    ])('is accepted: %s', (text) => {
      expect(lintMigration(text)).toEqual([]);
    });
  });
});

describe('the schema', () => {
  test('keys users, devices and deliveries by workspace and bucket first, and makes them unique within a bucket only', async () => {
    const bundle = await createTestDatabase();
    try {
      const rows = await bundle.database<{ table: string; columns: string[] }[]>`
        select conrelid::regclass::text as table,
          array(select attname::text from unnest(conkey) with ordinality as key (number, position)
            join pg_attribute on attrelid = conrelid and attnum = key.number order by position) as columns
        from pg_constraint
        where contype in ('p', 'u')
          and conrelid in ('users'::regclass, 'identifiers'::regclass, 'devices'::regclass, 'segment_members'::regclass, 'deliveries'::regclass)`;
      expect(rows.length).toBe(7);
      for (const { table, columns } of rows) {
        // The ledger's partition key must be in its primary key; bucket rule: docs/internals.md, "Storage".
        const head = columns.filter((column) => column !== 'day').slice(0, 2);
        // What is found by value has its bucket behind the value (docs/decisions/0024).
        if (table === 'identifiers') expect(columns).toContain('bucket');
        // A row of the ledger has no room for a workspace in its key: a user's id is nobody else's anyway.
        else if (table === 'deliveries') expect({ table, head }).toEqual({ table, head: ['bucket', 'user_id'] });
        else expect({ table, head }).toEqual({ table, head: ['workspace_id', 'bucket'] });
      }
      const foreignKeys = await bundle.database`
        select conname from pg_constraint
        where contype = 'f' and conrelid in ('users'::regclass, 'identifiers'::regclass, 'devices'::regclass, 'segment_members'::regclass, 'deliveries'::regclass)`;
      expect(foreignKeys.map((row) => row.conname)).toEqual([]);
    } finally {
      await bundle.drop();
    }
  });

  test('includes the distribution column in every unique key of a distributed table, and nothing that a cluster rejects', async () => {
    const bundle = await createTestDatabase();
    try {
      const names = distributedTables.map(({ name }) => name);
      const found = await bundle.database<{ name: string; uniques: string[]; refused: string[] }[]>`
        select relname as name,
          array(
            select array_to_string(array(
              select attname from pg_attribute where attrelid = indrelid and attnum = any(indkey)
            ), ' ') from pg_index where indrelid = pg_class.oid and indisunique
          ) as uniques,
          array(
            select conname from pg_constraint where contype = 'f' and pg_class.oid in (conrelid, confrelid)
            union all
            select tgname from pg_trigger where tgrelid = pg_class.oid and not tgisinternal
            union all
            select polname from pg_policy
            where polrelid = pg_class.oid and (polqual::text || coalesce(polwithcheck::text, '')) like '%SUBLINK%'
          ) as refused
        from pg_class where relnamespace = 'public'::regnamespace and relname = any(${names})`;
      expect(found.map(({ name }) => name).sort()).toEqual([...names].sort());
      for (const { name, uniques, refused } of found) {
        const { column } = distributedTables.find((table) => table.name === name)!;
        expect({ name, refused }).toEqual({ name, refused: [] });
        for (const unique of uniques) expect(unique.split(' '), name).toContain(column);
      }
    } finally {
      await bundle.drop();
    }
  });
});

describe('splitting of statements', () => {
  const migrationsFolder = join(import.meta.dirname, '..', '..', 'migrations');

  describe('a text of several statements', () => {
    test.each([
      ['a semicolon separates, and the last one may lack it', 'a; b;\nc', ['a', 'b', 'c']],
      ['comments and space only are not a statement', ' ; -- a;\n /* b; */ ;', []],
      ['a comment stays with the statement that it precedes', '-- why; because\na;', ['-- why; because\na']],
      ['a string', "select ';', 'it''s; so'; b", ["select ';', 'it''s; so'", 'b']],
      ['a string with backslashes', "select e'\\';', E'\\\\'; b", ["select e'\\';', E'\\\\'", 'b']],
      ['a backslash in a plain string is a character', "select '\\'; b", ["select '\\'", 'b']],
      ['a quoted name', 'alter table "a;""b" add c; d', ['alter table "a;""b" add c', 'd']],
      ['dollar quotes', 'do $$ begin a; b; end $$; c', ['do $$ begin a; b; end $$', 'c']],
      ['dollar quotes with a name, and others in them', 'do $é1$ $$;$$ $2 ; $é1$; b', ['do $é1$ $$;$$ $2 ; $é1$', 'b']],
      ['a dollar in a name opens nothing', 'select a$b$; c$b$', ['select a$b$', 'c$b$']],
      ['a parameter opens nothing', 'select $1; select $2', ['select $1', 'select $2']],
      ['a quote in a comment opens nothing', "a -- it's\n; b /* it's; */; c", ["a -- it's", "b /* it's; */", 'c']],
      ['a comment in a string is not a comment', "select '--'; b", ["select '--'", 'b']],
    ])('is split: %s', (_fact, text, statements) => {
      expect(splitStatements(text)).toEqual(statements);
    });

    test.each([["select 'a"], ["select e'a\\'"], ['alter table "a'], ['a /* b'], ['do $x$ begin $y$ end']])(
      'is rejected if something is not closed: %s',
      (text) => {
        expect(() => splitStatements(`${text}; b`)).toThrow(SyntaxError);
      },
    );

    test('is rejected with a nested comment, because PostgreSQL would end it later', () => {
      expect(() => splitStatements('/* a /* b */ ; */ c')).toThrow('a comment in a comment');
    });

    test('is split into the statements that it was joined from, whatever they contain', () => {
      const part = fc.oneof(
        fc.constantFrom('select', 'a$b$', 'e', '$1', '+', '(', ')', '::text', '12e3', 'é'),
        fc.string().map((text) => `'${text.replaceAll("'", "''")}'`),
        fc.string().map((text) => `"${text.replaceAll('"', '""')}"`),
        fc.string().map((text) => `$tag$${text.replaceAll('$', '')}$tag$`),
        fc.string().map((text) => `$$${text.replaceAll('$', '')}$$`),
        fc.string().map((text) => `e'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`),
        fc.string().map((text) => `/*${text.replaceAll('*', '').replaceAll('/', '')}*/`),
        fc.string().map((text) => `--${text.replaceAll('\n', '').replaceAll('\r', '')}\n`),
      );
      const statement = fc.array(part, { maxLength: 8 }).map((parts) => `x ${parts.join(' ')} y`);
      fc.assert(
        fc.property(fc.array(statement), (statements) => {
          expect(splitStatements(statements.join(';'))).toEqual(statements);
        }),
        { numRuns: propertyRuns(1_000) },
      );
    });
  });

  test('restores each migration from its statements', () => {
    const squeeze = (text: string): string => text.replace(/--.*|[\s;]/g, '');
    for (const name of readdirSync(migrationsFolder)) {
      const text = readFileSync(join(migrationsFolder, name), 'utf8');
      const statements = splitStatements(text);
      expect({ name, text: squeeze(statements.join(';')) }).toEqual({ name, text: squeeze(text) });
      expect({ name, count: statements.length }).not.toEqual({ name, count: 0 });
    }
  });
});
