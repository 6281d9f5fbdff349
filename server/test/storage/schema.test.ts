import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { dumpSchema } from '../dump-schema.ts';
import { createTestDatabase } from '../test-database.ts';

test('schema.sql is what the migrations make', async () => {
  const bundle = await createTestDatabase();
  try {
    const committed = await readFile(join(import.meta.dirname, '..', '..', 'schema.sql'), 'utf8');
    expect(await dumpSchema(bundle.database), 'run `npm run schema:dump`').toBe(committed);
  } finally {
    await bundle.drop();
  }
});

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
      // The ledger's partition key must be in its primary key; bucket rule: ARCHITECTURE.md, "Storage".
      const head = columns.filter((column) => column !== 'day').slice(0, 2);
      // What is found by value has its bucket behind the value (docs/decisions/0024).
      if (table === 'identifiers') expect(columns).toContain('bucket');
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
