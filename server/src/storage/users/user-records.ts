import type { Platform } from '../../domain/content/content.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { DeviceState, Suspicion } from '../../domain/users/devices.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable, Fragment } from '../database.ts';
import { suspicionColumns, withSuspicion } from '../devices/suspected-devices.ts';
import type { SuspicionColumns } from '../devices/suspected-devices.ts';
import type { DeliveryOutcome } from '../ledger/deliveries.ts';
import { idBytes, outcomeWord, platformWord } from '../ledger/ledger-encoding.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { isGivenBucket } from './buckets.ts';

type User = UserKey & { workspaceId: string };

/**
 * Finds the users that have one of these values under any attribute, and returns that attribute. Lists the attribute
 * names first, at most `maxAttributes`, so that each look-up uses the index. Index: the primary key of identifiers.
 */
export async function findUsersByAnyIdentifier(
  tx: Queryable,
  wanted: { workspaceId: string; values: readonly string[]; maxAttributes: number; limit: number },
): Promise<(UserKey & { attribute: string })[]> {
  const { workspaceId } = wanted;
  return tx<(UserKey & { attribute: string })[]>`
    with names as materialized (
      select attribute from list_identifier_attributes(${workspaceId}, ${wanted.maxAttributes}) as listed (attribute)
    )
    select bucket, user_id as "userId", attribute
    from identifiers
    where workspace_id = ${workspaceId} and attribute = any(array(select attribute from names))
      and value = any(${[...wanted.values]})
    limit ${wanted.limit}`;
}

export type FoundUser = UserKey & { customerId: string; updatedAt: Date; devices: number };
type NamedUser = Omit<FoundUser, 'devices'>;

/** Returns the columns of a user list for a few users, by customer id. Index: users primary key. */
export async function listFoundUsers(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: UserKey[] },
): Promise<FoundUser[]> {
  if (users.length === 0) return [];
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`given.bucket`, rows: users });
  const found = await tx<NamedUser[]>`
    select users.bucket, users.id as "userId", users.customer_id as "customerId", users.updated_at as "updatedAt"
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, id)
    join users on users.workspace_id = ${workspaceId} and ${inBucket} and users.id = given.id collate "C"
    order by users.customer_id, users.id`;
  return withDevices(tx, { workspaceId, users: found });
}

