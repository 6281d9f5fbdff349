import type { CampaignContent, Platform } from '../../domain/campaign/content.ts';
import type { ConversionGoal } from '../../domain/campaign/conversion-goal.ts';
import type { DeliverySettings } from '../../domain/campaign/delivery-settings.ts';
import type { Timing } from '../../domain/timing/timing.ts';
import type { Queryable } from '../pool.ts';

export type NewCampaign = {
  id: string;
  workspaceId: string;
  name: string;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  /** Audience `SEGMENT` only. */
  segmentId: string | null;
  platforms: Platform[];
  content: CampaignContent;
  timing: Timing;
  tags: string[];
  conversionGoals: ConversionGoal[];
  settings: DeliverySettings;
  createdBy: string;
  createdAt: Date;
};

/** Inserts campaigns of the push API that are sent at once, in one statement. Their names have been taken before. */
export async function insertSendingCampaigns(tx: Queryable, campaigns: NewCampaign[]): Promise<void> {
  if (campaigns.length === 0) return;
  const rows = campaigns.map((campaign) => ({
    id: campaign.id,
    workspace_id: campaign.workspaceId,
    name: campaign.name,
    source: 'PUSH_API',
    delivery_type: 'ONE_TIME',
    audience: campaign.audience,
    segment_id: campaign.segmentId,
    platforms: campaign.platforms,
    content: tx.json(campaign.content as never),
    timing: tx.json(campaign.timing as never),
    tags: campaign.tags,
    conversion_goals: tx.json(campaign.conversionGoals as never),
    settings: tx.json(campaign.settings as never),
    status: 'SENDING',
    created_by: campaign.createdBy,
    created_at: campaign.createdAt,
    updated_at: campaign.createdAt,
  }));
  await tx`insert into campaigns ${tx(rows as never)}`;
}

export type StoredCampaign = {
  id: string;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  platforms: Platform[];
  content: CampaignContent;
  settings: Record<string, unknown>;
};

/** The campaign that holds a name. Indexes: campaign_names key, campaigns primary key. */
export async function findCampaignByName(
  tx: Queryable,
  { workspaceId, name }: { workspaceId: string; name: string },
): Promise<StoredCampaign | undefined> {
  const [campaign] = await tx<StoredCampaign[]>`
    select campaigns.id, campaigns.audience, campaigns.platforms, campaigns.content, campaigns.settings
    from campaign_names
    join campaigns on campaigns.id = campaign_names.campaign_id
    where campaign_names.workspace_id = ${workspaceId} and campaign_names.name = ${name}`;
  return campaign;
}

/** A request joined these campaigns: they are sending again. Rows in id order, so that two batches never wait in a circle. */
export async function resumeCampaigns(tx: Queryable, { ids, at }: { ids: string[]; at: Date }): Promise<void> {
  if (ids.length === 0) return;
  await tx`
    with joined as (
      select id from campaigns where id = any(${ids}) and status in ('SENT', 'FAILED') order by id for update
    )
    update campaigns set status = 'SENDING', status_reason = null, updated_at = ${at}
    from joined where campaigns.id = joined.id`;
}
