import type { CampaignDeliveryType } from '../../domain/campaigns/campaign-search.ts';
import type { StoredTiming } from '../../domain/timing/stored-timing.ts';
import type { Queryable } from '../database.ts';

/** A campaign that waits for its time. */
export type UpcomingCampaign = {
  id: string;
  name: string;
  status: string;
  deliveryType: CampaignDeliveryType;
  timing: StoredTiming | Record<string, never>;
  nextAt: Date;
};

/** Those that are due before an instant, the next one first. Index: campaigns_next. */
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

/** A sending to an audience that has begun, or waits for a worker. */
export type OpenSend = {
  campaignId: string;
  name: string;
  status: string;
  deliveryType: CampaignDeliveryType;
  at: Date;
};

/** The newest first. Index: runs_sending, campaigns primary key. */
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
