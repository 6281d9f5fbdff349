import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';

/** Sends of campaigns that are under way or paused, per platform they go to. Indexes: runs_sending, runs_paused. */
export async function countRunsOfPlatforms(
  tx: Queryable,
  workspaceId: string,
): Promise<{ platform: Platform; runs: number }[]> {
  return tx<{ platform: Platform; runs: number }[]>`
    select platform, count(*) as runs
    from (
      (select campaign_id from runs
        where workspace_id = ${workspaceId} and lane = 1 and status in ('QUEUED', 'SENDING') limit 10000)
      union all
      (select campaign_id from runs where workspace_id = ${workspaceId} and status = 'PAUSED' limit 10000)
    ) as open
    join campaigns on campaigns.id = open.campaign_id
    cross join lateral unnest(campaigns.platforms) as platform
    group by platform`;
}
