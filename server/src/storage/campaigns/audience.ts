import type { Platform } from '../../domain/campaigns/content.ts';
import { countDevices, countUsers } from '../installation/overview.ts';
import type { DeviceCount } from '../installation/overview.ts';
import type { Fragment, Queryable } from '../database.ts';
import { isInAudience } from '../segments/segment-filters.ts';
import type { FilterAudience } from '../segments/segment-filters.ts';
import { allBuckets } from '../segments/segment-members.ts';

/** A device of an audience, in the order of the fan-out: (bucket, id). */
export type AudienceDevice = {
  bucket: number;
  id: string;
  userId: string;
  platform: Platform;
  pushId: string;
};

/** The same with where it stands in its bucket, in the order of the audience. */
export type PagedDevice = AudienceDevice & { position: string };

export type AudiencePage = {
  workspaceId: string;
  platforms: readonly Platform[];
  /** iPhones that allowed pushes on trial only (true), or fully (false); null for both. */
  iosProvisional: boolean | null;
  bucketFrom: number;
  bucketTo: number;
  /** Last position of the page before; -1 and '' at the start. */
  afterBucket: number;
  afterPosition: string;
  /** Frozen upper bound: devices made later are not part of the run. */
  bound: string;
  limit: number;
};

/**
 * The next devices of audience "All Users". A keyset page: one index range scan, no offset, so nothing is skipped or
 * repeated while devices come and go. Index: devices primary key.
 */
export async function findAllUsersPage(tx: Queryable, page: AudiencePage): Promise<PagedDevice[]> {
  return tx<PagedDevice[]>`
    select bucket, id, user_id as "userId", platform, push_id as "pushId", id as position
    from devices
    where workspace_id = ${page.workspaceId}
      and bucket between ${page.bucketFrom} and ${page.bucketTo}
      and (bucket, id) > (${page.afterBucket}::smallint, ${page.afterPosition})
      and id <= ${page.bound}
      and platform = any(${page.platforms as Platform[]})
      and (platform <> 'IOS' or provisional = coalesce(${page.iosProvisional}, provisional))
      and state = 'ACTIVE'
    order by bucket, id
    limit ${page.limit}`;
}

/**
 * The next devices of named users (audience "User"), in the same order. Indexes: devices unique key on
 * (workspace_id, bucket, user_id, device_id).
 */
export async function findTargetUsersPage(
  tx: Queryable,
  page: AudiencePage & { targetUsers: [bucket: number, userId: string][] },
): Promise<PagedDevice[]> {
  return tx<PagedDevice[]>`
    select devices.bucket, devices.id, devices.user_id as "userId", devices.platform, devices.push_id as "pushId",
      devices.id as position
    from unnest(
      ${page.targetUsers.map(([bucket]) => bucket)}::smallint[], ${page.targetUsers.map(([, userId]) => userId)}::text[]
    ) as target (bucket, user_id)
    join devices on devices.workspace_id = ${page.workspaceId}
      and devices.bucket = target.bucket and devices.user_id = target.user_id collate "C"
    where target.bucket between ${page.bucketFrom} and ${page.bucketTo}
      and (devices.bucket, devices.id) > (${page.afterBucket}::smallint, ${page.afterPosition})
      and devices.id <= ${page.bound}
      and devices.platform = any(${page.platforms as Platform[]})
      and (devices.platform <> 'IOS' or devices.provisional = coalesce(${page.iosProvisional}, devices.provisional))
      and devices.state = 'ACTIVE'
    order by devices.bucket, devices.id
    limit ${page.limit}`;
}

/** Counts the devices an "All Users" run will reach. Reads every device of the workspace once, at the run's start. */
export async function countAllUsersDevices(
  tx: Queryable,
  audience: Pick<AudiencePage, 'workspaceId' | 'platforms' | 'iosProvisional' | 'bound'>,
): Promise<number> {
  const [row] = await tx<{ devices: number }[]>`
    select count(*) as devices
    from devices
    where workspace_id = ${audience.workspaceId}
      and id <= ${audience.bound}
      and platform = any(${audience.platforms as Platform[]})
      and (platform <> 'IOS' or provisional = coalesce(${audience.iosProvisional}, provisional))
      and state = 'ACTIVE'`;
  return row!.devices;
}

/** Members of a segment at a version: added by then, and not removed by then. */
type SegmentAudience = { segmentId: string; version: number };

/**
 * The next devices of a segment's members at a version, user by user. Read from the members, so that a small segment of
 * a large workspace costs its own size; bucket by bucket, so that each look is one range of one shard. A position is a
 * user's id and a device's id, 24 characters each. Indexes: segment_members primary key, devices (workspace_id, bucket,
 * user_id, device_id).
 */
export async function findSegmentPage(tx: Queryable, page: AudiencePage & SegmentAudience): Promise<PagedDevice[]> {
  const [afterUser, afterDevice] = [page.afterPosition.slice(0, 24), page.afterPosition.slice(24)];
  return tx<PagedDevice[]>`
    select found.bucket, found.id, found.user_id as "userId", found.platform, found.push_id as "pushId",
      found.user_id || found.id as position
    from generate_series(
      greatest(${page.bucketFrom}::int, ${page.afterBucket}::int), ${page.bucketTo}::int
    ) as part (bucket)
    cross join lateral (
      select devices.bucket, devices.id, devices.user_id, devices.platform, devices.push_id
      from segment_members as member
      join devices on devices.workspace_id = member.workspace_id and devices.bucket = member.bucket
        and devices.user_id = member.user_id
      where member.workspace_id = ${page.workspaceId} and member.bucket = part.bucket::smallint
        and member.segment_id = ${page.segmentId}
        and member.user_id >= (case when part.bucket = ${page.afterBucket}::int then ${afterUser} else '' end) collate "C"
        and (part.bucket <> ${page.afterBucket}::int or (member.user_id, devices.id) > (${afterUser}, ${afterDevice}))
        and member.added_in <= ${page.version} and (member.removed_in is null or member.removed_in > ${page.version})
        and devices.id <= ${page.bound}
        and devices.platform = any(${page.platforms as Platform[]})
        and (devices.platform <> 'IOS' or devices.provisional = coalesce(${page.iosProvisional}, devices.provisional))
        and devices.state = 'ACTIVE'
      order by member.user_id, devices.id
      limit ${page.limit}
    ) as found
    order by found.bucket, found.user_id, found.id
    limit ${page.limit}`;
}

