import type { AttributionType } from '../../domain/campaigns/attribution.ts';
import type { Platform } from '../../domain/campaigns/content.ts';
import { controlGroups } from '../../domain/experiments/control-groups.ts';
import type { ControlGroup } from '../../domain/experiments/control-groups.ts';
import type { Queryable } from '../database.ts';
import { inSpan } from './campaign-stats.ts';
import type { AskedRuns } from './campaign-stats.ts';

/** Users of the runs of a campaign with a device of a platform, each once a run. */
export type AudienceNumbers = {
  campaignId: string;
  /** Null of runs whose audience has none. */
  platform: Platform | null;
  /** With a device that is sent to, and with one that has the app. */
  users: number;
  installed: number;
  /** A run among them was not counted when it began. */
  isUncounted: boolean;
};

/** Index: runs_campaign. */
export async function sumAudiences(tx: Queryable, asked: AskedRuns): Promise<AudienceNumbers[]> {
  return tx<AudienceNumbers[]>`
    select runs.campaign_id as "campaignId", counted.platform, coalesce(sum(counted.users), 0)::bigint as users,
      coalesce(sum(counted.installed), 0)::bigint as installed,
      bool_or(runs.audience_platforms is null) as "isUncounted"
    from runs
    left join lateral jsonb_to_recordset(runs.audience_platforms)
      as counted (platform text, users bigint, installed bigint) on true
    where runs.campaign_id = any(${asked.campaignIds}) and ${inSpan(tx, asked)}
    group by runs.campaign_id, counted.platform`;
}

/** Users of the runs of a campaign, each once a run and platform, of one control group or (null) of a variation. */
export type GroupUserNumbers = {
  campaignId: string;
  platform: Platform;
  group: ControlGroup | null;
  /** 0 where there is one, and of control groups. */
  variation: number;
  users: number;
};

/** Campaigns without control groups and variations are not among them. Index: runs_campaign. */
export async function sumGroupUsers(tx: Queryable, asked: AskedRuns): Promise<GroupUserNumbers[]> {
  return tx<GroupUserNumbers[]>`
    select runs.campaign_id as "campaignId", counted.platform, counted."group", coalesce(counted.variation, 0) as variation,
      sum(counted.users)::bigint as users
    from runs
    cross join lateral jsonb_to_recordset(runs.group_users) as counted (platform text, "group" text, variation integer, users bigint)
    where runs.campaign_id = any(${asked.campaignIds}) and ${inSpan(tx, asked)} and runs.group_users is not null
    group by runs.campaign_id, counted.platform, counted."group", coalesce(counted.variation, 0)
    order by runs.campaign_id, counted.platform, counted."group" nulls first, variation`;
}

export type GroupConversionNumbers = {
  campaignId: string;
  platform: Platform;
  goal: number;
  group: ControlGroup | null;
  total: number;
  unique: number;
  /** Each user once a run. */
  users: number;
  /** Null: of all of them together; 0 where there is one. */
  variation: number | null;
};

/**
 * Conversions in runs with control groups or variations, of everybody in their audience: those a message did not reach are
 * among the treated. Each counts for its variation and for all of them; a cluster has no grouping sets. Index: conversions_campaign.
 */
export async function countGroupConversions(
  tx: Queryable,
  asked: AskedRuns & { workspaceId: string; attribution: AttributionType },
): Promise<GroupConversionNumbers[]> {
  const group = tx`case when conversions.reach = any(${[...controlGroups]}) then conversions.reach end`;
  return tx<GroupConversionNumbers[]>`
    with asked as materialized (
      select runs.id from runs
      where runs.campaign_id = any(${asked.campaignIds}) and ${inSpan(tx, asked)} and runs.group_users is not null
    )
    select conversions.campaign_id as "campaignId", conversions.platform, conversions.goal, ${group} as "group",
      count(*) as total, count(distinct conversions.user_id) as unique,
      count(distinct conversions.run_id || conversions.user_id) as users,
      own.variation
    from asked
    join conversions on conversions.run_id = asked.id
    cross join lateral unnest(array[null, coalesce(conversions.variation, 0)]) as own (variation)
    where conversions.workspace_id = ${asked.workspaceId} and conversions.campaign_id = any(${asked.campaignIds})
      and conversions.attribution = ${asked.attribution}
    group by 1, 2, 3, 4, own.variation`;
}
