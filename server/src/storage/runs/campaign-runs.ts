import type { CampaignDeliveryType } from '../../domain/campaigns/campaign.ts';
import type { Platform } from '../../domain/content/content.ts';
import { countedVariant } from '../../domain/experiments/variants.ts';
import type { StoredTiming } from '../../domain/timing/timing.ts';
import { inTransaction } from '../database.ts';
import type { Queryable, Database } from '../database.ts';
import { addRunCounts } from '../ledger/deliveries.ts';
import { ledgerLocale, ledgerVariation, platformWord, variantOf } from '../ledger/ledger-encoding.ts';
import type { LedgerVariant } from '../ledger/ledger-encoding.ts';

/** One run of a campaign, as the console shows it. */
export type CampaignRun = {
  id: string;
  status: string;
  statusReason: string | null;
  /** The occurrence it was due at; null for a request that was sent at once. */
  dueAt: Date | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
};

/** Lists runs, newest first. Index: runs_campaign. */
export async function listCampaignRuns(
  tx: Queryable,
  { campaignId, limit }: { campaignId: string; limit: number },
): Promise<CampaignRun[]> {
  return tx<CampaignRun[]>`
    select id, status, status_reason as "statusReason", coalesce(moment, due_at) as "dueAt",
      created_at as "createdAt", started_at as "startedAt", ended_at as "endedAt"
    from runs where campaign_id = ${campaignId}
    order by created_at desc, moment desc nulls last, id desc limit ${limit}`;
}

type Change = { campaignId: string; reason: string; at: Date };

/**
 * QUEUED and SENDING → PAUSED. Runs that wait for an occurrence keep waiting: none starts while the campaign is paused.
 * Locks rows in id order, so that two transactions never deadlock. Index: runs_campaign.
 */
export async function pauseCampaignRuns(tx: Queryable, { campaignId, reason }: Omit<Change, 'at'>): Promise<void> {
  await tx`
    with open as (
      select id from runs
      where campaign_id = ${campaignId} and (status = 'SENDING' or status = 'QUEUED' and due_at is null)
      order by id for update
    )
    update runs set status = 'PAUSED', status_reason = ${reason}, paused_platform = null from open where runs.id = open.id`;
}

/**
 * PAUSED → the state before the pause, whether an operator or a provider caused it. Locks rows in id order. Index:
 * runs_campaign.
 */
export async function resumeCampaignRuns(tx: Queryable, campaignId: string): Promise<void> {
  await tx`
    with paused as (
      select id from runs where campaign_id = ${campaignId} and status = 'PAUSED' order by id for update
    )
    update runs
    set status = case when started_at is null then 'QUEUED' else 'SENDING' end, status_reason = null, paused_platform = null
    from paused where runs.id = paused.id`;
}

/** Moves runs that joined a campaign to the occurrence at which it continues. Index: runs_campaign. */
export async function rescheduleWaitingRuns(
  tx: Queryable,
  { campaignId, dueAt }: { campaignId: string; dueAt: Date },
): Promise<void> {
  await tx`
    update runs set due_at = ${dueAt}
    where campaign_id = ${campaignId} and status = 'QUEUED' and due_at is not null and due_at < ${dueAt}`;
}

/**
 * Every open run → STOPPED, and its chunks that no worker holds → DONE. A worker that holds a chunk sees at its next
 * window that the run is no longer sending. Changes runs before chunks, rows in id order. Indexes: runs_campaign,
 * chunks primary key.
 */
export async function stopCampaignRuns(tx: Queryable, { campaignId, reason, at }: Change): Promise<void> {
  await tx`
    with open as (
      select id from runs
      where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING', 'PAUSED')
      order by id for update
    )
    update runs set status = 'STOPPED', status_reason = ${reason}, ended_at = ${at} from open where runs.id = open.id`;
  await tx`
    update chunks set state = 'DONE', ended_at = ${at}
    where state = 'READY' and run_id in (select id from runs where campaign_id = ${campaignId} and status = 'STOPPED')`;
}

/** Counts runs that are under way and runs that wait for an occurrence. Index: runs_campaign. */
export async function countOpenRuns(tx: Queryable, campaignId: string): Promise<{ underWay: number; waiting: number }> {
  const [row] = await tx<{ underWay: number; waiting: number }[]>`
    select count(*) filter (where due_at is null or status = 'SENDING') as "underWay",
      count(*) filter (where due_at is not null and status = 'QUEUED') as waiting
    from runs where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING')`;
  return row!;
}

/** True if a run of the campaign is under way, waiting or paused: it still reads the campaign. Index: runs_campaign. */
export async function hasOpenRuns(tx: Queryable, campaignId: string): Promise<boolean> {
  const rows = await tx`
    select 1 from runs where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING', 'PAUSED') limit 1`;
  return rows.length === 1;
}

/** True if the campaign has a run, in whatever state. Index: runs_campaign. */
export async function hasRuns(tx: Queryable, campaignId: string): Promise<boolean> {
  const rows = await tx`select 1 from runs where campaign_id = ${campaignId} limit 1`;
  return rows.length === 1;
}

export type ParentCampaign = { campaignId: string; deliveryType: CampaignDeliveryType };

/**
 * Finds the campaign by its own id or by the id of one of its versions. Index: primary key; the own id is the first
 * version's.
 */
