import type { Queryable } from '../database.ts';
import { isDistributed } from '../cluster/is-distributed.ts';
import { listDistributedSizes } from '../cluster/shards.ts';
import { dayTables } from '../retention/day-partitions.ts';

export type FigureName =
  | 'send-age'
  | 'window-age'
  | 'runs-paused'
  | 'receivers-paused'
  | 'nodes'
  | 'alerts-open'
  | 'partitions'
  | 'partitions-ahead-days'
  | 'backup-age';
/** `of` is the lane, the role, the kind or the table that it is a figure of; empty where there is one. */
export type Figure = { name: FigureName; of: string; value: number };

const most = 100_000;

/**
 * What the whole installation has of work and of its parts. Of each table at most 100,000 rows are read, of partitions the
 * catalogue alone. Indexes: chunks_open, runs primary key, runs_paused, alerts_open.
 */
export async function readMetricFigures(
  tx: Queryable,
  { at, realAt, aliveSince }: { at: Date; realAt: Date; aliveSince: Date },
): Promise<Figure[]> {
  return tx<Figure[]>`
    with open_chunk as materialized (
      select chunks.lane, chunks.state, chunks.window_opened_at, chunks.not_before,
        greatest(chunks.not_before, chunks.created_at) as since
      from chunks join runs on runs.id = chunks.run_id
      where chunks.state in ('READY', 'CLAIMED') and runs.status = 'SENDING'
      limit ${most}
    ), day_table as materialized (
      select parent.relname as name, count(*) as days,
        max(to_date(right(part.relname, 8), 'YYYYMMDD')) - (${at}::timestamptz at time zone 'UTC')::date as ahead
      from pg_inherits
      join pg_class as part on part.oid = inhrelid
      join pg_class as parent on parent.oid = inhparent
      where inhparent = any(${[...dayTables]}::text[]::regclass[]) and part.relname ~ '_[0-9]{8}$'
      group by parent.relname
    )
    select 'send-age' as name, lane::text as of, extract(epoch from ${at}::timestamptz - min(since))::float8 as value
      from open_chunk where state = 'READY' and not_before <= ${at} group by lane
    union all
    select 'window-age', '', extract(epoch from ${at}::timestamptz - min(window_opened_at))::float8
      from open_chunk where window_opened_at is not null having count(*) > 0
    union all
    select 'runs-paused', '', count(*)::float8 from (select 1 from runs where status = 'PAUSED' limit ${most}) as paused
    union all
    select 'receivers-paused', 'callbacks', count(*)::float8
      from (select 1 from callback_receivers where paused_until is not null limit ${most}) as paused
    union all
    select 'receivers-paused', 'event-stream', count(*)::float8
      from (select 1 from event_streams where paused_until is not null limit ${most}) as paused
    union all
    select 'nodes', role, count(*)::float8 from nodes where seen_at > ${aliveSince} group by role
    union all
    select 'alerts-open', kind, count(*)::float8
      from (select kind from alerts where closed_at is null limit ${most}) as open_alert group by kind
    union all
    select 'partitions', name, days::float8 from day_table
    union all
    select 'partitions-ahead-days', name, ahead::float8 from day_table
    union all
    select 'backup-age', '', extract(epoch from ${realAt}::timestamptz - coalesce(backup_made_at, created_at))::float8
      from installation`;
}

export type TableSize = { table: string; bytes: number };

/**
 * Bytes on disk: of the tables that are partitioned by day, and of the database (`table` is then empty). Asks the file
 * system for every file; on a cluster every worker, and the database is the coordinator's.
 */
export async function readMetricSizes(tx: Queryable): Promise<TableSize[]> {
  const [whole] = await tx<{ bytes: number }[]>`select pg_database_size(current_database())::float8 as bytes`;
  return [...(await readDayTableSizes(tx)), { table: '', bytes: whole!.bytes }];
}

async function readDayTableSizes(tx: Queryable): Promise<TableSize[]> {
  if (await isDistributed(tx, 'deliveries')) {
    const sizes = await listDistributedSizes(tx);
    return dayTables.map((table) => ({ table, bytes: sizes.find(({ name }) => name === table)?.bytes ?? 0 }));
  }
  return tx<TableSize[]>`
    select inhparent::regclass::text as table, coalesce(sum(pg_total_relation_size(inhrelid)), 0)::float8 as bytes
    from pg_inherits where inhparent = any(${[...dayTables]}::text[]::regclass[])
    group by inhparent`;
}
