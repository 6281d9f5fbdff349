import type { CampaignParts } from '../../domain/campaign-document/campaign.ts';
import type { CampaignChannel, CampaignDeliveryType, CampaignStatus } from '../../domain/campaigns/campaign.ts';
import type { CampaignContent, Platform } from '../../domain/content/content.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversions.ts';
import type { DeliverySettings } from '../../domain/campaigns/delivery-settings.ts';
import type { Variants } from '../../domain/experiments/variants.ts';
import type { StoredTiming, Timing } from '../../domain/timing/timing.ts';
import type { Queryable } from '../database.ts';

/** The columns that the campaign API writes: the columns of the push API, and the parts of the document as sent. */
export type AuthoredColumns = {
  name: string;
  deliveryType: CampaignDeliveryType;
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  segmentId: string | null;
  platforms: Platform[];
  content: CampaignContent;
  variants: Variants | null;
  /** Undefined for a draft. */
  timing: Timing | undefined;
  tags: string[];
  conversionGoals: ConversionGoal[];
  settings: DeliverySettings;
  /** The business event that starts the campaign; null if there is none. */
  businessEventId: string | null;
  parts: CampaignParts;
  status: CampaignStatus;
  nextAt: Date | null;
};

type Identified = { workspaceId: string; id: string };

export type NewAuthoredCampaign = Identified &
  AuthoredColumns & {
    /** Present if this is a later version of a document: the id of its first version, and its own number. */
    version?: { of: string; number: number };
    isTest?: boolean;
    /** The journey whose message this is. Such campaigns are hidden like test sends: the same indexes leave them out. */
    journeyId?: string;
    createdBy: string;
    at: Date;
  };

const columnsOf = (tx: Queryable, campaign: AuthoredColumns) => ({
  name: campaign.name,
  delivery_type: campaign.deliveryType,
  audience: campaign.audience,
  segment_id: campaign.segmentId,
  platforms: campaign.platforms,
  content: tx.json(campaign.content),
  variants: campaign.variants === null ? null : tx.json(campaign.variants),
  timing: tx.json(campaign.timing ?? {}),
  tags: campaign.tags,
  conversion_goals: tx.json(campaign.conversionGoals),
  settings: tx.json(campaign.settings),
  business_event_id: campaign.businessEventId,
  parts: tx.json(campaign.parts),
  status: campaign.status,
  next_at: campaign.nextAt,
});

export async function insertAuthoredCampaign(tx: Queryable, campaign: NewAuthoredCampaign): Promise<void> {
  const row = {
    ...columnsOf(tx, campaign),
    id: campaign.id,
    workspace_id: campaign.workspaceId,
    source: 'CAMPAIGN_API',
    version_of: campaign.version?.of ?? null,
    version_number: campaign.version?.number ?? null,
    is_test: campaign.isTest ?? campaign.journeyId !== undefined,
    journey_id: campaign.journeyId ?? null,
    created_by: campaign.createdBy,
    created_at: campaign.at,
    updated_at: campaign.at,
  };
  await tx`insert into campaigns ${tx(row)}`;
}

/** Overwrites a campaign. The caller holds its lock. Index: primary key. */
export async function updateAuthoredCampaign(
  tx: Queryable,
  campaign: Identified & AuthoredColumns & { updatedBy: string; at: Date },
): Promise<void> {
  const row = {
    ...columnsOf(tx, campaign),
    status_reason: null,
    updated_by: campaign.updatedBy,
    updated_at: campaign.at,
  };
  await tx`
    update campaigns set ${tx(row)} where id = ${campaign.id} and workspace_id = ${campaign.workspaceId}`;
}

export type AuthoredCampaign = Identified & {
  /** The id that all versions share. */
  campaignId: string;
  versionNumber: number | null;
  channel: string;
  deliveryType: CampaignDeliveryType;
  status: CampaignStatus;
  timing: StoredTiming | Record<string, never>;
  nextAt: Date | null;
  /** Null: not made by the campaign API. */
  parts: CampaignParts | null;
  createdBy: string;
};

