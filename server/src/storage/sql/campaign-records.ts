import type { CampaignChannel, CampaignDeliveryType } from '../../domain/campaign/campaign-search.ts';
import type { CampaignParts } from '../../domain/campaign-parts/read-campaign.ts';
import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';
import type { FoundCampaign } from './campaign-search.ts';

/** A campaign as search shows it. JSON columns are as their writer left them: drafts may lack anything. */
export type CampaignRecord = {
  /** The document's own id; of a child the run's. */
  id: string;
  /** What all versions share; of a child its parent. */
  campaignId: string;
  kind: FoundCampaign['kind'];
  versionNumber: number | null;
  name: string;
  channel: CampaignChannel;
  deliveryType: CampaignDeliveryType;
  /** A word of `campaigns.status`; of a child one of `runs.status`. */
  status: string;
  createdBy: string;
  createdAt: Date;
  updatedAt: Date;
  /** When its newest run began to be sent. */
  sentAt: Date | null;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  segmentId: string | null;
  segmentName: string | null;
  platforms: Platform[];
  tags: string[];
  content: Record<string, unknown>;
  timing: Record<string, unknown>;
  /** As the campaign API was sent them; null for the push API. */
  parts: CampaignParts | null;
  updatedBy: string | null;
  conversionGoals: unknown;
  settings: Record<string, unknown>;
};

/** The records of a page, in its order. Indexes: primary keys of campaigns, runs and segments, runs_campaign. */
export async function readCampaignRecords(tx: Queryable, page: readonly FoundCampaign[]): Promise<CampaignRecord[]> {
  if (page.length === 0) return [];
  return tx<CampaignRecord[]>`
    select page.id, campaigns.campaign_id as "campaignId", page.kind, campaigns.version_number as "versionNumber",
      campaigns.name, campaigns.channel, campaigns.delivery_type as "deliveryType",
      coalesce(run.status, campaigns.status) as status, campaigns.created_by as "createdBy",
      coalesce(run.created_at, campaigns.created_at) as "createdAt",
      coalesce(run.ended_at, run.started_at, run.created_at, campaigns.updated_at) as "updatedAt",
      case when run.id is not null then run.started_at else coalesce(campaigns.imported_sent_at, (
        select runs.started_at from runs
        where runs.campaign_id = campaigns.id and runs.started_at is not null
        order by runs.created_at desc limit 1
      )) end as "sentAt",
      campaigns.audience, campaigns.segment_id as "segmentId", segments.name as "segmentName", campaigns.platforms,
      campaigns.tags, coalesce(run.content, campaigns.content) as content, campaigns.timing,
      campaigns.conversion_goals as "conversionGoals", campaigns.settings, campaigns.parts,
      campaigns.updated_by as "updatedBy"
    from unnest(${page.map(({ kind }) => kind)}::text[], ${page.map(({ id }) => id)}::text[])
      with ordinality as page (kind, id, place)
    left join runs as run on page.kind = 'EXECUTION' and run.id = page.id
    join campaigns on campaigns.id = coalesce(run.campaign_id, page.id)
    left join segments on segments.id = campaigns.segment_id
    order by page.place`;
}

/** Whether that document is a campaign of the workspace. Index: primary key. */
export async function hasCampaign(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const rows = await tx`select 1 from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test`;
  return rows.length === 1;
}

export type SearchSettings = { versioning: 'on' | 'off'; v1Answer: 'object' | 'array' };

/** How a workspace wants search to answer. Index: primary key. */
export async function findSearchSettings(tx: Queryable, workspaceId: string): Promise<SearchSettings> {
  const [row] = await tx<SearchSettings[]>`
    select case when campaign_versioning then 'on' else 'off' end as versioning,
      case when v1_search_bare_array then 'array' else 'object' end as "v1Answer"
    from workspaces where id = ${workspaceId}`;
  return row!;
}
