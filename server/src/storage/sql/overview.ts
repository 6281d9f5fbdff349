import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';

export type WorkspaceSummary = { id: string; dbName: string; name: string; timeZone: string };

/** The workspaces of this installation, oldest first. */
export async function listWorkspaces(tx: Queryable): Promise<WorkspaceSummary[]> {
  return tx<WorkspaceSummary[]>`
    select id, db_name as "dbName", name, time_zone as "timeZone" from workspaces order by created_at, id limit 100`;
}

export type DeviceCount = { platform: Platform; state: string; devices: number };

/** Devices per platform and state. Reads every device of the workspace: about 0.3 s a million. */
export async function countDevices(tx: Queryable, workspaceId: string): Promise<DeviceCount[]> {
  return tx<DeviceCount[]>`
    select platform, state, count(*) as devices
    from devices where workspace_id = ${workspaceId} group by platform, state order by platform, state`;
}

export async function countUsers(tx: Queryable, workspaceId: string): Promise<number> {
  const [row] = await tx<{ users: number }[]>`select count(*) as users from users where workspace_id = ${workspaceId}`;
  return row!.users;
}

export type RecentCampaign = {
  id: string;
  name: string;
  status: string;
  statusReason: string | null;
  createdAt: Date;
  createdBy: string;
  counts: { platform: Platform; outcome: string; devices: number }[];
};

/** Newest campaigns with what became of their messages. Index: campaigns_newest, runs_campaign, run_counts key. */
export async function listRecentCampaigns(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<RecentCampaign[]> {
  return tx<RecentCampaign[]>`
    select campaigns.id, campaigns.name, campaigns.status, campaigns.status_reason as "statusReason",
      campaigns.created_at as "createdAt", campaigns.created_by as "createdBy",
      coalesce((
        select jsonb_agg(jsonb_build_object('platform', total.platform, 'outcome', total.outcome, 'devices', total.devices))
        from (
          select run_counts.platform, run_counts.outcome, sum(run_counts.devices) as devices
          from runs join run_counts on run_counts.run_id = runs.id
          where runs.campaign_id = campaigns.id
          group by run_counts.platform, run_counts.outcome order by 1, 2
        ) as total
      ), '[]') as counts
    from campaigns
    where campaigns.workspace_id = ${workspaceId} and not campaigns.is_test
    order by campaigns.created_at desc, campaigns.id desc
    limit ${limit}`;
}
