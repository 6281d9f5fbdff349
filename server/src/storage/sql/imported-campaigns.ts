import type { CampaignParts } from '../../domain/campaign-parts/read-campaign.ts';
import type { CampaignChannel, CampaignDeliveryType } from '../../domain/campaign/campaign-search.ts';
import type { CampaignStatus } from '../../domain/campaign/campaign-states.ts';
import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';

/** A campaign that another service sent. */
export type ImportedCampaign = {
  id: string;
  name: string;
  channel: CampaignChannel;
  deliveryType: CampaignDeliveryType;
  status: CampaignStatus;
  platforms: Platform[];
  tags: string[];
  parts: CampaignParts;
  createdBy: string;
  updatedBy: string | null;
  createdAt: Date;
  updatedAt: Date;
  sentAt: Date | null;
};

/**
 * Inserts records, in one statement; one whose id is there already stays as it is. Rows in id order, so that two imports
 * never wait in a circle. Index: primary key.
 *
 * @returns the ids that are new
 */
export async function insertImportedCampaigns(
  tx: Queryable,
  { workspaceId, campaigns }: { workspaceId: string; campaigns: readonly ImportedCampaign[] },
): Promise<Set<string>> {
  const rows = [...campaigns]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map((campaign) => ({
      id: campaign.id,
      workspace_id: workspaceId,
      name: campaign.name,
      channel: campaign.channel,
      source: 'IMPORT',
      delivery_type: campaign.deliveryType,
      audience: 'ALL_USERS',
      platforms: campaign.platforms,
      content: tx.json({}),
      timing: tx.json({}),
      tags: campaign.tags,
      parts: tx.json(campaign.parts as never),
      status: campaign.status,
      status_reason: campaign.status === 'FAILED' ? 'imported as failed' : null,
      created_by: campaign.createdBy,
      updated_by: campaign.updatedBy,
      created_at: campaign.createdAt,
      updated_at: campaign.updatedAt,
      imported_sent_at: campaign.sentAt,
    }));
  const inserted = await tx<{ id: string }[]>`
    insert into campaigns ${tx(rows as never)} on conflict (id) do nothing returning id`;
  return new Set(inserted.map(({ id }) => id));
}

/** Of these ids those that another campaign has: one of another workspace, or one that was not imported. Primary key. */
export async function findForeignIds(
  tx: Queryable,
  { workspaceId, ids }: { workspaceId: string; ids: readonly string[] },
): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select id from campaigns
    where id = any(${[...ids]}) and (workspace_id <> ${workspaceId} or source <> 'IMPORT')`;
  return new Set(rows.map(({ id }) => id));
}
