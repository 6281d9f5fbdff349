import type { BackupSequence, BackupTable } from '../../domain/backup/backup-manifest.ts';
import type { Fragment, Queryable, Transaction } from '../database.ts';
import type { ReadBytes } from '../postgres/statement.ts';

/** A table that has rows of its own, and the columns that are stored in it. */
export type StoredTable = Pick<BackupTable, 'name' | 'day' | 'columns'>;

/**
 * Every table of ours that is kept through a crash, in the order of their names. Of a table that is partitioned by day its
 * days. Generated columns are left out: whoever restores a row generates them. Reads the catalogue only.
 */
export async function listStoredTables(tx: Queryable): Promise<StoredTable[]> {
  const rows = await tx<{ name: string; parent: string | null; columns: string[] }[]>`
    select pg_class.relname as name, parent.relname as parent,
      array(
        select attname::text from pg_attribute
        where attrelid = pg_class.oid and attnum > 0 and not attisdropped and attgenerated = ''
        order by attnum
      ) as columns
    from pg_class
    left join pg_inherits on pg_inherits.inhrelid = pg_class.oid
    left join pg_class as parent on parent.oid = pg_inherits.inhparent
    where pg_class.relnamespace = 'public'::regnamespace and pg_class.relkind = 'r' and pg_class.relpersistence = 'p'
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
    order by pg_class.relname`;
  return rows.map(({ name, parent, columns }) => ({
    name,
    columns,
    day: parent === null ? null : dayOf(name, parent),
  }));
}

function dayOf(name: string, parent: string): BackupTable['day'] {
  const digits = name.slice(-8);
  return {
    table: parent as 'deliveries' | 'events',
    day: `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`,
  };
}

/** Nobody drops or changes these tables until the transaction ends. Waits for whoever is at it. */
export async function holdTables(tx: Transaction, names: readonly string[]): Promise<void> {
  const [first, ...rest] = names;
  if (first === undefined) return;
  await tx`lock table ${tx(first)} ${rest.map((name) => tx`, ${tx(name)}`)} in access share mode`;
}

/** What PostgreSQL writes is the same wherever it is read. For the rest of the transaction. */
export async function writePlainly(tx: Transaction): Promise<void> {
  await tx`
    select set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'postgres', true),
      set_config('timezone', 'UTC', true), set_config('extra_float_digits', '1', true),
      set_config('statement_timeout', '0', true)`;
}

/** All rows of a table, as they lie on the disk; each line is one. */
export function copyRows<Result>(
  tx: Transaction,
  { name, columns, read }: Pick<StoredTable, 'name' | 'columns'> & { read: ReadBytes<Result> },
): Promise<Result> {
  return tx`copy ${tx(name)} (${listed(tx, columns)}) to stdout`.copyTo(read);
}

/** @returns how many rows were stored */
export function storeRows(
  tx: Transaction,
  { name, columns, pieces }: Pick<StoredTable, 'name' | 'columns'> & { pieces: AsyncIterable<Buffer> },
): Promise<number> {
  return tx`copy ${tx(name)} (${listed(tx, columns)}) from stdin`.copyFrom(pieces);
}

function listed(tx: Queryable, columns: readonly string[]): Fragment[] {
  return columns.map((column, index) => (index === 0 ? tx`${tx(column)}` : tx`, ${tx(column)}`));
}

/**
 * Where the numbers of each table go on. Sequences are of no transaction: read after the snapshot was taken they are at
 * least what its rows have.
 */
export async function listSequences(tx: Queryable): Promise<BackupSequence[]> {
  const names = await tx<{ name: string }[]>`
    select relname as name from pg_class
    where relnamespace = 'public'::regnamespace and relkind = 'S'
      and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
    order by relname`;
  const sequences: BackupSequence[] = [];
  for (const { name } of names) {
    const [row] = await tx<Omit<BackupSequence, 'name'>[]>`
      select last_value::text as value, is_called as "isCalled" from ${tx(name)}`;
    sequences.push({ name, ...row! });
  }
  return sequences;
}

/** In the transaction of a restore: the number after it is given next. */
export async function setSequence(tx: Transaction, { name, value, isCalled }: BackupSequence): Promise<void> {
  await tx`select setval(format('public.%I', ${name}::text)::regclass, ${value}::text::bigint, ${isCalled})`;
}

/** What a database is that a backup is taken of, or restored into. Reads the catalogue only. */
export async function readBackupFacts(
  tx: Queryable,
): Promise<{ postgresVersion: string; isCluster: boolean; tables: number }> {
  const [row] = await tx<{ postgresVersion: string; isCluster: boolean; tables: number }[]>`
    select current_setting('server_version') as "postgresVersion",
      exists (select from pg_extension where extname = 'citus') as "isCluster",
      (
        select count(*) from pg_class
        where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
          and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e')
      ) as tables`;
  return row!;
}
