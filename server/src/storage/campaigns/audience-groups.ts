import type { AttributionType } from '../../domain/campaigns/conversions.ts';
import type { Platform } from '../../domain/content/content.ts';
import { pointsOfPercent, controlGroups } from '../../domain/experiments/control-groups.ts';
import type { ControlGroup, ControlShares, Draw } from '../../domain/experiments/control-groups.ts';
import type { GroupUsers } from '../../domain/experiments/group-users.ts';
import { variationBounds } from '../../domain/experiments/variants.ts';
import type { Fragment, Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { isInBuckets } from '../users/buckets.ts';
import { isMeant, isReached } from './audience.ts';
import type { AudiencePage } from './audience.ts';
import { inSpan } from './campaign-stats.ts';
import type { AskedRuns } from './campaign-stats.ts';

type RunAudience = Pick<AudiencePage, 'workspaceId' | 'platforms' | 'iosProvisional' | 'appIds' | 'bound'> & {
  /** Undefined: all users. `runId`: the users whose triggers this run answers. */
  segment: { id: string; version: number } | { runId: string } | undefined;
  /** Undefined: all buckets. */
  buckets?: readonly number[];
};

type Audience = RunAudience & {
  shares: ControlShares;
  /** Percent by variation; undefined if there is only one, or if variations are not drawn before the run. */
  percents: readonly number[] | undefined;
};

/**
 * Counts the users that a run is for, by variation, and those that its control groups exclude, each once per platform.
 * Reads the audience's devices once, at the run's start, like the count of devices. Indexes: devices (workspace_id,
 * bucket, user_id, device_id), segment_members primary key.
 */
export async function countGroupUsers(tx: Queryable, audience: Audience): Promise<GroupUsers[]> {
  const { workspaceId, shares, percents } = audience;
  const user = tx`person.user_id`;
  const isIn = (draw: Draw, of: string, percent: number | null): Fragment =>
    tx`${drawPointOf(tx, { draw, of, user })} < ${pointsOfPercent(percent ?? 0)}::bigint`;
  const point = drawPointOf(tx, { draw: 'variation', of: shares.canonicalCampaignId, user });
  const variation = percents
    ? tx`width_bucket(${point}, ${variationBounds(percents).slice(0, -1)}::bigint[]) + 1`
    : tx`null::integer`;
  return tx<GroupUsers[]>`
    select platform, control_group as "group", case when control_group is null then variation end as variation,
      count(*) as users
    from (
      select person.platform, ${variation} as variation,
        case when ${isIn('global-control', workspaceId, shares.globalPercent)} then 'GLOBAL_CONTROL_GROUP'
          when ${isIn('campaign-control', shares.canonicalCampaignId, shares.campaignPercent)}
            then 'CAMPAIGN_CONTROL_GROUP' end as control_group
      from (
        select distinct devices.bucket, devices.user_id, devices.platform from ${devicesOf(tx, audience)} and ${isReached(tx, audience)}
      ) as person
    ) as placed
    group by 1, 2, 3
    order by 1, 2 nulls first, 3`;
}

/** A platform of a run's audience, before anything is sent. */
export type AudiencePlatform = {
  platform: Platform;
  /** Devices that are sent to. */
  devices: number;
  /** Users with a device that is sent to, and users with a device that has the app. */
  users: number;
  installed: number;
};

/**
 * Counts the devices and users that a run is for. Reads the audience's devices once, at the run's start. Indexes: as
 * countGroupUsers.
 */
export async function countAudiencePlatforms(tx: Queryable, audience: RunAudience): Promise<AudiencePlatform[]> {
  return tx<AudiencePlatform[]>`
    select platform, sum(reached)::bigint as devices, count(*) filter (where reached > 0) as users, count(*) as installed
    from (
      select devices.bucket, devices.user_id, devices.platform,
        count(*) filter (where devices.state = 'ACTIVE') as reached
      from ${devicesOf(tx, audience)} and ${isMeant(tx, audience)} and devices.state <> 'GONE'
      group by devices.bucket, devices.user_id, devices.platform
    ) as person
    group by platform
    order by platform`;
}

/** A platform of one bucket of a run's audience. */
export type BucketPlatform = AudiencePlatform & { bucket: number };

/** Counts the same in each of some buckets, in no order. Indexes: as countGroupUsers. */
export async function countBucketPlatforms(
  tx: Queryable,
  audience: RunAudience & { buckets: readonly number[] },
): Promise<BucketPlatform[]> {
  return tx<BucketPlatform[]>`
    select bucket, platform, sum(reached)::bigint as devices, count(*) filter (where reached > 0) as users,
      count(*) as installed
    from (
      select devices.bucket, devices.user_id, devices.platform,
        count(*) filter (where devices.state = 'ACTIVE') as reached
      from ${devicesOf(tx, audience)} and ${isMeant(tx, audience)} and devices.state <> 'GONE'
      group by devices.bucket, devices.user_id, devices.platform
    ) as person
    group by bucket, platform`;
}

/**
 * Selects all devices of the workspace, of a segment's members at a version, or of the users whose triggers a run
 * answers.
 */
function devicesOf(tx: Queryable, { workspaceId, segment, buckets }: RunAudience): Fragment {
  const inBuckets = (column: Fragment) => isInBuckets(tx, { column, buckets: buckets ?? allBuckets });
  if (segment === undefined)
    return tx`devices where devices.workspace_id = ${workspaceId}
      and ${buckets === undefined ? tx`true` : inBuckets(tx`devices.bucket`)}`;
  if ('runId' in segment)
    return tx`
      triggers as member
      join devices on devices.workspace_id = member.workspace_id and devices.bucket = member.bucket
        and devices.user_id = member.user_id
      where member.workspace_id = ${workspaceId} and ${inBuckets(tx`member.bucket`)}
        and member.run_id = ${segment.runId}`;
  return tx`
    segment_members as member
    join devices on devices.workspace_id = member.workspace_id and devices.bucket = member.bucket
      and devices.user_id = member.user_id
    where member.workspace_id = ${workspaceId} and ${inBuckets(tx`member.bucket`)}
      and member.segment_id = ${segment.id} and member.added_in <= ${segment.version}
      and (member.removed_in is null or member.removed_in > ${segment.version})`;
}

/** The domain's `drawPoint` in SQL, for many users: four bytes of SHA-256 as one number. */
function drawPointOf(tx: Queryable, { draw, of, user }: { draw: Draw; of: string; user: Fragment }): Fragment {
  const digest = tx`sha256(convert_to(${`${draw} ${of} `}::text || ${user}, 'UTF8'))`;
  return tx`('x' || encode(substring(${digest} from 1 for 4), 'hex'))::bit(32)::bigint`;
}

/** Number of users of a campaign's runs with a device on a platform, each once per run. */
export type AudienceNumbers = {
  campaignId: string;
  /** Null for runs whose audience has none. */
  platform: Platform | null;
  /** Users with a device that is sent to, and users with a device that has the app. */
  users: number;
  installed: number;
  /** True if one of the runs was not counted when it began. */
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

/**
 * Number of users of a campaign's runs, each once per run and platform, for one control group or (null) a variation.
 */
export type GroupUserNumbers = {
  campaignId: string;
  platform: Platform;
  group: ControlGroup | null;
  /** 0 if there is only one variation, and for control groups. */
  variation: number;
  users: number;
};

/** Omits campaigns without control groups and variations. Index: runs_campaign. */
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
  /** Each user once per run. */
  users: number;
  /** Null: all variations together; 0 if there is only one. */
  variation: number | null;
};

/**
 * Counts the conversions in runs with control groups or variations, of everyone in their audience: users that a message
 * did not reach belong to the treated ones. Each conversion counts for its variation and for the total, because a
 * cluster has no grouping sets. Index: conversions_campaign.
 */
export async function countGroupConversions(
  tx: Queryable,
  asked: AskedRuns & { workspaceId: string; attribution: AttributionType },
): Promise<GroupConversionNumbers[]> {
  const group = tx`case when conversions.reach = any(${[...controlGroups]}) then conversions.reach end`;
  return tx<GroupConversionNumbers[]>`
    with asked as materialized (
      select runs.id from runs
      -- Without those whose users are not counted, because they were stopped before.
      where runs.campaign_id = any(${asked.campaignIds}) and ${inSpan(tx, asked)} and runs.group_users <> '[]'
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
