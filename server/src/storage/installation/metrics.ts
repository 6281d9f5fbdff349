import type { MinuteFigures } from '../../domain/operations/metrics.ts';
import { isDistributed, listDistributedSizes } from '../cluster.ts';
import type { Queryable } from '../database.ts';
import { dayTables } from '../day-partitions.ts';

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
/** `of` is the lane, role, kind or table of the figure; empty if there is only one. */
export type Figure = { name: FigureName; of: string; value: number };

const most = 100_000;

/**
 * Reads the figures of the whole installation's work and parts. Reads at most 100,000 rows of each table, and only the
 * catalogue for partitions. Indexes: chunks_open, runs primary key, runs_paused, alerts_open.
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
 * Returns the bytes on disk of the tables that are partitioned by day, and of the database (with an empty `table`).
 * Checks every file in the file system; on a cluster on every worker, but the database is the coordinator's.
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

export type NodeMinute = { minute: Date; nodeId: string; figures: MinuteFigures };

/** Stores what was counted in a minute so far, replacing earlier values of the same minute. Index: primary key. */
export async function upsertNodeMinutes(tx: Queryable, rows: NodeMinute[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    insert into node_minutes (minute, node_id, counts, gauges)
    select minute, node_id, counts::jsonb, gauges::jsonb
    from unnest(
      ${rows.map(({ minute }) => minute)}::timestamptz[], ${rows.map(({ nodeId }) => nodeId)}::text[],
      ${rows.map(({ figures }) => JSON.stringify(figures.counts))}::text[],
      ${rows.map(({ figures }) => JSON.stringify(figures.gauges))}::text[]
    ) as row (minute, node_id, counts, gauges)
    on conflict (minute, node_id) do update
      set counts = excluded.counts, gauges = node_minutes.gauges || excluded.gauges`;
}

/**
 * Deletes minutes before `before`. Index: primary key.
 *
 * @returns the number of rows
 */
export async function deleteOldMinutes(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from node_minutes where (minute, node_id) in (
      select minute, node_id from node_minutes where minute < ${before} limit 10000
    )`;
  return rows.count;
}

export type FigureStep = { at: Date; name: string; value: number };

/**
 * Returns the figures of the whole installation since an instant, in steps of `stepSeconds`: the sum of counts, the
 * maximum of gauges. A week of three nodes is 30,000 rows. Index: primary key.
 */
export async function sumFigures(
  tx: Queryable,
  { since, stepSeconds }: { since: Date; stepSeconds: number },
): Promise<FigureStep[]> {
  return tx<FigureStep[]>`
    with row as materialized (
      select to_timestamp(floor(extract(epoch from minute) / ${stepSeconds}::int) * ${stepSeconds}::int) as at, counts, gauges
      from node_minutes where minute >= ${since}
    )
    select at, key as name, sum(value::float8) as value from row, jsonb_each_text(counts) group by at, key
    union all
    select at, key, max(value::float8) from row, jsonb_each_text(gauges) group by at, key
    order by 1, 2`;
}