/** Returns the customer ids of users, by user id. Index: users primary key. */
export async function findCustomerIds(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: readonly UserKey[] },
): Promise<Map<string, string>> {
  if (users.length === 0) return new Map();
  const inBucket = isGivenBucket(tx, { column: tx`users.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx<{ userId: string; customerId: string }[]>`
    select users.id as "userId", users.customer_id as "customerId"
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, id)
    join users on users.workspace_id = ${workspaceId} and ${inBucket} and users.id = given.id collate "C"`;
  return new Map(rows.map(({ userId, customerId }) => [userId, customerId]));
}

/** Lists users marked for tests, by customer id. Index: users_test. */
export async function listTestUsers(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<FoundUser[]> {
  const marked = await tx<NamedUser[]>`
    select bucket, id as "userId", customer_id as "customerId", updated_at as "updatedAt"
    from users
    where workspace_id = ${workspaceId} and is_test
    order by customer_id
    limit ${limit}`;
  return withDevices(tx, { workspaceId, users: marked });
}

/**
 * Adds how many devices each user has. This is a separate statement, because behind policies a cluster cannot
 * outer-join users with devices. Index: devices (workspace_id, bucket, user_id, device_id).
 */
async function withDevices(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: NamedUser[] },
): Promise<FoundUser[]> {
  if (users.length === 0) return [];
  const inBucket = isGivenBucket(tx, { column: tx`devices.bucket`, given: tx`given.bucket`, rows: users });
  const rows = await tx<{ userId: string; devices: number }[]>`
    select devices.user_id as "userId", count(*)::int as devices
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, id)
    join devices on devices.workspace_id = ${workspaceId} and ${inBucket} and devices.user_id = given.id collate "C"
    group by devices.user_id`;
  const devices = new Map(rows.map((row) => [row.userId, row.devices]));
  return users.map((user) => ({ ...user, devices: devices.get(user.userId) ?? 0 }));
}

export type UserRecord = UserKey & {
  customerId: string;
  /** Customer ids that were merged into this one. */
  mergedCustomerIds: string[];
  attributes: Attributes;
  /** Marked as a recipient of campaign tests. */
  isTest: boolean;
  createdAt: Date;
  updatedAt: Date;
};

/** Finds a user by id alone, searching each bucket. Indexes: users primary key, merged_users_retained. */
export async function findUserRecord(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<UserRecord | undefined> {
  const [row] = await tx<UserRecord[]>`
    with found as materialized (
      select bucket, id, customer_id, attributes, is_test, created_at, updated_at from users
      where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and id = ${id}
    ), merged as materialized (
      select customer_id from merged_users
      where workspace_id = ${workspaceId} and retained_bucket = any(${allBuckets}) and retained_user_id = ${id}
    )
    select bucket, id as "userId", customer_id as "customerId", attributes, is_test as "isTest", created_at as "createdAt",
      updated_at as "updatedAt", array(select customer_id from merged order by customer_id) as "mergedCustomerIds"
    from found`;
  return row;
}

export type UserDevice = {
  id: string;
  deviceId: string;
  platform: Platform;
  /** Null: the platform's default provider. */
  provider: ProviderName | null;
  pushId: string;
  /** Null: a token. */
  pushIdType: 'fid' | null;
  state: DeviceState;
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  registeredAt: Date;
  goneAt: Date | null;
  goneReason: string | null;
  blockedAt: Date | null;
  blockReason: string | null;
  /** Errors that usually mean a dead address. */
  suspicion: Suspicion | null;
};

/** Lists the devices of a user in any state. Index: devices (workspace_id, bucket, user_id, device_id). */
export async function listUserDevices(tx: Queryable, user: User): Promise<UserDevice[]> {
  const rows = await tx<(Omit<UserDevice, 'suspicion'> & SuspicionColumns)[]>`
    select id, device_id as "deviceId", platform, push_provider as provider, push_id as "pushId", push_id_type as "pushIdType", state,
      provisional as "isProvisional", model, app_version as "appVersion", os_version as "osVersion", registered_at as "registeredAt", gone_at as "goneAt",
      gone_reason as "goneReason", blocked_at as "blockedAt", block_reason as "blockReason", ${suspicionColumns(tx)}
    from devices
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and user_id = ${user.userId}
    order by registered_at desc, id`;
  return rows.map(withSuspicion);
}

export type UserSegment = { id: string; name: string; kind: 'FILE' | 'COHORT' };

/**
 * Lists the stored segments a user is in now, by name; filter segments store no members. One look-up per segment of the
 * workspace. Indexes: segments_newest, segment_members primary key.
 */
export async function listUserSegments(tx: Queryable, user: User): Promise<UserSegment[]> {
  return tx<UserSegment[]>`
    with stored as materialized (
      select id, name, kind, version from segments
      where workspace_id = ${user.workspaceId} and kind in ('FILE', 'COHORT') and state <> 'ARCHIVED'
    )
    select stored.id, stored.name, stored.kind
    from stored, lateral (
      select 1 from segment_members as member
      where member.workspace_id = ${user.workspaceId} and member.bucket = ${user.bucket}
        and member.segment_id = stored.id and member.user_id = ${user.userId}
        and member.added_in <= stored.version and (member.removed_in is null or member.removed_in > stored.version)
      limit 1
    ) as member
    order by stored.name`;
}

export type UserMessage = {
  runId: string;
  campaignId: string;
  campaignName: string;
  /** The app's name of the device; null when the device was removed. */
  deviceId: string | null;
  platform: Platform;
  outcome: DeliveryOutcome;
  code: string | null;
  attempts: number;
  at: Date;
};

/** Lists a user's newest rows of the ledger. Indexes: primary key of each stored day, runs_number_key. */
export async function listUserMessages(tx: Queryable, user: User & { limit: number }): Promise<UserMessage[]> {
  const { workspaceId, bucket, userId, limit } = user;
  return tx<UserMessage[]>`
    with sent as materialized (
      select run_number, encode(device_id, 'hex') as row_id, ${platformWord(tx, tx`platform`)} as platform,
        ${outcomeWord(tx, tx`outcome`)} as outcome, code, attempts, sent_at
      from deliveries
      where bucket = ${bucket} and user_id = ${idBytes(userId)}
      order by sent_at desc, run_number desc, device_id
      limit ${limit}
    ), message as materialized (
      select sent.*, devices.device_id
      from sent
      left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
        and devices.id = sent.row_id collate "C"
    )
    select runs.id as "runId", runs.campaign_id as "campaignId", campaigns.name as "campaignName",
      message.device_id as "deviceId", message.platform, message.outcome, message.code, message.attempts,
      message.sent_at as at
    from message
    join runs on runs.number = message.run_number
    join campaigns on campaigns.id = runs.campaign_id
    order by message.sent_at desc, message.run_number desc, message.row_id`;
}

export const timelineEntryKinds = [
  'EVENT',
  'MESSAGE',
  'IMPRESSION',
  'CLICK',
  'CLOSE',
  'DEVICE_REGISTERED',
  'DEVICE_BLOCKED',
  'DEVICE_GONE',
  'CHANGED',
  'MERGED',
  'CREATED',
] as const;
export type TimelineEntryKind = (typeof timelineEntryKinds)[number];

export type TimelineEntry = {
  /** The time with all of its microseconds, for the next page. */
  place: string;
  /** Identifies the entry among entries with the same time. */
  key: string;
  at: Date;
  kind: TimelineEntryKind;
  /** The name of an event, a campaign or a console action, or the customer id that was merged. */
  name: string | null;
  campaignId: string | null;
  /** The app's name of the device; null when no device is concerned or it was removed. */
  deviceId: string | null;
  platform: Platform | null;
  /** The outcome of a message; its code is in `code`. */
  outcome: string | null;
  code: string | null;
  /** Attributes of an event, the button of a click, or the subject of a change. */
  detail: Record<string, unknown>;
};

export type TimelinePosition = { place: string; key: string };

type TimelinePage = UserKey & { workspaceId: string; after: TimelinePosition | undefined; limit: number };

/**
 * Lists the actions of a user and the changes to the user, newest first. Each source reads its newest rows after
 * `page.after` in the order of its index, so that every page costs the same. Events are searched in the days that are kept. Rows in
 * the user's bucket are combined before campaigns are looked up, because they are in one shard. Indexes: events_user,
 * deliveries_pkey of each day, device_interactions_device, audit_log_object; devices of a user, merged_users_retained,
 * users primary key.
 */
export async function listTimelineEntries(tx: Queryable, page: TimelinePage): Promise<TimelineEntry[]> {
  const { workspaceId, bucket, userId, limit, after } = page;
  return tx<TimelineEntry[]>`
    with stored as materialized (${entriesOfBucket(tx, page)}), merged as materialized (
      select merged_at as at, ('g' || customer_id) collate "C" as key, customer_id from merged_users
      where workspace_id = ${workspaceId} and retained_bucket = ${bucket} and retained_user_id = ${userId}
    ), entries as (
      select stored.at, stored.key, stored.kind, coalesce(stored.name, campaigns.name) as name,
        campaigns.id as campaign_id, stored.device_id, stored.platform, stored.outcome, stored.code, stored.detail
      from stored
      left join runs on runs.number = stored.run_number
      left join campaigns on campaigns.id = coalesce(stored.campaign_id, runs.campaign_id)
      union all
      (select coalesce(shown_at, at), ('a' || id) collate "C", 'CHANGED', action, null, null, null, null, null,
        detail || jsonb_build_object('by', actor_name)
      from audit_log where workspace_id = ${workspaceId} and object_kind = 'person' and object_id = ${userId}
        ${newestAfter(tx, { page, at: tx`coalesce(shown_at, at)`, key: tx`('a' || id) collate "C"` })})
      union all
      select at, key, 'MERGED', customer_id, null, null, null, null, null, '{}' from merged
    )
    select to_char(entries.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place, entries.key, entries.at,
      entries.kind, entries.name, entries.campaign_id as "campaignId", entries.device_id as "deviceId", entries.platform,
      entries.outcome, entries.code, entries.detail
    from entries
    ${after ? tx`where (entries.at, entries.key) < (${after.place}::timestamptz, ${after.key} collate "C")` : tx``}
    order by entries.at desc, entries.key desc
    limit ${limit}`;
}

/** Limits a source to its newest rows after `page.after`; `at` must be exactly the indexed expression. */
function newestAfter(tx: Queryable, { page, at, key }: { page: TimelinePage; at: Fragment; key: Fragment }): Fragment {
  const { after, limit } = page;
  const isAfter = after
    ? tx`and ${at} <= ${after.place}::timestamptz and (${at}, ${key}) < (${after.place}::timestamptz, ${after.key})`
    : tx``;
  return tx`${isAfter} order by ${at} desc, ${key} desc limit ${limit}`;
}

/** Selects the newest entries in the user's bucket, with the app's names of the devices. */
function entriesOfBucket(tx: Queryable, page: TimelinePage): Fragment {
  const { workspaceId, bucket, userId, limit, after } = page;
  const ofUser = tx`workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId}`;
  const newest = (at: Fragment, key: Fragment) => newestAfter(tx, { page, at, key });
  const message = tx`('m' || lpad(run_number::text, 19, '0') || encode(device_id, 'hex')) collate "C"`;
  return tx`
    with owned as materialized (
      select id, device_id, platform, registered_at, blocked_at, gone_at, gone_reason, block_reason from devices
      where ${ofUser}
    ), entry as (
      (select occurred_at as at, ('e' || id) collate "C" as key, 'EVENT' as kind, name,
        null::bigint as run_number, null as campaign_id, device_row_id as device, platform, null as outcome, null as code, attributes as detail
      from events where ${ofUser} ${newest(tx`occurred_at`, tx`('e' || id) collate "C"`)})
      union all
      (select sent_at, ${message}, 'MESSAGE', null, run_number, null, encode(device_id, 'hex'),
        ${platformWord(tx, tx`platform`)}, ${outcomeWord(tx, tx`outcome`)}, code, '{}'::jsonb
      from deliveries where bucket = ${bucket} and user_id = ${idBytes(userId)} ${newest(tx`sent_at`, message)})
      union all
      select reported.first_at, reported.key, reported.kind, null, null, reported.campaign_id, owned.id,
        reported.platform, null, null,
        jsonb_strip_nulls(jsonb_build_object('count', reported.count, 'action', reported.action,
          'lowered', nullif(reported.lowered, false)))
      from owned, lateral (
        select first_at, ('i' || run_id || device_id || kind) collate "C" as key, kind, campaign_id, platform, count, action, lowered
        from device_interactions as report
        where workspace_id = ${workspaceId} and bucket = ${bucket} and device_id = owned.id
          ${newest(tx`first_at`, tx`('i' || run_id || device_id || kind) collate "C"`)}
      ) as reported
      union all
      select given.at, ('d' || given.kind || owned.id) collate "C", given.kind, null, null, null, owned.id,
        owned.platform, null, given.code, '{}'
      from owned, lateral (values ('DEVICE_REGISTERED', registered_at, null), ('DEVICE_BLOCKED', blocked_at, block_reason),
        ('DEVICE_GONE', gone_at, gone_reason)) as given (kind, at, code)
      where given.at is not null
      union all
      select created_at, 'c' collate "C", 'CREATED', null, null, null, null, null, null, null, '{}'
      from users where workspace_id = ${workspaceId} and bucket = ${bucket} and id = ${userId}
    )
    select entry.at, entry.key, entry.kind, entry.name, entry.run_number, entry.campaign_id, devices.device_id, entry.platform,
      entry.outcome, entry.code, entry.detail
    from entry
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
      and devices.id = entry.device collate "C"
    ${after ? tx`where (entry.at, entry.key) < (${after.place}::timestamptz, ${after.key} collate "C")` : tx``}
    order by entry.at desc, entry.key desc
    limit ${limit}`;
}
