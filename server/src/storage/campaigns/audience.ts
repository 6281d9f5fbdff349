import { defaultAppId } from '../../domain/apps.ts';
import type { Platform } from '../../domain/content/content.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';
import { countDevices, countUsers } from '../installation/overview.ts';
import type { DeviceCount } from '../installation/overview.ts';
import type { Cursor } from '../runs/chunks.ts';
import { isInAudience } from '../segments/segment-filters.ts';
import type { FilterAudience } from '../segments/segment-filters.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { isInBuckets, isGivenBucket } from '../users/buckets.ts';

/** A device of an audience, in the order of the fan-out: (bucket, id). */
export type AudienceDevice = {
  bucket: number;
  id: string;
  userId: string;
  platform: Platform;
  /** Null: the platform's default provider. */
  provider: ProviderName | null;
  pushId: string;
  /** Null: a token. */
  pushIdType: 'fid' | null;
  /** Null: the default app. */
  appId: string | null;
};

/** A device with its position in its bucket, in the order of the audience. */
export type PagedDevice = AudienceDevice & { position: string };

export type AudiencePage = {
  workspaceId: string;
  platforms: readonly Platform[];
  /** iPhones with provisional push permission only (true), or full permission (false); null for both. */
  iosProvisional: boolean | null;
  /** Ids of the apps; undefined: all apps. */
  appIds?: readonly string[] | undefined;
  /** In order, at least one. A page of one bucket is read in one shard of a cluster. */
  buckets: readonly number[];
  /** Where the previous page ended; '' at the start of a bucket. */
  after: Cursor;
  /** Frozen upper bound: devices created later are not part of the run. */
  bound: string;
  limit: number;
};

/** More buckets than this are spread over the whole cluster; read as a range, they are returned in index order. */
const fewBuckets = 16;

/** Restricts a table's column to the buckets of a page, which are consecutive. */
function inBuckets(tx: Queryable, column: Fragment, buckets: readonly number[]): Fragment {
  if (buckets.length <= fewBuckets) return isInBuckets(tx, { column, buckets });
  return tx`${column} between ${buckets[0]!}::smallint and ${buckets.at(-1)!}::smallint`;
}

/** The sort order of a page: the bucket, and columns within it with the position at which the previous page ended. */
type PageOrder = { bucket: Fragment; columns: Fragment; position: Fragment };

/** True for rows after the previous page. */
function isAfter(tx: Queryable, { buckets, after }: AudiencePage, { bucket, columns, position }: PageOrder): Fragment {
  if (!buckets.includes(after.bucket)) return tx`true`;
  return buckets.length === 1
    ? tx`(${columns}) > (${position})`
    : tx`(${bucket}, ${columns}) > (${after.bucket}::smallint, ${position})`;
}

type Reached = Pick<AudiencePage, 'platforms' | 'iosProvisional' | 'appIds' | 'bound'>;

/** Devices that name no app belong to the default one. */
function isOfApps(tx: Queryable, appIds: AudiencePage['appIds']): Fragment {
  if (appIds === undefined) return tx`true`;
  return tx`coalesce(devices.app_id, ${defaultAppId}) = any(${[...appIds]})`;
}

/** True for the devices that a run is meant for, whether they can be sent to or not. */
export function isMeant(tx: Queryable, { platforms, iosProvisional, appIds, bound }: Reached): Fragment {
  return tx`
    devices.id <= ${bound}
      and devices.platform = any(${platforms as Platform[]})
      and (devices.platform <> 'IOS' or devices.provisional = coalesce(${iosProvisional}, devices.provisional))
      and ${isOfApps(tx, appIds)}`;
}

/** True for the devices that a run is meant for and that can be sent to. */
export function isReached(tx: Queryable, reached: Reached): Fragment {
  return tx`${isMeant(tx, reached)} and devices.state = 'ACTIVE'`;
}

/**
 * Returns the next devices of audience "All Users". Keyset pagination: one index range scan, no offset, so nothing is
 * skipped or repeated while devices are added and removed. Index: devices primary key.
 */
