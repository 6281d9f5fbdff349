import type { Platform } from '../../domain/campaigns/content.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import type { DeliveryOutcome } from '../ledger/deliveries.ts';
import type { Fragment, Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';
import type { UserKey } from '../../domain/users/bucket.ts';

type User = UserKey & { workspaceId: string };

/**
 * Users that have a value under any attribute, with one of the attributes it was found under. The names of attributes
 * are listed first, at most `maxAttributes`, so that each look-up is one of the index. Index: the
 * primary key of identifiers.
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

/** What a list of people shows of each, of at most some. Indexes: users primary key, devices of a user. */
export async function listFoundUsers(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: UserKey[] },
): Promise<FoundUser[]> {
  return tx<FoundUser[]>`
    select users.bucket, users.id as "userId", users.customer_id as "customerId", users.updated_at as "updatedAt",
      (select count(*)::int from devices where devices.workspace_id = users.workspace_id
        and devices.bucket = users.bucket and devices.user_id = users.id) as devices
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, id)
    join users on users.workspace_id = ${workspaceId} and users.bucket = given.bucket and users.id = given.id collate "C"
    order by users.customer_id, users.id`;
}

/** People marked for tests, by customer id. Indexes: users_test, devices of a user. */
export async function listTestUsers(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<FoundUser[]> {
  return tx<FoundUser[]>`
    select users.bucket, users.id as "userId", users.customer_id as "customerId", users.updated_at as "updatedAt",
      (select count(*)::int from devices where devices.workspace_id = users.workspace_id
        and devices.bucket = users.bucket and devices.user_id = users.id) as devices
    from users
    where users.workspace_id = ${workspaceId} and users.is_test
    order by users.customer_id
    limit ${limit}`;
}

export type UserRecord = UserKey & {
  customerId: string;
  /** Customer ids that were merged into this one. */
  mergedCustomerIds: string[];
  attributes: Attributes;
  /** Marked for tests of campaigns. */
  isTest: boolean;
  createdAt: Date;
  updatedAt: Date;
};

/** A user by id alone, looked for in each bucket. Indexes: users primary key, merged_users_retained. */
export async function findUserRecord(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<UserRecord | undefined> {
  const [row] = await tx<UserRecord[]>`
    select bucket, id as "userId", customer_id as "customerId", attributes, is_test as "isTest", created_at as "createdAt",
      updated_at as "updatedAt",
      array(select customer_id from merged_users where merged_users.workspace_id = users.workspace_id
        and retained_bucket = users.bucket and retained_user_id = users.id order by customer_id) as "mergedCustomerIds"
    from users
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and id = ${id}`;
  return row;
}

export type UserDevice = {
  id: string;
  deviceId: string;
  platform: Platform;
  pushId: string;
  state: 'ACTIVE' | 'OPTED_OUT' | 'BLOCKED' | 'GONE';
  isProvisional: boolean;
  model: string | null;
  appVersion: string | null;
  osVersion: string | null;
  registeredAt: Date;
  goneAt: Date | null;
  goneReason: string | null;
  blockedAt: Date | null;
  blockReason: string | null;
};

/** Devices of a user, whatever their state. Index: devices (workspace_id, bucket, user_id, device_id). */
export async function listUserDevices(tx: Queryable, user: User): Promise<UserDevice[]> {
  return tx<UserDevice[]>`
    select id, device_id as "deviceId", platform, push_id as "pushId", state, provisional as "isProvisional", model,
      app_version as "appVersion", os_version as "osVersion", registered_at as "registeredAt", gone_at as "goneAt",
      gone_reason as "goneReason", blocked_at as "blockedAt", block_reason as "blockReason"
    from devices
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and user_id = ${user.userId}
    order by registered_at desc, id`;
}

export type UserSegment = { id: string; name: string; kind: 'FILE' | 'COHORT' };

/**
 * Stored segments a user is in now, by name; those of filters hold nobody until they are asked. One look-up a segment of
 * the workspace. Indexes: segments_newest, segment_members primary key.
 */
export async function listUserSegments(tx: Queryable, user: User): Promise<UserSegment[]> {
  return tx<UserSegment[]>`
    select segments.id, segments.name, segments.kind
    from segments, lateral (
      select 1 from segment_members as member
      where member.workspace_id = segments.workspace_id and member.bucket = ${user.bucket}
        and member.segment_id = segments.id and member.user_id = ${user.userId}
        and member.added_in <= segments.version
        and (member.removed_in is null or member.removed_in > segments.version)
      limit 1
    ) as member
    where segments.workspace_id = ${user.workspaceId} and segments.kind in ('FILE', 'COHORT')
      and segments.state <> 'ARCHIVED'
    order by segments.name`;
}

export type UserMessage = {
  runId: string;
  campaignId: string;
  campaignName: string;
  /** The app's name of the device; null when it is there no more. */
  deviceId: string | null;
  platform: Platform;
  outcome: DeliveryOutcome;
  code: string | null;
  attempts: number;
  at: Date;
};

/** The newest rows of the ledger of a user. Indexes: deliveries_user, deliveries_user_other of each day there is. */
export async function listUserMessages(tx: Queryable, user: User & { limit: number }): Promise<UserMessage[]> {
  const { workspaceId, bucket, userId, limit } = user;
  const part = (outcomes: Fragment) => tx`
    (select day, run_id, device_id, platform, outcome, code, attempts, sent_at
    from deliveries
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and ${outcomes}
    order by sent_at desc limit ${limit})`;
  return tx<UserMessage[]>`
    select message.run_id as "runId", runs.campaign_id as "campaignId", campaigns.name as "campaignName",
      devices.device_id as "deviceId", message.platform, message.outcome, message.code, message.attempts,
      message.sent_at as at
    from (${part(tx`outcome = 'ACCEPTED'`)} union all ${part(tx`outcome <> 'ACCEPTED'`)}) as message
    join runs on runs.id = message.run_id
    join campaigns on campaigns.id = runs.campaign_id
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
      and devices.id = message.device_id
    order by message.sent_at desc, message.run_id desc, message.device_id
    limit ${limit}`;
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
  /** With all of its microseconds, for the next page. */
  place: string;
  /** Names the moment among those of one instant. */
  key: string;
  at: Date;
  kind: TimelineEntryKind;
  /** Of an event, a campaign, an action of the console, or the customer id that was merged. */
  name: string | null;
  campaignId: string | null;
  /** The app's name of the device; null when none is concerned or it is there no more. */
  deviceId: string | null;
  platform: Platform | null;
  /** What became of a message, and its code. */
  outcome: string | null;
  code: string | null;
  /** Attributes of an event, the button of a click, what a change was about. */
  detail: Record<string, unknown>;
};

export type TimelinePosition = { place: string; key: string };

type TimelinePage = UserKey & { workspaceId: string; after: TimelinePosition | undefined; limit: number };

/**
 * What happened to a person and what was done, newest first. Each source gives its newest rows after the place in the order
 * of its index, so that a page costs the same wherever it is. Events are sought in the days that are kept. Indexes:
 * events_user, deliveries_user, deliveries_user_other, device_interactions_device, audit_log_object; devices of a user,
 * merged_users_retained, users primary key.
 */
export async function listTimelineEntries(tx: Queryable, page: TimelinePage): Promise<TimelineEntry[]> {
  const { workspaceId, bucket, userId, limit, after } = page;
  const ofUser = tx`workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId}`;
  /** Rows of a source after the place; `at` must be the indexed column alone. */
  const newest = (at: Fragment, key: Fragment) => tx`
    ${after ? tx`and ${at} <= ${after.place}::timestamptz and (${at}, ${key}) < (${after.place}::timestamptz, ${after.key})` : tx``}
    order by ${at} desc, ${key} desc limit ${limit}`;
  const messages = (outcomes: Fragment) => tx`
    (select sent_at as at, ('m' || run_id || device_id) collate "C" as key, 'MESSAGE' as kind, run_id, device_id, platform,
      outcome, code
    from deliveries where ${ofUser} and ${outcomes}
      ${newest(tx`sent_at`, tx`('m' || run_id || device_id) collate "C"`)})`;
  const devices = tx`
    (select id, device_id, platform, registered_at, blocked_at, gone_at, gone_reason, block_reason from devices
    where ${ofUser})`;
  return tx<TimelineEntry[]>`
    with owned as materialized (${devices}), entries as (
      (select occurred_at as at, ('e' || id) collate "C" as key, 'EVENT' as kind, name, null as campaign_id,
        device_row_id as device, platform, null as outcome, null as code, attributes as detail
      from events where ${ofUser} ${newest(tx`occurred_at`, tx`('e' || id) collate "C"`)})
      union all
      select sent.at, sent.key, sent.kind, campaigns.name, campaigns.id, sent.device_id, sent.platform, sent.outcome,
        sent.code, '{}'
      from (${messages(tx`outcome = 'ACCEPTED'`)} union all ${messages(tx`outcome <> 'ACCEPTED'`)}) as sent
      join runs on runs.id = sent.run_id
      join campaigns on campaigns.id = runs.campaign_id
      union all
      select reported.first_at, reported.key, reported.kind, campaigns.name, campaigns.id, reported.device_id,
        reported.platform, null, null,
        jsonb_strip_nulls(jsonb_build_object('count', reported.count, 'action', reported.action))
      from owned, lateral (
        select first_at, ('i' || run_id || device_id || kind) collate "C" as key, kind, campaign_id, device_id, platform,
          count, action
        from device_interactions as report
        where workspace_id = ${workspaceId} and bucket = ${bucket} and device_id = owned.id
          ${newest(tx`first_at`, tx`('i' || run_id || device_id || kind) collate "C"`)}
      ) as reported
      join campaigns on campaigns.id = reported.campaign_id
      union all
      select given.at, ('d' || given.kind || owned.id) collate "C", given.kind, null, null, owned.id, owned.platform, null,
        given.code, '{}'
      from owned, lateral (values ('DEVICE_REGISTERED', registered_at, null), ('DEVICE_BLOCKED', blocked_at, block_reason),
        ('DEVICE_GONE', gone_at, gone_reason)) as given (kind, at, code)
      where given.at is not null
      union all
      (select at, ('a' || id) collate "C", 'CHANGED', action, null, null, null, null, null,
        detail || jsonb_build_object('by', actor_name)
      from audit_log where workspace_id = ${workspaceId} and object_kind = 'person' and object_id = ${userId}
        ${newest(tx`at`, tx`('a' || id) collate "C"`)})
      union all
      select merged_at, ('g' || customer_id) collate "C", 'MERGED', customer_id, null, null, null, null, null, '{}'
      from merged_users
      where workspace_id = ${workspaceId} and retained_bucket = ${bucket} and retained_user_id = ${userId}
      union all
      select created_at, 'c' collate "C", 'CREATED', null, null, null, null, null, null, '{}'
      from users where workspace_id = ${workspaceId} and bucket = ${bucket} and id = ${userId}
    )
    select to_char(entries.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as place, entries.key, entries.at,
      entries.kind, entries.name, entries.campaign_id as "campaignId", devices.device_id as "deviceId", entries.platform,
      entries.outcome, entries.code, entries.detail
    from entries
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
      and devices.id = entries.device collate "C"
    ${after ? tx`where (entries.at, entries.key) < (${after.place}::timestamptz, ${after.key} collate "C")` : tx``}
    order by entries.at desc, entries.key desc
    limit ${limit}`;
}
