import { expect, test } from 'vitest';
import { distributedTables } from '../../src/domain/operations/cluster.ts';
import { createTestDatabase } from '../test-database.ts';

test('users, devices and deliveries are keyed by workspace and bucket first, and unique only within a bucket', async () => {
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

test('what a cluster distributes has the column it is distributed by in all that is unique, and nothing that a cluster refuses', async () => {
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
