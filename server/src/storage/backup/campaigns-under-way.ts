import type { Queryable } from '../database.ts';

/**
 * Campaigns to many that were sending when the backup was made, or had something due before `at`: what they sent since is
 * not known. Oldest first. Once, in a restore. Indexes: campaigns_due, runs_open.
 */
export async function listCampaignsUnderWay(
  tx: Queryable,
  at: Date,
): Promise<{ id: string; workspaceId: string; name: string }[]> {
  return tx<{ id: string; workspaceId: string; name: string }[]>`
    select id, workspace_id as "workspaceId", name from campaigns
    where audience <> 'USER' and (
      status = 'SENDING'
      or status in ('SCHEDULED', 'ACTIVE') and next_at <= ${at}
      or status = 'ACTIVE' and (
        id in (select campaign_id from runs where status in ('QUEUED', 'SENDING'))
        or campaign_id in (select campaign_id from triggers where state = 'WAITING' and due_at <= ${at})
      )
    )
    order by id`;
}