export async function findAllUsersPage(tx: Queryable, page: AudiencePage): Promise<PagedDevice[]> {
  const order = { bucket: tx`devices.bucket`, columns: tx`devices.id`, position: tx`${page.after.position}` };
  return tx<PagedDevice[]>`
    select devices.bucket, devices.id, devices.user_id as "userId", devices.platform, devices.push_id as "pushId", devices.push_id_type as "pushIdType",
      devices.push_provider as provider, devices.app_id as "appId", devices.id as position
    from devices
    where devices.workspace_id = ${page.workspaceId}
      and ${inBuckets(tx, order.bucket, page.buckets)}
      and ${isAfter(tx, page, order)}
      and ${isReached(tx, page)}
    order by devices.bucket, devices.id
    limit ${page.limit}`;
}

/**
 * Returns the next devices of named users (audience "User"), in the same order. Index: devices unique key on
 * (workspace_id, bucket, user_id, device_id).
 */
export async function findTargetUsersPage(
  tx: Queryable,
  page: AudiencePage & { targetUsers: readonly [bucket: number, userId: string][] },
): Promise<PagedDevice[]> {
  const targets = page.targetUsers.filter(([bucket]) => page.buckets.includes(bucket));
  const ids = tx`${targets.map(([, userId]) => userId)}::text[]`;
  const order = { bucket: tx`devices.bucket`, columns: tx`devices.id`, position: tx`${page.after.position}` };
  const isOne = page.buckets.length === 1;
  return tx<PagedDevice[]>`
    select devices.bucket, devices.id, devices.user_id as "userId", devices.platform, devices.push_id as "pushId", devices.push_id_type as "pushIdType",
      devices.push_provider as provider, devices.app_id as "appId", devices.id as position
    from ${
      isOne
        ? tx`devices`
        : tx`unnest(${targets.map(([bucket]) => bucket)}::smallint[], ${ids}) as target (bucket, user_id)
          join devices on devices.bucket = target.bucket and devices.user_id = target.user_id collate "C"`
    }
    where devices.workspace_id = ${page.workspaceId}
      and ${isOne ? tx`${inBuckets(tx, order.bucket, page.buckets)} and devices.user_id = any(${ids})` : tx`true`}
      and ${isAfter(tx, page, order)}
      and ${isReached(tx, page)}
    order by devices.bucket, devices.id
    limit ${page.limit}`;
}

/** Members of a segment at a version: added by then and not yet removed. */
type SegmentAudience = { segmentId: string; version: number };

/**
 * Returns the next devices of a segment's members at a version, user by user. Reads from the members, so that a small
 * segment of a large workspace costs only its own size. A position is a user's id and a device's id, 24 characters
 * each. Indexes: segment_members primary key, devices (workspace_id, bucket, user_id, device_id).
 */
export async function findSegmentPage(tx: Queryable, page: AudiencePage & SegmentAudience): Promise<PagedDevice[]> {
  const [afterUser, afterDevice] = [page.after.position.slice(0, 24), page.after.position.slice(24)];
  const order = {
    bucket: tx`member.bucket`,
    columns: tx`member.user_id, devices.id`,
    position: tx`${afterUser}, ${afterDevice}`,
  };
  // With one bucket, the index scan starts at the user.
  const isFrom =
    page.buckets.length === 1 && page.buckets[0] === page.after.bucket
      ? tx`member.user_id >= ${afterUser} collate "C"`
      : tx`true`;
  return tx<PagedDevice[]>`
    select devices.bucket, devices.id, devices.user_id as "userId", devices.platform, devices.push_id as "pushId", devices.push_id_type as "pushIdType",
      devices.push_provider as provider, devices.app_id as "appId", devices.user_id || devices.id as position
    from segment_members as member
    join devices on devices.workspace_id = member.workspace_id and devices.bucket = member.bucket
      and devices.user_id = member.user_id
    where member.workspace_id = ${page.workspaceId} and ${inBuckets(tx, order.bucket, page.buckets)}
      and member.segment_id = ${page.segmentId}
      and ${isFrom}
      and ${isAfter(tx, page, order)}
      and member.added_in <= ${page.version} and (member.removed_in is null or member.removed_in > ${page.version})
      and ${isReached(tx, page)}
    order by member.bucket, member.user_id, devices.id
    limit ${page.limit}`;
}

