import type { CampaignDeliveryType } from '../../domain/campaigns/campaign-search.ts';
import type { Queryable } from '../database.ts';

/** One sending of a campaign, as it is shown. */
export type CampaignRun = {
  id: string;
  status: string;
  statusReason: string | null;
  /** The moment it was due; null for a request that was sent at once. */
  dueAt: Date | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
};

/** Newest first. Index: runs_campaign. */
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
 * QUEUED and SENDING → PAUSED. Runs that wait for a moment keep waiting: none starts while the campaign is paused. Rows
 * in id order, so that two transactions never wait in a circle. Index: runs_campaign.
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

/** PAUSED → where it was, whoever paused it. Rows in id order. Index: runs_campaign. */
export async function resumeCampaignRuns(tx: Queryable, campaignId: string): Promise<void> {
  await tx`
    with paused as (
      select id from runs where campaign_id = ${campaignId} and status = 'PAUSED' order by id for update
    )
    update runs
    set status = case when started_at is null then 'QUEUED' else 'SENDING' end, status_reason = null, paused_platform = null
    from paused where runs.id = paused.id`;
}

/** Runs that joined a campaign wait for the moment it goes on with. Index: runs_campaign. */
export async function rescheduleWaitingRuns(
  tx: Queryable,
  { campaignId, dueAt }: { campaignId: string; dueAt: Date },
): Promise<void> {
  await tx`
    update runs set due_at = ${dueAt}
    where campaign_id = ${campaignId} and status = 'QUEUED' and due_at is not null and due_at < ${dueAt}`;
}

/**
 * Every open run → STOPPED, and its chunks that no worker holds → DONE; a worker that holds one finds at its next window
 * that the run is not sending. Runs before chunks, rows in id order. Indexes: runs_campaign, chunks primary key.
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

/** Runs that are on their way, and runs that wait for a moment. Index: runs_campaign. */
export async function countOpenRuns(tx: Queryable, campaignId: string): Promise<{ underWay: number; waiting: number }> {
  const [row] = await tx<{ underWay: number; waiting: number }[]>`
    select count(*) filter (where due_at is null or status = 'SENDING') as "underWay",
      count(*) filter (where due_at is not null and status = 'QUEUED') as waiting
    from runs where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING')`;
  return row!;
}

/** Whether a run of the campaign is under way, waits or is paused: it still reads the campaign. Index: runs_campaign. */
export async function hasOpenRuns(tx: Queryable, campaignId: string): Promise<boolean> {
  const rows = await tx`
    select 1 from runs where campaign_id = ${campaignId} and status in ('QUEUED', 'SENDING', 'PAUSED') limit 1`;
  return rows.length === 1;
}

export type ParentCampaign = { campaignId: string; deliveryType: CampaignDeliveryType };

/** The campaign that a version's id or the campaign's own names. Index: primary key; the own id is the first version's. */
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
  /** The occurrence it was made for; null for one that an event or a request asked for at once. */
  plannedAt: Date | null;
};

/** Runs of all versions of a campaign, newest first, ties by id. Indexes: campaigns_version_of, runs_campaign. */
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

/** Indexes as listExecutions. */
export async function countExecutions(tx: Queryable, campaignId: string): Promise<number> {
  const [row] = await tx<{ total: number }[]>`
    select count(*) as total from runs where runs.campaign_id = any(${versionsOf(tx, campaignId)})`;
  return row!.total;
}

function versionsOf(tx: Queryable, campaignId: string) {
  return tx`array(select id from campaigns where id = ${campaignId} or version_of = ${campaignId})`;
}
