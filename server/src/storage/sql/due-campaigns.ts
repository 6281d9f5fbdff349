import type { UserSelector } from '../../domain/audience/user-selector.ts';
import type { StoredTiming } from '../../domain/timing/stored-timing.ts';
import type { Queryable } from '../pool.ts';

/** A scheduled campaign whose moment has come. */
export type DueCampaign = {
  id: string;
  workspaceId: string;
  deliveryType: 'ONE_TIME' | 'PERIODIC' | 'BUSINESS_EVENT_TRIGGERED';
  timing: StoredTiming;
  /** Audience `USER` only. */
  targetSelector: UserSelector | null;
  settings: Record<string, unknown>;
  nextAt: Date;
};

/**
 * Locks campaigns that are due, longest first, at most `limit`; those another node is firing are skipped. The lock is
 * held until the caller's transaction has made their runs and moved `next_at`. Index: campaigns_due.
 */
export async function lockDueCampaigns(
  tx: Queryable,
  { at, limit }: { at: Date; limit: number },
): Promise<DueCampaign[]> {
  return tx<DueCampaign[]>`
    select id, workspace_id as "workspaceId", delivery_type as "deliveryType", timing,
      target_selector as "targetSelector", settings, next_at as "nextAt"
    from campaigns
    where next_at <= ${at} and status in ('SCHEDULED', 'ACTIVE')
    order by next_at
    limit ${limit}
    for update skip locked`;
}

export type AdvancedCampaign = {
  id: string;
  status: 'SENDING' | 'FAILED' | 'ACTIVE' | 'RETIRED';
  reason: string | null;
  nextAt: Date | null;
};

/** Moves campaigns behind the moments that were decided, in one statement. The caller holds their locks. */
export async function advanceCampaigns(
  tx: Queryable,
  { campaigns, at }: { campaigns: AdvancedCampaign[]; at: Date },
): Promise<void> {
  await tx`
    update campaigns
    set status = advanced.status, status_reason = advanced.reason, next_at = advanced.next_at, updated_at = ${at}
    from unnest(
      ${campaigns.map(({ id }) => id)}::text[], ${campaigns.map(({ status }) => status)}::text[],
      ${campaigns.map(({ reason }) => reason)}::text[],
      ${campaigns.map(({ nextAt }) => nextAt?.toISOString() ?? null)}::timestamptz[]
    ) as advanced (id, status, reason, next_at)
    where campaigns.id = advanced.id collate "C"`;
}