/** Counts the devices a run to a segment will reach. Reads its members and their devices once, at the run's start. */
export async function countSegmentDevices(
  tx: Queryable,
  audience: Pick<AudiencePage, 'workspaceId' | 'platforms' | 'iosProvisional' | 'bound'> & SegmentAudience,
): Promise<number> {
  const [row] = await tx<{ devices: number }[]>`
    select count(*) as devices
    from segment_members as member
    join devices on devices.workspace_id = member.workspace_id and devices.bucket = member.bucket
      and devices.user_id = member.user_id
    where member.workspace_id = ${audience.workspaceId} and member.bucket = any(${allBuckets})
      and member.segment_id = ${audience.segmentId}
      and member.added_in <= ${audience.version}
      and (member.removed_in is null or member.removed_in > ${audience.version})
      and devices.id <= ${audience.bound}
      and devices.platform = any(${audience.platforms as Platform[]})
      and (devices.platform <> 'IOS' or devices.provisional = coalesce(${audience.iosProvisional}, devices.provisional))
      and devices.state = 'ACTIVE'`;
  return row!.devices;
}

/** Whom a campaign would be for if it began now. */
export type CountedAudience =
  | { kind: 'all' }
  /** Members of a segment of a file or a partner at a version. */
  | { kind: 'segment'; id: string; version: number }
  | ({ kind: 'filter' } & Omit<FilterAudience, 'workspaceId'>);

/** The best of a person's devices: it is reached, or what keeps it from being reached. */
export type Reach = 'REACHED' | 'OTHER_PLATFORM' | 'OPTED_OUT' | 'BLOCKED' | 'GONE' | 'NO_DEVICE';

type Asked = { workspaceId: string; audience: CountedAudience };

/**
 * Everybody in an audience once, by the best of their devices. A large part of a workspace is read in the order of the
 * devices' unique key: a million people take 3 s, ten thousand members among them 0.2 s. Indexes: segment_members
 * primary key, devices (workspace_id, bucket, user_id, device_id); all users: both tables whole.
 */
export async function countAudienceUsers(
  tx: Queryable,
  { workspaceId, audience, platforms }: Asked & { platforms: readonly Platform[] },
): Promise<{ reach: Reach; users: number }[]> {
  const best = tx`
    min(case
      when devices.state is null then 5
      when devices.state = 'ACTIVE' and devices.platform = any(${[...platforms]}) then 0
      when devices.state = 'ACTIVE' then 1
      when devices.state = 'OPTED_OUT' then 2
      when devices.state = 'BLOCKED' then 3
      else 4
    end) as best`;
  const users =
    audience.kind === 'all'
      ? tx`select ${best} from devices where devices.workspace_id = ${workspaceId} group by bucket, user_id`
      : tx`
          select ${best}
          from (${membersOf(tx, { workspaceId, audience })}) as member
          left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = member.bucket
            and devices.user_id = member.user_id
          group by member.bucket, member.user_id`;
  const rows = await tx<{ reach: Reach; users: number }[]>`
    select ('{REACHED,OTHER_PLATFORM,OPTED_OUT,BLOCKED,GONE,NO_DEVICE}'::text[])[person.best + 1] as reach,
      count(*) as users
    from (${users}) as person
    group by person.best order by person.best`;
  if (audience.kind !== 'all') return rows;
  const withDevice = rows.reduce((sum, row) => sum + row.users, 0);
  const without = (await countUsers(tx, workspaceId)) - withDevice;
  return without > 0 ? [...rows, { reach: 'NO_DEVICE', users: without }] : rows;
}

/** The devices of everybody in an audience, per platform and state. Indexes as above. */
export async function countAudienceDevices(tx: Queryable, { workspaceId, audience }: Asked): Promise<DeviceCount[]> {
  if (audience.kind === 'all') return countDevices(tx, workspaceId);
  return tx<DeviceCount[]>`
    select devices.platform, devices.state, count(*) as devices
    from (${membersOf(tx, { workspaceId, audience })}) as member
    join devices on devices.workspace_id = ${workspaceId} and devices.bucket = member.bucket
      and devices.user_id = member.user_id
    group by devices.platform, devices.state
    order by devices.platform, devices.state`;
}

type Members = { workspaceId: string; audience: Exclude<CountedAudience, { kind: 'all' }> };

/** Buckets and ids of an audience's users. */
function membersOf(tx: Queryable, { workspaceId, audience }: Members): Fragment {
  if (audience.kind === 'filter')
    return tx`select users.bucket, users.id as user_id from users where ${isInAudience(tx, { workspaceId, ...audience })}`;
  return tx`
    select segment_members.bucket, segment_members.user_id from segment_members
    where segment_members.workspace_id = ${workspaceId} and segment_members.bucket = any(${allBuckets})
      and segment_members.segment_id = ${audience.id} and segment_members.added_in <= ${audience.version}
      and (segment_members.removed_in is null or segment_members.removed_in > ${audience.version})`;
}