const columns = (tx: Queryable) => tx`
  id, workspace_id as "workspaceId", campaign_id as "campaignId", version_number as "versionNumber", channel,
  delivery_type as "deliveryType", status, timing, next_at as "nextAt", parts, created_by as "createdBy"`;

/** Index: primary key. */
export async function findAuthoredCampaign(
  tx: Queryable,
  { workspaceId, id }: Identified,
): Promise<AuthoredCampaign | undefined> {
  const [campaign] = await tx<AuthoredCampaign[]>`
    select ${columns(tx)} from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test`;
  return campaign;
}

/**
 * Locks a campaign until the transaction ends, so that it is not fired, moved or changed meanwhile. Index: primary key.
 */
export async function lockAuthoredCampaign(
  tx: Queryable,
  { workspaceId, id }: Identified,
): Promise<AuthoredCampaign | undefined> {
  const [campaign] = await tx<AuthoredCampaign[]>`
    select ${columns(tx)} from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test
    for update`;
  return campaign;
}

/**
 * Returns the id of the newest version of a campaign. `id` is the id of the campaign or of any of its versions. If the
 * campaign was never revised, returns its id. Indexes: primary key, campaigns_version_of.
 */
export async function findNewestVersionId(tx: Queryable, { workspaceId, id }: Identified): Promise<string | undefined> {
  const [row] = await tx<{ id: string }[]>`
    select version.id
    from campaigns as named
    join campaigns as version on version.id = named.campaign_id or version.version_of = named.campaign_id
    where named.id = ${id} and named.workspace_id = ${workspaceId} and not named.is_test
    order by version.version_number desc nulls last
    limit 1`;
  return row?.id;
}

/**
 * Updates the name and the tags of a version, and the parts that contain them. Index: primary key.
 */
export async function relabelCampaign(
  tx: Queryable,
  campaign: Identified & Pick<AuthoredColumns, 'name' | 'tags' | 'parts'> & { updatedBy: string; at: Date },
): Promise<void> {
  await tx`
    update campaigns
    set name = ${campaign.name}, tags = ${campaign.tags}, parts = ${tx.json(campaign.parts)},
      updated_by = ${campaign.updatedBy}, updated_at = ${campaign.at}
    where id = ${campaign.id} and workspace_id = ${campaign.workspaceId}`;
}

/**
 * Moves a campaign from ACTIVE or PAUSED to RETIRED, because a newer version replaces it. The caller holds its lock.
 * Index: primary key.
 */
export async function retireVersion(
  tx: Queryable,
  version: Identified & { reason: string; updatedBy: string; at: Date },
): Promise<void> {
  await tx`
    update campaigns
    set status = 'RETIRED', status_reason = ${version.reason}, next_at = null,
      version_number = coalesce(version_number, 1), updated_by = ${version.updatedBy}, updated_at = ${version.at}
    where id = ${version.id} and workspace_id = ${version.workspaceId}`;
}

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
 * Inserts records in one statement; existing ones stay as they are. Inserts rows in id order, so that two imports never
 * deadlock. Index: primary key.
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
      parts: tx.json(campaign.parts),
      status: campaign.status,
      status_reason: campaign.status === 'FAILED' ? 'imported as failed' : null,
      created_by: campaign.createdBy,
      updated_by: campaign.updatedBy,
      created_at: campaign.createdAt,
      updated_at: campaign.updatedAt,
      imported_sent_at: campaign.sentAt,
    }));
  const inserted = await tx<{ id: string }[]>`
    insert into campaigns ${tx(rows)} on conflict (id) do nothing returning id`;
  return new Set(inserted.map(({ id }) => id));
}

/**
 * Returns the ids that already belong to a campaign of another workspace or to a campaign that was not imported.
 * Index: primary key.
 */
export async function findForeignIds(
  tx: Queryable,
  { workspaceId, ids }: { workspaceId: string; ids: readonly string[] },
): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select id from campaigns
    where id = any(${[...ids]}) and (workspace_id <> ${workspaceId} or source <> 'IMPORT')`;
  return new Set(rows.map(({ id }) => id));
}
