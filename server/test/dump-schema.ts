import type { Database } from '../src/storage/database.ts';
import { createTestDatabase } from './test-database.ts';

type Row = { text: string };

/**
 * The schema as the database itself describes it: tables with columns, constraints and indexes, in a fixed order. The
 * embedded PostgreSQL ships no pg_dump, and another version's would write another text.
 */
export async function dumpSchema(database: Database): Promise<string> {
  const tables = await database<{ name: string; partitionKey: string | null }[]>`
    select relname as name, pg_get_partkeydef(oid) as "partitionKey"
    from pg_class
    where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    order by relname`;
  const parts: string[] = [];
  for (const { name, partitionKey } of tables) {
    const columns = await database<Row[]>`
      select format('  %s %s%s%s%s', attname, format_type(atttypid, atttypmod),
        case when attcollation <> 0 and collname <> 'default' then format(' collate %I', collname) else '' end,
        case when attnotnull then ' not null' else '' end,
        case when adbin is not null then ' default ' || pg_get_expr(adbin, adrelid) else '' end) as text
      from pg_attribute
      left join pg_attrdef on adrelid = attrelid and adnum = attnum
      left join pg_collation on pg_collation.oid = attcollation
      where attrelid = ${name}::regclass and attnum > 0 and not attisdropped
      order by attnum`;
    const constraints = await database<Row[]>`
      select format('  constraint %I %s', conname, pg_get_constraintdef(oid)) as text
      from pg_constraint
      -- PostgreSQL 18 lists "not null" as constraints; the columns above say it already.
      where conrelid = ${name}::regclass and contype <> 'n'
      order by contype, conname`;
    const indexes = await database<Row[]>`
      select pg_get_indexdef(indexrelid) as text
      from pg_index
      where indrelid = ${name}::regclass and not exists (select 1 from pg_constraint where conindid = indexrelid and conrelid = indrelid)
      order by indexrelid::regclass::text`;
    const body = [...columns, ...constraints].map(({ text }) => text).join(',\n');
    parts.push(
      `create table ${name} (\n${body}\n)${partitionKey === null ? '' : ` partition by ${partitionKey.toLowerCase()}`};\n`,
    );
    parts.push(
      ...indexes.map(({ text }) => `${text.replace(' ON ONLY public.', ' ON ').replace(' ON public.', ' ON ')};\n`),
    );
  }
  return parts.join('\n').replace(/;\n\nCREATE INDEX/g, ';\nCREATE INDEX');
}

/** The schema that the migrations make, as text. */
export async function readSchema(): Promise<string> {
  const bundle = await createTestDatabase();
  try {
    return await dumpSchema(bundle.database);
  } finally {
    await bundle.drop();
  }
}
