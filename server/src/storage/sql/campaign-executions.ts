import type { CampaignDeliveryType } from '../../domain/campaign/campaign-search.ts';
import type { Queryable } from '../pool.ts';

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

export type CampaignExecution = { id: string; campaignId: string; sentAt: Date | null; status: string };

/** Runs of all versions of a campaign, newest first, ties by id. Indexes: campaigns_version_of, runs_campaign. */
export async function listExecutions(
  tx: Queryable,
  { campaignId, limit, offset }: { campaignId: string; limit: number; offset: number },
): Promise<CampaignExecution[]> {
  return tx<CampaignExecution[]>`
    select runs.id, ${campaignId} as "campaignId", runs.started_at as "sentAt", runs.status
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
