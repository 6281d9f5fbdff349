import type { Attributes } from '../../domain/audience/user-attributes.ts';
import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';
import type { DeliveryOutcome } from './deliveries.ts';
import { walkAttributeNames } from './identifiers.ts';
import { allBuckets } from './segment-members.ts';
import type { UserKey } from './users.ts';

type Person = UserKey & { workspaceId: string };

/**
 * Users that have a value under any attribute, with one of the attributes it was found under. The names of attributes
 * are walked through one by one, at most `mostAttributes`, so that each look-up is one of the index. Index: the
 * primary key of identifiers.
 */
export async function findUsersByAnyIdentifier(
  tx: Queryable,
  wanted: { workspaceId: string; values: readonly string[]; mostAttributes: number; limit: number },
): Promise<(UserKey & { attribute: string })[]> {
  const { workspaceId } = wanted;
  return tx<(UserKey & { attribute: string })[]>`
    with recursive names as (${walkAttributeNames(tx, { workspaceId, limit: wanted.mostAttributes })})
    select found.bucket, found.user_id as "userId", names.attribute
    from names, lateral (
      select bucket, user_id from identifiers
      where workspace_id = ${workspaceId} and attribute = names.attribute and value = any(${[...wanted.values]})
      limit ${wanted.limit}
    ) as found
    limit ${wanted.limit}`;
}

export type FoundPerson = UserKey & { customerId: string; updatedAt: Date; devices: number };

/** What a list of people shows of each, of at most some. Indexes: users primary key, devices of a user. */
export async function listFoundPeople(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: UserKey[] },
): Promise<FoundPerson[]> {
  return tx<FoundPerson[]>`
    select users.bucket, users.id as "userId", users.customer_id as "customerId", users.updated_at as "updatedAt",
      (select count(*)::int from devices where devices.workspace_id = users.workspace_id
        and devices.bucket = users.bucket and devices.user_id = users.id) as devices
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, id)
    join users on users.workspace_id = ${workspaceId} and users.bucket = given.bucket and users.id = given.id collate "C"
    order by users.customer_id, users.id`;
}

/** People marked for tests, by customer id. Indexes: users_test, devices of a user. */
export async function listTestPeople(
  tx: Queryable,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<FoundPerson[]> {
  return tx<FoundPerson[]>`
    select users.bucket, users.id as "userId", users.customer_id as "customerId", users.updated_at as "updatedAt",
      (select count(*)::int from devices where devices.workspace_id = users.workspace_id
        and devices.bucket = users.bucket and devices.user_id = users.id) as devices
    from users
    where users.workspace_id = ${workspaceId} and users.is_test
    order by users.customer_id
    limit ${limit}`;
}

export type PersonRecord = UserKey & {
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
export async function findPersonRecord(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<PersonRecord | undefined> {
  const [row] = await tx<PersonRecord[]>`
    select bucket, id as "userId", customer_id as "customerId", attributes, is_test as "isTest", created_at as "createdAt",
      updated_at as "updatedAt",
      array(select customer_id from merged_users where merged_users.workspace_id = users.workspace_id
        and retained_bucket = users.bucket and retained_user_id = users.id order by customer_id) as "mergedCustomerIds"
    from users
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and id = ${id}`;
  return row;
}

export type PersonDevice = {
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
export async function listPersonDevices(tx: Queryable, person: Person): Promise<PersonDevice[]> {
  return tx<PersonDevice[]>`
    select id, device_id as "deviceId", platform, push_id as "pushId", state, provisional as "isProvisional", model,
      app_version as "appVersion", os_version as "osVersion", registered_at as "registeredAt", gone_at as "goneAt",
      gone_reason as "goneReason", blocked_at as "blockedAt", block_reason as "blockReason"
    from devices
    where workspace_id = ${person.workspaceId} and bucket = ${person.bucket} and user_id = ${person.userId}
    order by registered_at desc, id`;
}

export type PersonSegment = { id: string; name: string; kind: 'FILE' | 'COHORT' };

/**
 * Stored segments a user is in now, by name; those of filters hold nobody until they are asked. One look-up a segment of
 * the workspace. Indexes: segments_newest, segment_members primary key.
 */
export async function listPersonSegments(tx: Queryable, person: Person): Promise<PersonSegment[]> {
  return tx<PersonSegment[]>`
    select segments.id, segments.name, segments.kind
    from segments, lateral (
      select 1 from segment_members as member
      where member.workspace_id = segments.workspace_id and member.bucket = ${person.bucket}
        and member.segment_id = segments.id and member.user_id = ${person.userId}
        and member.added_in <= segments.version
        and (member.removed_in is null or member.removed_in > segments.version)
      limit 1
    ) as member
    where segments.workspace_id = ${person.workspaceId} and segments.kind in ('FILE', 'COHORT')
      and segments.state <> 'ARCHIVED'
    order by segments.name`;
}

export type PersonMessage = {
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
export async function listPersonMessages(tx: Queryable, person: Person & { limit: number }): Promise<PersonMessage[]> {
  const { workspaceId, bucket, userId, limit } = person;
  const part = (outcomes: ReturnType<Queryable>) => tx`
    (select day, run_id, device_id, platform, outcome, code, attempts, sent_at
    from deliveries
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and ${outcomes}
    order by sent_at desc limit ${limit})`;
  return tx<PersonMessage[]>`
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
