import type { Transaction } from '../database.ts';
import { countSeats } from '../runs/audience-limits.ts';

/**
 * Deletes those of the runs that ended before `before`, each with all that is its own: chunks, counters, failures and
 * conversions. A run stays while its day of the ledger is there, a chunk of it is held, or its frozen audience is not
 * deleted yet. Runs that somebody holds are left for the next time. Indexes: primary keys of runs, chunks, run_counts, run_interactions and
 * run_failures; conversions_campaign.
 *
 * @returns how many runs
 */
export async function deleteOldRuns(
  tx: Transaction,
  { ids, before }: { ids: readonly string[]; before: Date },
): Promise<number> {
  const runs = await tx<{ id: string; workspaceId: string; campaignId: string }[]>`
    select id, workspace_id as "workspaceId", campaign_id as "campaignId" from runs
    where id = any(${[...ids]}) and ended_at < ${before}
      and status in ('SENT', 'FAILED', 'STOPPED', 'MISSED')
      and to_regclass('deliveries_' || to_char(day, 'YYYYMMDD')) is null
      and (audience_segment_id is distinct from id or audience_dropped_at is not null)
      and not exists (select 1 from chunks where chunks.run_id = runs.id and chunks.state in ('READY', 'CLAIMED'))
    order by id
    for update skip locked`;
  if (runs.length === 0) return 0;
  const old = runs.map(({ id }) => id);
  for (const [campaignId, own] of Map.groupBy(runs, (run) => run.campaignId))
    await tx`
      delete from conversions
      where workspace_id = ${own[0]!.workspaceId} and campaign_id = ${campaignId}
        and run_id = any(${own.map(({ id }) => id)})`;
  await tx`delete from run_failures where run_id = any(${old})`;
  await tx`delete from run_refusals where run_id = any(${old})`;
  await tx`delete from run_cursors where run_id = any(${old})`;
  await tx`delete from run_variations where run_id = any(${old})`;
  await deleteSeats(tx, old);
  await tx`delete from run_interactions where run_id = any(${old})`;
  await tx`delete from run_counts where run_id = any(${old})`;
  await tx`delete from chunks where run_id = any(${old})`;
  await tx`delete from runs where id = any(${old})`;
  return old.length;
}

/** What is left of the seats of runs, and the limits that were of these runs alone. Index: audience_limits primary key. */
async function deleteSeats(tx: Transaction, runIds: readonly string[]): Promise<void> {
  const left = await tx<{ limitId: string }[]>`
    delete from audience_seats where run_id = any(${[...runIds]}) returning limit_id as "limitId"`;
  const limits = Map.groupBy(left, ({ limitId }) => limitId);
  for (const [id, own] of [...limits].sort(([one], [other]) => (one < other ? -1 : 1)))
    await countSeats(tx, { id, taken: -own.length, sent: 0 });
  await tx`delete from audience_limits where id = any(${[...runIds]})`;
}
