import type { MinuteFigures } from '../../domain/metrics/minute-figures.ts';
import type { Queryable } from '../database.ts';

export type NodeMinute = { minute: Date; nodeId: string; figures: MinuteFigures };

/** What was counted so far, in the place of what was said of the same minute before. Index: primary key. */
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

/** Forgets minutes of before. Index: primary key. @returns how many */
export async function deleteOldMinutes(tx: Queryable, before: Date): Promise<number> {
  const rows = await tx`
    delete from node_minutes where (minute, node_id) in (
      select minute, node_id from node_minutes where minute < ${before} limit 10000
    )`;
  return rows.count;
}

export type FigureStep = { at: Date; name: string; value: number };

/**
 * Figures of the whole installation since an instant, in steps of so many seconds: counts added up, of gauges the greatest.
 * A week of three nodes is 30,000 rows. Index: primary key.
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
