import type { Platform } from '../../domain/campaigns/content.ts';
import type { ControlGroup, ControlShares } from '../../domain/experiments/control-groups.ts';
import { pointsOfPercent } from '../../domain/experiments/draw-point.ts';
import type { Draw } from '../../domain/experiments/draw-point.ts';
import { variationBounds } from '../../domain/experiments/variants.ts';
import type { Fragment, Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { isMeant, isReached } from './audience.ts';
import type { AudiencePage } from './audience.ts';

/** Users of a run with a device on a platform, of one control group or (null) of one variation. */
export type GroupUsers = {
  platform: Platform;
  group: ControlGroup | null;
  /** Null where there is one, and of control groups. */
  variation: number | null;
  users: number;
};

type RunAudience = Pick<AudiencePage, 'workspaceId' | 'platforms' | 'iosProvisional' | 'appIds' | 'bound'> & {
  /** Undefined: all users; `runId`: whose triggers it answers. */
  segment: { id: string; version: number } | { runId: string } | undefined;
};

type Audience = RunAudience & {
  shares: ControlShares;
  /** Percent by variation; undefined where there is one, or where they are not drawn before the run. */
  percents: readonly number[] | undefined;
};

/**
 * How many users a run is for, by variation, and its control groups keep out, each once a platform. Reads the audience's devices once, at
 * the run's start, as the count of devices does. Indexes: devices (workspace_id, bucket, user_id, device_id),
 * segment_members primary key.
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

/** Of the audience of a run, before anything is sent. */
export type AudiencePlatform = {
  platform: Platform;
  /** That are sent to. */
  devices: number;
  /** Users with a device that is sent to, and with one that has the app. */
  users: number;
  installed: number;
};

/**
 * How many devices and users a run is for. Reads the audience's devices once, at the run's start. Indexes as of
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

/** All devices of the workspace, of a segment's members at a version, or of the users whose triggers a run answers. */
function devicesOf(tx: Queryable, { workspaceId, segment }: RunAudience): Fragment {
  if (segment === undefined) return tx`devices where devices.workspace_id = ${workspaceId}`;
  if ('runId' in segment)
    return tx`
      triggers as member
      join devices on devices.workspace_id = member.workspace_id and devices.bucket = member.bucket
        and devices.user_id = member.user_id
      where member.workspace_id = ${workspaceId} and member.bucket = any(${allBuckets})
        and member.run_id = ${segment.runId}`;
  return tx`
    segment_members as member
    join devices on devices.workspace_id = member.workspace_id and devices.bucket = member.bucket
      and devices.user_id = member.user_id
    where member.workspace_id = ${workspaceId} and member.bucket = any(${allBuckets})
      and member.segment_id = ${segment.id} and member.added_in <= ${segment.version}
      and (member.removed_in is null or member.removed_in > ${segment.version})`;
}

/** `drawPoint` of the domain, where many users are asked about: four bytes of SHA-256 as one number. */
function drawPointOf(tx: Queryable, { draw, of, user }: { draw: Draw; of: string; user: Fragment }): Fragment {
  const digest = tx`sha256(convert_to(${`${draw} ${of} `}::text || ${user}, 'UTF8'))`;
  return tx`('x' || encode(substring(${digest} from 1 for 4), 'hex'))::bit(32)::bigint`;
}
