import type { CampaignStatus } from '../../domain/campaign/campaign-states.ts';
import type { StoredTiming } from '../../domain/timing/stored-timing.ts';
import type { Queryable } from '../pool.ts';

/** How a campaign stands. */
export type CampaignRecord = {
  id: string;
  name: string;
  deliveryType: 'ONE_TIME' | 'PERIODIC' | 'EVENT_TRIGGERED' | 'BUSINESS_EVENT_TRIGGERED';
  audience: 'ALL_USERS' | 'SEGMENT' | 'USER';
  status: CampaignStatus;
  statusReason: string | null;
  timing: StoredTiming;
  nextAt: Date | null;
  createdAt: Date;
  createdBy: string;
};

const columns = (tx: Queryable) => tx`
  id, name, delivery_type as "deliveryType", audience, status, status_reason as "statusReason", timing,
  next_at as "nextAt", created_at as "createdAt", created_by as "createdBy"`;

type Identified = { workspaceId: string; id: string };

/** Index: primary key. */
export async function findCampaignRecord(
  tx: Queryable,
  { workspaceId, id }: Identified,
): Promise<CampaignRecord | undefined> {
  const [campaign] = await tx<CampaignRecord[]>`
    select ${columns(tx)} from campaigns where id = ${id} and workspace_id = ${workspaceId} and not is_test`;
  return campaign;
}

/** Newest first. Index: campaigns_newest. */
export async function listCampaignRecords(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<CampaignRecord[]> {
  return tx<CampaignRecord[]>`
    select ${columns(tx)} from campaigns
    where workspace_id = ${workspaceId} and not is_test order by created_at desc, id desc limit ${limit}`;
}

export type CampaignMove = Identified & {
  from: CampaignStatus;
  to: CampaignStatus;
  reason: string | null;
  nextAt: Date | null;
  at: Date;
};

/** Moves a campaign from one status to another. Index: primary key. @returns false when it has another by now */
export async function moveCampaign(tx: Queryable, move: CampaignMove): Promise<boolean> {
  const rows = await tx`
    update campaigns
    set status = ${move.to}, status_reason = ${move.reason}, next_at = ${move.nextAt}, updated_at = ${move.at}
    where id = ${move.id} and workspace_id = ${move.workspaceId} and status = ${move.from}
    returning 1`;
  return rows.length === 1;
}
