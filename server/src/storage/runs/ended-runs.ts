import type { Queryable } from '../database.ts';

export type EndedRunState = {
  id: string;
  campaignId: string;
  workspaceId: string;
  lane: number;
  status: 'SENT' | 'FAILED';
  reason: string | null;
};

/**
 * Ends runs that have nothing left: every chunk has ended, no delivery is waiting. A run with a quarantined chunk is
 * FAILED, with that as the reason. Locks each run, so that two sweeps end it once. The counters are read after the chunks: on
 * a cluster they are stored before a chunk ends. Only those of runs without an open chunk are read, because thousands of runs
 * to named users may be under way. Indexes: runs_open, run_counts primary key.
 *
 * @returns the campaigns whose run ended
 */
export async function endFinishedRuns(tx: Queryable, sweep: { at: Date; limit: number }): Promise<EndedRunState[]> {
  const ended: EndedRunState[] = [];
  // A page may contain nothing but runs with a delivery that waits, so it is followed by the next.
  for (let ids = await listSentRuns(tx, { after: '', limit: sweep.limit }); ids.length > 0;) {
    ended.push(...(await endSentRuns(tx, { ...sweep, ids, limit: sweep.limit - ended.length })));
    if (ids.length < sweep.limit || ended.length >= sweep.limit) break;
    ids = await listSentRuns(tx, { after: ids.at(-1)!, limit: sweep.limit });
  }
  return ended;
}

/** Lists a page of the runs without an open chunk, in the order of their ids. Indexes: runs_open, chunks_open. */
async function listSentRuns(tx: Queryable, { after, limit }: { after: string; limit: number }): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select runs.id from runs
    where runs.status = 'SENDING' and runs.id > ${after}
      and not exists (select 1 from chunks where chunks.run_id = runs.id and chunks.state in ('READY', 'CLAIMED'))
    order by runs.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

function endSentRuns(
  tx: Queryable,
  sweep: { at: Date; limit: number; ids: readonly string[] },
): Promise<EndedRunState[]> {
  const ids = [...sweep.ids];
  return tx<EndedRunState[]>`
    with waiting as materialized (
      select run_id from run_counts
      where outcome = 'WAITING' and run_id = any (${ids}::text[])
      group by run_id having sum(devices) > 0
    ), finished as (
      select runs.id
      from runs
      where runs.id = any (${ids}::text[]) and runs.status = 'SENDING'
        and not exists (select 1 from chunks where chunks.run_id = runs.id and chunks.state in ('READY', 'CLAIMED'))
        and runs.id not in (select run_id from waiting)
      order by runs.lane, runs.created_at
      limit ${sweep.limit}
      for update of runs skip locked
    ), quarantined as (
      select finished.id, exists (
        select 1 from chunks where chunks.run_id = finished.id and chunks.state = 'QUARANTINED'
      ) as any
      from finished
    )
    update runs
    set status = case when quarantined.any then 'FAILED' else 'SENT' end,
      status_reason = case when quarantined.any then 'a chunk crashed its worker repeatedly and was quarantined' end,
      ended_at = ${sweep.at}
    from quarantined
    where runs.id = quarantined.id
    returning runs.id, runs.campaign_id as "campaignId", runs.workspace_id as "workspaceId", runs.lane, runs.status,
      runs.status_reason as reason`;
}
