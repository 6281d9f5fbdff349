import type { Platform } from '../../domain/campaigns/content.ts';
import { countedVariant } from '../../domain/experiments/variants.ts';
import { inTransaction } from '../database.ts';
import type { Database, Queryable } from '../database.ts';
import { addRunCounts } from '../ledger/deliveries.ts';
import { ledgerLocale, ledgerVariation, platformWord, variantOf } from '../ledger/ledger-words.ts';
import type { LedgerVariant } from '../ledger/ledger-words.ts';

/**
 * Deliveries of a campaign's open or stopped runs that wait for another attempt → EXPIRED with code STOPPED, and the
 * counters with them. Counters in one order, as everywhere, so that nobody waits in a circle; deliveries and counters
 * before runs and campaigns, as workers do. Indexes: runs_campaign, deliveries_waiting.
 */
export async function expireWaitingDeliveries(tx: Queryable, campaignId: string): Promise<void> {
  const runs = await tx<RunOfDay[]>`
    select id, number, day::text as day, workspace_id as "workspaceId", locales from runs
    where campaign_id = ${campaignId} and status in ('SENDING', 'PAUSED', 'STOPPED') order by id`;
  const waiting = await listWaiting(tx, runs);
  for (const run of runs) if (waiting.has(run.id)) await expireOf(tx, run);
}

// What a stop leaves is little; a batch keeps the job's statements short after an upgrade.
const batchStopped = 200;

/**
 * The same for runs that were stopped: a window that was on its way when its run was stopped stores what became of it, and
 * may store that a device waits. Ends chunks that were given back, or whose worker let its lease run out. A run is settled
 * when no chunk of it is open any more, for then nothing can be added to it; from then on it is not looked at again. A
 * worker locks its chunk before its counters, so these are statements of their own, and a run whose settling is cut off
 * begins again. Indexes: runs_stopped, chunks and run_counts primary keys.
 *
 * @returns how many runs were settled
 */
export async function settleStoppedRuns(
  database: Database,
  { at, leasesEndedAt }: { at: Date; leasesEndedAt: Date },
): Promise<number> {
  const stopped = await database<{ id: string }[]>`
    select id from runs where status = 'STOPPED' and settled_at is null order by ended_at limit ${batchStopped}`;
  if (stopped.length === 0) return 0;
  const ids = stopped.map(({ id }) => id);
  await database`
    update chunks set state = 'DONE', owner = null, lease_until = null, ended_at = ${at}
    where run_id = any(${ids}) and (state = 'READY' or state = 'CLAIMED' and lease_until <= ${leasesEndedAt})`;
  const runs = await database<(RunOfDay & { isQuiet: boolean })[]>`
    select id, number, day::text as day, workspace_id as "workspaceId", locales, not exists (
        select 1 from chunks where chunks.run_id = runs.id and state in ('READY', 'CLAIMED')
      ) as "isQuiet"
    from runs where id = any(${ids}) order by id`;
  // After the chunks: what one that has ended stored is counted.
  const waiting = await listWaiting(database, runs);
  for (const run of runs) if (waiting.has(run.id)) await inTransaction(database, (tx) => expireOf(tx, run));
  const quiet = runs.filter(({ isQuiet }) => isQuiet).map(({ id }) => id);
  if (quiet.length > 0) await database`update runs set settled_at = ${at} where id = any(${quiet})`;
  return quiet.length;
}

type RunOfDay = { id: string; number: number; day: string; workspaceId: string; locales: string[] | null };

/** Those of the runs that have deliveries which wait. Index: run_counts primary key. */
async function listWaiting(tx: Queryable, runs: readonly RunOfDay[]): Promise<Set<string>> {
  const rows = await tx<{ runId: string }[]>`
    select distinct run_id as "runId" from run_counts
    where run_id = any(${runs.map(({ id }) => id)}) and outcome = 'WAITING' and devices > 0`;
  return new Set(rows.map(({ runId }) => runId));
}

type ExpiredGroup = LedgerVariant & { bucket: number; platform: Platform; devices: number };

async function expireOf(tx: Queryable, { id: runId, number, day, workspaceId, locales }: RunOfDay): Promise<void> {
  const expired = await tx<ExpiredGroup[]>`
    with expired as (
      update deliveries
      set outcome = 'E', code = 'STOPPED', retry_at = null, lease_until = null
      where day = ${day}::date and run_number = ${number}::bigint and outcome <> 'A' and outcome = 'W'
      returning bucket, ${platformWord(tx, tx`platform`)} as platform, ${ledgerVariation(tx)} as variation,
        ${ledgerLocale(tx)} as locale
    )
    select bucket, platform, variation, locale, count(*) as devices from expired
    group by bucket, platform, variation, locale`;
  const changes = expired.flatMap(({ devices, variation, locale, ...place }) => {
    const counter = { ...place, ...countedVariant(locales ?? undefined, variantOf({ variation, locale })) };
    return [
      { workspaceId, runId, ...counter, outcome: 'EXPIRED' as const, devices },
      { workspaceId, runId, ...counter, outcome: 'WAITING' as const, devices: -devices },
    ];
  });
  await addRunCounts(tx, changes);
}