/** The audience of a campaign if it began now. */
export type CountedAudience =
  | { kind: 'all' }
  /** Members of a segment from a file or a partner, at a version. */
  | { kind: 'segment'; id: string; version: number }
  | ({ kind: 'filter' } & Omit<FilterAudience, 'workspaceId'>);

/** The state of the user's best device: it is reached, or the reason why it is not. */
export type Reach = 'REACHED' | 'OTHER_PLATFORM' | 'OPTED_OUT' | 'BLOCKED' | 'GONE' | 'NO_DEVICE';

type Asked = { workspaceId: string; audience: CountedAudience };

/**
 * Counts each user in an audience once, by the best of their devices. A large part of a workspace is read in the order
 * of the devices' unique key: a million users take 3 s, ten thousand members among them 0.2 s. Indexes: segment_members
 * primary key, devices (workspace_id, bucket, user_id, device_id); all users: both tables whole.
 */
export async function countAudienceUsers(
  tx: Queryable,
  { workspaceId, audience, platforms }: Asked & { platforms: readonly Platform[] },
): Promise<{ reach: Reach; users: number }[]> {
  const rank = tx`
    case
      when devices.state = 'ACTIVE' and devices.platform = any(${[...platforms]}) then 0
      when devices.state = 'ACTIVE' then 1
      when devices.state = 'OPTED_OUT' then 2
      when devices.state = 'BLOCKED' then 3
      else 4
    end as rank`;
  // No outer join: under a workspace's row-level security a cluster rejects one over several buckets.
  const ranks =
    audience.kind === 'all'
      ? tx`select bucket, user_id, ${rank} from devices where devices.workspace_id = ${workspaceId}`
      : tx`
          select member.bucket, member.user_id, 5 as rank
          from (${membersOf(tx, { workspaceId, audience })}) as member
          union all
          select member.bucket, member.user_id, ${rank}
          from (${membersOf(tx, { workspaceId, audience })}) as member
          join devices on devices.workspace_id = ${workspaceId} and devices.bucket = member.bucket
            and devices.user_id = member.user_id`;
  const users = tx`select min(rank) as best from (${ranks}) as ranked group by bucket, user_id`;
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

/** Counts the devices of all users in an audience, per platform and state. Indexes as above. */
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

type AskedZones = Asked & { platforms: readonly Platform[]; zoneAttribute: string };

/**
 * Counts the users of an audience whom these platforms reach, by the time zone stored for them; null: none is stored. A
 * zone that differs only in its spelling is a separate row. Indexes: as countAudienceUsers, and users primary key.
 */
export async function countAudienceZones(
  tx: Queryable,
  { workspaceId, audience, platforms, zoneAttribute }: AskedZones,
): Promise<{ named: string | null; users: number }[]> {
  const reached = reachedUsers(tx, { workspaceId, audience, platforms });
  return tx<{ named: string | null; users: number }[]>`
    select users.attributes ->> ${zoneAttribute} as named, count(*) as users
    from (${reached}) as reached
    join users on users.workspace_id = ${workspaceId} and users.bucket = reached.bucket and users.id = reached.user_id
    group by named`;
}

/**
 * Counts the users of an audience whom these platforms reach and who joined (`isIn`) or left a topic. Indexes: as
 * countAudienceUsers, and topic_choices primary key.
 */
export async function countAudienceChoices(
  tx: Queryable,
  { workspaceId, audience, platforms, topicId }: Asked & { platforms: readonly Platform[]; topicId: string },
): Promise<{ isIn: boolean; users: number }[]> {
  return tx<{ isIn: boolean; users: number }[]>`
    select topic_choices.is_in as "isIn", count(*) as users
    from (${reachedUsers(tx, { workspaceId, audience, platforms })}) as reached
    join topic_choices on topic_choices.workspace_id = ${workspaceId} and topic_choices.bucket = reached.bucket
      and topic_choices.user_id = reached.user_id and topic_choices.topic_id = ${topicId}
    group by topic_choices.is_in`;
}

/** Selects the buckets and ids of the users of an audience whom these platforms reach. */
function reachedUsers(
  tx: Queryable,
  { workspaceId, audience, platforms }: Asked & { platforms: readonly Platform[] },
): Fragment {
  const devices = tx`
    devices.workspace_id = ${workspaceId} and devices.state = 'ACTIVE' and devices.platform = any(${[...platforms]})`;
  if (audience.kind === 'all') return tx`select distinct devices.bucket, devices.user_id from devices where ${devices}`;
  return tx`
    select distinct member.bucket, member.user_id
    from (${membersOf(tx, { workspaceId, audience })}) as member
    join devices on devices.bucket = member.bucket and devices.user_id = member.user_id and ${devices}`;
}

type Members = { workspaceId: string; audience: Exclude<CountedAudience, { kind: 'all' }> };

/** Selects the buckets and ids of an audience's users. */
function membersOf(tx: Queryable, { workspaceId, audience }: Members): Fragment {
  if (audience.kind === 'filter')
    return tx`select users.bucket, users.id as user_id from users where ${isInAudience(tx, { workspaceId, ...audience })}`;
  return tx`
    select segment_members.bucket, segment_members.user_id from segment_members
    where segment_members.workspace_id = ${workspaceId} and segment_members.bucket = any(${allBuckets})
      and segment_members.segment_id = ${audience.id} and segment_members.added_in <= ${audience.version}
      and (segment_members.removed_in is null or segment_members.removed_in > ${audience.version})`;
}

/**
 * Returns the next devices of the users whose triggers a run answers, user by user, each user once. A position is a
 * user's id and a device's id, 24 characters each. Indexes: triggers_run, devices (workspace_id, bucket, user_id,
 * device_id).
 */
export async function findTriggeredPage(tx: Queryable, page: AudiencePage & { runId: string }): Promise<PagedDevice[]> {
  const order = {
    bucket: tx`triggers.bucket`,
    columns: tx`triggers.user_id, devices.id`,
    position: tx`${page.after.position.slice(0, 24)}, ${page.after.position.slice(24)}`,
  };
  return tx<PagedDevice[]>`
    select devices.bucket, devices.id, devices.user_id as "userId", devices.platform, devices.push_id as "pushId", devices.push_id_type as "pushIdType",
      devices.push_provider as provider, devices.app_id as "appId", devices.user_id || devices.id as position
    from triggers
    join devices on devices.workspace_id = triggers.workspace_id and devices.bucket = triggers.bucket
      and devices.user_id = triggers.user_id
    where triggers.workspace_id = ${page.workspaceId} and ${inBuckets(tx, order.bucket, page.buckets)}
      and triggers.run_id = ${page.runId}
      and ${isAfter(tx, page, order)}
      and ${isReached(tx, page)}
    order by triggers.bucket, triggers.user_id, devices.id
    limit ${page.limit}`;
}

/** Counts the users whose triggers a run answers. Index: triggers_run. */
export async function countTriggeredUsers(
  tx: Queryable,
  { workspaceId, runId }: { workspaceId: string; runId: string },
): Promise<number> {
  const [row] = await tx<{ users: number }[]>`
    select count(*) as users from triggers
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and run_id = ${runId}`;
  return row!.users;
}

type AskedUsers = { workspaceId: string; runId: string; users: readonly UserKey[] };

/**
 * Returns the given users whose triggers a run answers, with the attributes of their events. Index: triggers_run.
 */
export async function listTriggeredUsers(
  tx: Queryable,
  { workspaceId, runId, users }: AskedUsers,
): Promise<(UserKey & { attributes: Record<string, unknown> })[]> {
  const inBucket = isGivenBucket(tx, { column: tx`triggers.bucket`, given: tx`given.bucket`, rows: users });
  return tx<(UserKey & { attributes: Record<string, unknown> })[]>`
    select triggers.bucket, triggers.user_id as "userId", triggers.attributes
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, user_id)
    join triggers on triggers.workspace_id = ${workspaceId} and ${inBucket}
      and triggers.user_id = given.user_id collate "C" and triggers.run_id = ${runId}`;
}
