import type { BackupSequence, BackupTable, BackupFacts } from '../domain/operations/backup.ts';
import { withSession } from './database.ts';
import type { Fragment, Queryable, Transaction, Database } from './database.ts';
import type { ReadBytes } from './postgres/statement.ts';

/** A table that stores rows, and the columns that it stores. */
export type StoredTable = Pick<BackupTable, 'name' | 'day' | 'columns'>;

/**
 * Lists every Carillon table that survives a crash, by name; for a table that is partitioned by day, its days.
 * Generated columns are left out, because restoring a row generates them. Reads the catalogue only.
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

/**
 * Keeps these tables from being dropped or changed until the transaction ends. Waits for a transaction that is changing
 * them.
 */
export async function holdTables(tx: Transaction, names: readonly string[]): Promise<void> {
  const [first, ...rest] = names;
  if (first === undefined) return;
  await tx`lock table ${tx(first)} ${rest.map((name) => tx`, ${tx(name)}`)} in access share mode`;
}

/** Makes PostgreSQL's output the same wherever it is read, for the rest of the transaction. */
export async function writePlainly(tx: Transaction): Promise<void> {
  await tx`
    select set_config('datestyle', 'ISO, YMD', true), set_config('intervalstyle', 'postgres', true),
      set_config('timezone', 'UTC', true), set_config('extra_float_digits', '1', true),
      set_config('statement_timeout', '0', true)`;
}

/** Copies all rows of a table, in the order on disk; each line is one row. */
export function copyRows<Result>(
  tx: Transaction,
  { name, columns, read }: Pick<StoredTable, 'name' | 'columns'> & { read: ReadBytes<Result> },
): Promise<Result> {
  return tx`copy ${tx(name)} (${listed(tx, columns)}) to stdout`.copyTo(read);
}

/** Stores rows of a table by COPY. @returns how many rows were stored */
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
 * Lists the sequences and their values. Sequences are not transactional: read after the snapshot was taken, they are at
 * least the numbers in its rows.
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

/** Sets a sequence, in the transaction of a restore: the next number follows it. */
export async function setSequence(tx: Transaction, { name, value, isCalled }: BackupSequence): Promise<void> {
  await tx`select setval(format('public.%I', ${name}::text)::regclass, ${value}::text::bigint, ${isCalled})`;
}

/** Returns the facts of a database that is backed up, or restored into. Reads the catalogue only. */
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

/**
 * Makes the tables of this transaction accept rows in any order and from their owner. Drops foreign keys until
 * `tieRows` checks every row against them, and stops forcing policies on the owner, because COPY refuses a table with
 * policies. Empties tables that a migration filled. For the owner, in a transaction that created all tables itself.
 */
export async function openTables(tx: Transaction): Promise<void> {
  await tx`
    create temporary table restored_keys on commit drop as
    select conrelid::regclass::text as of_table, conname::text as name, pg_get_constraintdef(pg_constraint.oid) as definition
    from pg_constraint join pg_class on pg_class.oid = conrelid
    where contype = 'f' and conparentid = 0 and relnamespace = 'public'::regnamespace`;
  await tx`
    create temporary table restored_walls on commit drop as
    select pg_class.oid::regclass::text as of_table from pg_class
    where relnamespace = 'public'::regnamespace and relforcerowsecurity`;
  await tx`
    do $$
    declare
      found record;
      emptied text;
    begin
      for found in select * from pg_temp.restored_keys loop
        execute format('alter table %s drop constraint %I', found.of_table, found.name);
      end loop;
      for found in select * from pg_temp.restored_walls loop
        execute format('alter table %s no force row level security', found.of_table);
      end loop;
      select string_agg(pg_class.oid::regclass::text, ', ') into emptied from pg_class
      where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
        and relname <> 'schema_migrations' and not exists (select from pg_depend where objid = pg_class.oid and deptype = 'e');
      execute format('truncate %s', emptied);
    end $$`;
}

/** Restores the foreign keys: a row without the row it refers to fails the transaction. */
export async function tieRows(tx: Transaction): Promise<void> {
  await tx`
    do $$
    declare
      found record;
    begin
      for found in select * from pg_temp.restored_keys loop
        execute format('alter table %s add constraint %I %s', found.of_table, found.name, found.definition);
      end loop;
    end $$`;
}

/** Forces the policies on the owner again. Tables that a migration has replaced since have their own. */
export async function closeTables(tx: Transaction): Promise<void> {
  await tx`
    do $$
    declare
      found record;
    begin
      for found in select * from pg_temp.restored_walls where to_regclass(of_table) is not null loop
        execute format('alter table %s force row level security', found.of_table);
      end loop;
    end $$`;
}

/**
 * Lists campaigns to an audience that were sending when the backup was made, or had something due before `at`: what
 * they sent since is not known. Oldest first. Runs once, in a restore. Indexes: campaigns_due, runs_open.
 */
export async function listCampaignsUnderWay(
  tx: Queryable,
  at: Date,
): Promise<{ id: string; workspaceId: string; name: string }[]> {
  return tx<{ id: string; workspaceId: string; name: string }[]>`
    select id, workspace_id as "workspaceId", name from campaigns
    where audience <> 'USER' and (
      status = 'SENDING'
      or status in ('SCHEDULED', 'ACTIVE') and next_at <= ${at}
      or status = 'ACTIVE' and (
        id in (select campaign_id from runs where status in ('QUEUED', 'SENDING'))
        or campaign_id in (select campaign_id from triggers where state = 'WAITING' and due_at <= ${at})
      )
    )
    order by id`;
}

/** Records when a complete backup was made, unless a newer one is known. The installation's only row. */
export async function noteBackup(tx: Queryable, madeAt: Date): Promise<void> {
  await tx`
    update installation set backup_made_at = ${madeAt} where backup_made_at is null or backup_made_at < ${madeAt}`;
}

/** Records how often a node makes automatic backups, and when it last checked. The installation's only row. */
export async function noteBackupSchedule(
  tx: Queryable,
  { everyHours, lookedAt }: NonNullable<BackupFacts['schedule']>,
): Promise<void> {
  await tx`update installation set backup_hours = ${everyHours}, backup_looked_at = ${lookedAt}`;
}

/** Returns what is known about backups. The installation's only row; without it nothing is known. */
export async function findNewestBackup(tx: Queryable): Promise<BackupFacts> {
  const [row] = await tx<(Omit<BackupFacts, 'schedule'> & { everyHours: number | null; lookedAt: Date | null })[]>`
    select backup_made_at as "madeAt", created_at as "installedAt", backup_hours as "everyHours",
      backup_looked_at as "lookedAt"
    from installation`;
  if (!row) return { madeAt: null, installedAt: null, schedule: null };
  const { everyHours, lookedAt, ...backup } = row;
  return { ...backup, schedule: everyHours !== null && lookedAt !== null ? { everyHours, lookedAt } : null };
}

/** Arbitrary; it only has to be the same on every node. */
const backupLock = 7_312_847;

/** Runs work that only one node does at a time; the lock ends with the node. @returns `locked` when another node holds it */
export function aloneWithBackups<Result>(database: Database, work: () => Promise<Result>): Promise<Result | 'locked'> {
  return withSession(database, async (session) => {
    const [row] = await session<{ isLocked: boolean }[]>`select pg_try_advisory_lock(${backupLock}) as "isLocked"`;
    if (!row!.isLocked) return 'locked';
    try {
      return await work();
    } finally {
      // The server ends a closed session slightly later; until then the next caller would get "locked". A lost session
      // has no lock.
      await session`select pg_advisory_unlock(${backupLock})`.catch(() => {});
    }
  });
}
