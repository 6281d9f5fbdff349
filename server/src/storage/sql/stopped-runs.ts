import type { Database, Queryable } from '../pool.ts';

/**
 * Deliveries of a campaign's open or stopped runs that wait for another attempt → EXPIRED with code STOPPED, and the
 * counters with them. Counters in one order, as everywhere, so that nobody waits in a circle; deliveries and counters
 * before runs and campaigns, as workers do. Indexes: runs_campaign, deliveries_waiting.
 */
export async function expireWaitingDeliveries(tx: Queryable, campaignId: string): Promise<void> {
  await expireOf(
    tx,
    tx`select id, day, workspace_id from runs
      where campaign_id = ${campaignId} and status in ('SENDING', 'PAUSED', 'STOPPED')`,
  );
}

/**
 * The same for runs stopped since `since`: a window that was on its way when its run was stopped stores what became of
 * it, and may store that a device waits. Ends chunks that were given back. Two transactions, because a worker locks its
 * chunk before its counters. Indexes: runs_stopped, run_counts key.
 */
export async function settleStoppedRuns(database: Database, { since, at }: { since: Date; at: Date }): Promise<void> {
  await expireOf(
    database,
    database`select id, day, workspace_id from runs
      where status = 'STOPPED' and ended_at >= ${since} and exists (
        select 1 from run_counts where run_counts.run_id = runs.id and outcome = 'WAITING' and devices > 0
      )`,
  );
  await database`
    update chunks set state = 'DONE', owner = null, lease_until = null, ended_at = ${at}
    where (state = 'READY' or state = 'CLAIMED' and lease_until <= ${at})
      and run_id in (select id from runs where status = 'STOPPED' and ended_at >= ${since})`;
}

async function expireOf(tx: Queryable, runs: ReturnType<Queryable>): Promise<void> {
  await tx`
    with settled as (
      update deliveries
      set outcome = 'EXPIRED', code = 'STOPPED', retry_at = null
      from (${runs}) as run
      where deliveries.day = run.day and deliveries.workspace_id = run.workspace_id
        and deliveries.run_id = run.id and deliveries.outcome = 'WAITING'
      returning deliveries.run_id, deliveries.chunk_number, deliveries.platform
    ), change as (
      select run_id, chunk_number, platform, count(*) as devices
      from settled group by run_id, chunk_number, platform
    )
    insert into run_counts (run_id, chunk_number, platform, outcome, devices)
    select run_id, chunk_number, platform, outcome, sign * devices
    from change cross join (values ('EXPIRED', 1), ('WAITING', -1)) as part (outcome, sign)
    order by run_id, chunk_number, platform, outcome
    on conflict (run_id, chunk_number, platform, outcome) do update set devices = run_counts.devices + excluded.devices`;
}
