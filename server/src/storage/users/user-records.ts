import type { Platform } from '../../domain/campaigns/content.ts';
import type { ProviderName } from '../../domain/delivery/provider-name.ts';
import type { DeviceState } from '../../domain/devices/device-state.ts';
import type { Suspicion } from '../../domain/devices/suspicion.ts';
import type { Attributes } from '../../domain/users/user-attributes.ts';
import { suspicionColumns, withSuspicion } from '../devices/suspicion-columns.ts';
import type { SuspicionColumns } from '../devices/suspicion-columns.ts';
import type { DeliveryOutcome } from '../ledger/deliveries.ts';
import { idBytes } from '../ledger/ledger-bytes.ts';
import type { Queryable } from '../database.ts';
import { allBuckets } from '../segments/segment-members.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import { isGivenBucket } from './given-bucket.ts';
import { outcomeWord, platformWord } from '../ledger/ledger-words.ts';

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
type NamedUser = Omit<FoundUser, 'devices'>;

/** What a list of people shows of each, of at most some, by customer id. Index: users primary key. */
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

/** The customer ids of users, by the id of the user. Index: users primary key. */
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

/** People marked for tests, by customer id. Index: users_test. */
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
 * Adds how many devices each has: in a statement of its own, because behind policies a cluster joins no users with what
 * they may not have. Index: devices (workspace_id, bucket, user_id, device_id).
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
  /** Null: the usual one of the platform. */
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
  /** Answers that usually mean a dead address. */
  suspicion: Suspicion | null;
};

/** Devices of a user, whatever their state. Index: devices (workspace_id, bucket, user_id, device_id). */
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
 * Stored segments a user is in now, by name; those of filters hold nobody until they are asked. One look-up a segment of
 * the workspace. Indexes: segments_newest, segment_members primary key.
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
  /** The app's name of the device; null when it is there no more. */
  deviceId: string | null;
  platform: Platform;
  outcome: DeliveryOutcome;
  code: string | null;
  attempts: number;
  at: Date;
};

/** The newest rows of the ledger of a user. Indexes: primary key of each day there is, runs_number_key. */
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