export async function findParentCampaign(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<ParentCampaign | undefined> {
  const [campaign] = await tx<ParentCampaign[]>`
    select campaign_id as "campaignId", delivery_type as "deliveryType"
    from campaigns where id = ${id} and workspace_id = ${workspaceId}`;
  return campaign;
}

export type CampaignExecution = {
  id: string;
  campaignId: string;
  sentAt: Date | null;
  status: string;
  statusReason: string | null;
  /** The occurrence it was made for; null if an event or a request started it at once. */
  plannedAt: Date | null;
};

/** Lists runs of all versions of a campaign, newest first, ties by id. Indexes: campaigns_version_of, runs_campaign. */
export async function listExecutions(
  tx: Queryable,
  { campaignId, limit, offset }: { campaignId: string; limit: number; offset: number },
): Promise<CampaignExecution[]> {
  return tx<CampaignExecution[]>`
    select runs.id, ${campaignId} as "campaignId", runs.started_at as "sentAt", runs.status,
      runs.status_reason as "statusReason", coalesce(runs.moment, runs.due_at) as "plannedAt"
    from runs where runs.campaign_id = any(${versionsOf(tx, campaignId)})
    order by runs.created_at desc, runs.id desc
    limit ${limit} offset ${offset}`;
}

/** Indexes: as for listExecutions. */
export async function countExecutions(tx: Queryable, campaignId: string): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from runs where runs.campaign_id = any(${versionsOf(tx, campaignId)})`;
  return row!.total;
}

function versionsOf(tx: Queryable, campaignId: string) {
  return tx`array(select id from campaigns where id = ${campaignId} or version_of = ${campaignId})`;
}

/**
 * Deliveries of a campaign's open or stopped runs that wait for another attempt → EXPIRED with code STOPPED, and
 * updates the counters. Counters are locked in the usual order, so that no transactions deadlock. Deliveries and
 * counters come before runs and campaigns, as in workers. Indexes: runs_campaign, deliveries_waiting.
 */
export async function expireWaitingDeliveries(tx: Queryable, campaignId: string): Promise<void> {
  const runs = await tx<RunOfDay[]>`
    select id, number, day::text as day, workspace_id as "workspaceId", locales from runs
    where campaign_id = ${campaignId} and status in ('SENDING', 'PAUSED', 'STOPPED') order by id`;
  const waiting = await listWaiting(tx, runs);
  for (const run of runs) if (waiting.has(run.id)) await expireOf(tx, run);
}

// A stop leaves little; the batch size keeps the job's statements short after an upgrade.
const batchStopped = 200;

/**
 * Does the same for runs that were stopped: a window that was under way at the stop still stores its outcomes, possibly
 * a device that waits. Ends chunks that were released, or whose lease ran out. A run is settled when none of its chunks
 * is open any more, because then nothing can be added to it; the job does not read it again. A worker locks its chunk
 * before its counters, so these are separate statements. If settling a run is interrupted, it starts again. Indexes:
 * runs_stopped, chunks and run_counts primary keys.
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
  // After the chunks, so that everything stored by a chunk that has ended is counted.
  const waiting = await listWaiting(database, runs);
  for (const run of runs) if (waiting.has(run.id)) await inTransaction(database, (tx) => expireOf(tx, run));
  const quiet = runs.filter(({ isQuiet }) => isQuiet).map(({ id }) => id);
  if (quiet.length > 0) await database`update runs set settled_at = ${at} where id = any(${quiet})`;
  return quiet.length;
}

type RunOfDay = { id: string; number: number; day: string; workspaceId: string; locales: string[] | null };

/** Returns the given runs that have waiting deliveries. Index: run_counts primary key. */
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

/** A campaign that waits for its next occurrence. */
export type UpcomingCampaign = {
  id: string;
  name: string;
  status: string;
  deliveryType: CampaignDeliveryType;
  timing: StoredTiming | Record<string, never>;
  nextAt: Date;
};

/** Lists campaigns that are due before `before`, the next one first. Index: campaigns_next. */
export async function listUpcomingCampaigns(
  tx: Queryable,
  { workspaceId, before, limit }: { workspaceId: string; before: Date; limit: number },
): Promise<UpcomingCampaign[]> {
  return tx<UpcomingCampaign[]>`
    select id, name, status, delivery_type as "deliveryType", timing, next_at as "nextAt"
    from campaigns
    where workspace_id = ${workspaceId} and next_at is not null and status in ('SCHEDULED', 'ACTIVE')
      and next_at < ${before} and not is_test
    order by next_at limit ${limit}`;
}

/** A run to an audience that has started, or waits for a worker. */
export type OpenSend = {
  campaignId: string;
  name: string;
  status: string;
  deliveryType: CampaignDeliveryType;
  at: Date;
};

/** Lists the newest first. Index: runs_sending, campaigns primary key. */
export async function listOpenSends(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<OpenSend[]> {
  return tx<OpenSend[]>`
    select runs.campaign_id as "campaignId", campaigns.name, runs.status, campaigns.delivery_type as "deliveryType",
      coalesce(runs.started_at, runs.created_at) as at
    from runs join campaigns on campaigns.id = runs.campaign_id
    where runs.workspace_id = ${workspaceId} and runs.status in ('QUEUED', 'SENDING') and runs.lane = 1 and not runs.is_test
    order by runs.created_at desc limit ${limit}`;
}

/**
 * Lists the sends of audiences that started in a span and are over, the newest first. Sends to named users come by the thousand and
 * are left out. Index: runs_started, campaigns primary key.
 */
export async function listPastSends(
  tx: Queryable,
  { workspaceId, from, before, limit }: { workspaceId: string; from: Date; before: Date; limit: number },
): Promise<OpenSend[]> {
  return tx<OpenSend[]>`
    select runs.campaign_id as "campaignId", campaigns.name, runs.status, campaigns.delivery_type as "deliveryType",
      runs.started_at as at
    from runs join campaigns on campaigns.id = runs.campaign_id
    where runs.workspace_id = ${workspaceId} and runs.started_at >= ${from} and runs.started_at < ${before}
      and runs.ended_at is not null and runs.lane = 1 and not runs.is_test
    order by runs.started_at desc limit ${limit}`;
}
