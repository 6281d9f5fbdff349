import type { Queryable } from './database.ts';

/** The tables that are partitioned by day. */
export const dayTables = ['deliveries', 'events'] as const;
export type DayTable = (typeof dayTables)[number];

/** A partition; `day` is YYYY-MM-DD, in UTC. */
export type DayPartition = { table: DayTable; day: string };

/** Returns the name of a partition. @throws RangeError when `day` is not a day */
export function partitionName({ table, day }: DayPartition): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`not a day: ${day}`);
  return `${table}_${day.replaceAll('-', '')}`;
}

/** Lists the existing days before `before`, oldest first. Reads the catalogue only. */
export async function listOldDays(
  tx: Queryable,
  { table, before, limit }: { table: DayTable; before: string; limit: number },
): Promise<string[]> {
  const rows = await tx<{ digits: string }[]>`
    select right(relname, 8) as digits
    from pg_inherits join pg_class on pg_class.oid = pg_inherits.inhrelid
    where inhparent = ${table}::regclass and right(relname, 8) < ${before.replaceAll('-', '')}
    order by digits
    limit ${limit}`;
  return rows.map(({ digits }) => `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`);
}

export type DaySpan = { table: DayTable; days: number; oldest: string; newest: string };

/** Returns how many days each table has, and the oldest and newest one (YYYY-MM-DD). Reads the catalogue only. */
export async function listDaySpans(tx: Queryable): Promise<DaySpan[]> {
  return tx<DaySpan[]>`
    select inhparent::regclass::text as table, count(*) as days,
      min(right(relname, 8))::date::text as oldest, max(right(relname, 8))::date::text as newest
    from pg_inherits join pg_class on pg_class.oid = pg_inherits.inhrelid
    where inhparent = any(${[...dayTables]}::regclass[])
    group by inhparent order by 1`;
}

/** Returns the oldest existing day (YYYY-MM-DD). Reads the catalogue only. */
export async function findOldestDay(tx: Queryable, table: DayTable): Promise<string | undefined> {
  const [day] = await listOldDays(tx, { table, before: '9999-12-31', limit: 1 });
  return day;
}

/**
 * Creates a missing day, by a function of the owner's. Senders and readers continue meanwhile: it acquires locks that
 * only other changes of the table wait for. Waits for another node that is creating the same day.
 *
 * @returns true if the day was missing at the first look
 */
export async function makeDay(tx: Queryable, partition: DayPartition): Promise<boolean> {
  const [existing] = await tx`select 1 from pg_class where relname = ${partitionName(partition)} and relrowsecurity`;
  if (existing) return false;
  await tx`select make_day_partition(${partition.table}, ${partition.day}::date)`;
  return true;
}

/**
 * Drops a day that is older than `keptDays`, by a function of the owner's, which rejects any other day. Readers and
 * writers of the table wait meanwhile, some milliseconds. If it does not get the table within a tenth of a second it
 * gives up, and nothing has changed.
 */
export async function dropDay(
  tx: Queryable,
  { keptDays, ...partition }: DayPartition & { keptDays: number },
): Promise<'dropped' | 'absent' | 'busy'> {
  try {
    const [row] = await tx<{ isDropped: boolean }[]>`
      select drop_day_partition(${partition.table}, ${partition.day}::date, ${keptDays}::int) as "isDropped"`;
    return row!.isDropped ? 'dropped' : 'absent';
  } catch (error) {
    // 55P03 lock not available; 40P01 deadlock, 40001 serialization.
    if (['55P03', '40P01', '40001'].includes(String((error as { code?: unknown }).code))) return 'busy';
    throw error;
  }
}

/** Lists the days (YYYY-MM-DD) of runs that are not over: queued, being sent, or paused. Indexes: runs_open, runs_paused. */
export async function listUnfinishedDays(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    select day::text as day from runs where status in ('QUEUED', 'SENDING')
    union
    select day::text from runs where status = 'PAUSED'`;
  return rows.map(({ day }) => day);
}

/**
 * True if a day of the ledger has a delivery from `since` on: one of a run that was paused or throttled for a long
 * time. Reads the whole day, once, before it is dropped.
 */
export async function hasDeliveriesSince(
  tx: Queryable,
  { day, since }: { day: string; since: Date },
): Promise<boolean> {
  const [row] = await tx`
    select 1 from ${tx(partitionName({ table: 'deliveries', day }))} where sent_at >= ${since} limit 1`;
  return row !== undefined;
}

/** True if events of a day have yet to be checked for goals. A few rows. */
export async function hasUnattributedEvents(tx: Queryable, day: string): Promise<boolean> {
  const [row] = await tx`select 1 from unattributed_events where day = ${day}::date limit 1`;
  return row !== undefined;
}
