import type { UserSelector } from '../../domain/audience/user-selector.ts';
import type { CampaignStatus } from '../../domain/campaign/campaign-states.ts';
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
  /** Audience `USER` that is sent later: whom to look up then. */
  targetSelector: UserSelector | null;
  platforms: Platform[];
  content: CampaignContent;
  timing: Timing;
  deliveryType: 'ONE_TIME' | 'PERIODIC';
  status: 'SENDING' | 'SCHEDULED' | 'ACTIVE';
  /** The first moment of one that is sent later. */
  nextAt: Date | null;
  tags: string[];
  conversionGoals: ConversionGoal[];
  settings: DeliverySettings;
  createdBy: string;
  createdAt: Date;
};

/** Inserts campaigns of the push API, in one statement. Their names have been taken before. */
export async function insertCampaigns(tx: Queryable, campaigns: NewCampaign[]): Promise<void> {
  if (campaigns.length === 0) return;
  const rows = campaigns.map((campaign) => ({
    id: campaign.id,
    workspace_id: campaign.workspaceId,
    name: campaign.name,
    source: 'PUSH_API',
    delivery_type: campaign.deliveryType,
    audience: campaign.audience,
    segment_id: campaign.segmentId,
    target_selector: campaign.targetSelector && tx.json(campaign.targetSelector),
    platforms: campaign.platforms,
    content: tx.json(campaign.content as never),
    timing: tx.json(campaign.timing as never),
    tags: campaign.tags,
    conversion_goals: tx.json(campaign.conversionGoals as never),
    settings: tx.json(campaign.settings as never),
    status: campaign.status,
    next_at: campaign.nextAt,
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

/** A campaign of audience `USER` that a request joins. */
export type JoinedCampaign = { id: string; status: CampaignStatus; nextAt: Date | null };

/**
 * Requests join these campaigns: those that had ended are sending again. Then locks all of them for sharing, so that
 * none is stopped or fired before the caller's transaction has stored what joins. Rows in id order both times, so that
 * two batches never wait in a circle; the stronger lock first. Index: primary key.
 */
export async function joinCampaigns(
  tx: Queryable,
  { ids, at }: { ids: string[]; at: Date },
): Promise<JoinedCampaign[]> {
  if (ids.length === 0) return [];
  await tx`
    with joined as (
      select id from campaigns
      where id = any(${ids}) and status in ('SENT', 'FAILED') and delivery_type = 'ONE_TIME'
      order by id for update
    )
    update campaigns set status = 'SENDING', status_reason = null, updated_at = ${at}
    from joined where campaigns.id = joined.id`;
  return tx<JoinedCampaign[]>`
    select id, status, next_at as "nextAt" from campaigns where id = any(${ids}) order by id for share`;
}
