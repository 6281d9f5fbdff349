import type { Queryable } from '../database.ts';
import type { UserKey } from '../../domain/users/bucket.ts';

export type Erasure = {
  id: string;
  workspaceId: string;
  state: 'PENDING' | 'REMOVED';
  /** The user first, then the rows that were merged into it. */
  users: UserKey[];
  /** Rows by table, so far. */
  counts: Record<string, number>;
};

type StoredUsers = [bucket: number, userId: string][];

/** Writes down a deletion; one that waits already keeps its date. Index: erasures_pending. */
export async function insertErasure(
  tx: Queryable,
  erasure: UserKey & { id: string; workspaceId: string; customerDigest: Buffer; at: Date; dueAt: Date },
): Promise<void> {
  const users: StoredUsers = [[erasure.bucket, erasure.userId]];
  await tx`
    insert into erasures (id, workspace_id, customer_digest, state, bucket, user_ids, requested_at, due_at)
    values (${erasure.id}, ${erasure.workspaceId}, ${erasure.customerDigest}, 'PENDING', ${erasure.bucket},
      ${JSON.stringify(users)}::text::jsonb, ${erasure.at}, ${erasure.dueAt})
    on conflict (workspace_id, user_ids) where state = 'PENDING' do nothing`;
}

/** Whether a user is to be erased; the caller holds the user's lock. Index: erasures_pending. */
export async function isErasurePending(tx: Queryable, user: UserKey & { workspaceId: string }): Promise<boolean> {
  const users: StoredUsers = [[user.bucket, user.userId]];
  const [row] = await tx`
    select 1 from erasures
    where workspace_id = ${user.workspaceId} and user_ids = ${JSON.stringify(users)}::text::jsonb and state = 'PENDING'`;
  return row !== undefined;
}

/** Takes the erasure whose next step has been due the longest; one that another node has taken is skipped. Index: erasures_due. */
export async function takeDueErasure(tx: Queryable, at: Date): Promise<Erasure | undefined> {
  const [row] = await tx<(Omit<Erasure, 'users'> & { users: StoredUsers })[]>`
    select id, workspace_id as "workspaceId", state, user_ids as users, counts
    from erasures
    where due_at <= ${at} and state <> 'DONE'
    order by due_at
    limit 1
    for update skip locked`;
  return row && { ...row, users: row.users.map(([bucket, userId]) => ({ bucket, userId })) };
}

/** Notes a step; the caller holds the lock of takeDueErasure. The last one forgets whose rows they were. */
export async function noteErasureStep(
  tx: Queryable,
  step: { id: string; counts: Record<string, number>; at: Date } & (
    { state: 'REMOVED'; users: UserKey[]; dueAt: Date } | { state: 'DONE' }
  ),
): Promise<void> {
  const counts = JSON.stringify(step.counts);
  if (step.state === 'DONE') {
    await tx`
      update erasures set state = 'DONE', user_ids = null, due_at = ${step.at}, counts = ${counts}::text::jsonb
      where id = ${step.id}`;
    return;
  }
  const users: StoredUsers = step.users.map(({ bucket, userId }) => [bucket, userId]);
  await tx`
    update erasures
    set state = 'REMOVED', user_ids = ${JSON.stringify(users)}::text::jsonb, due_at = ${step.dueAt},
      removed_at = ${step.at}, counts = ${counts}::text::jsonb
    where id = ${step.id}`;
}

export type ErasureRecord = {
  id: string;
  state: Erasure['state'] | 'DONE';
  requestedAt: Date;
  dueAt: Date;
  removedAt: Date | null;
  counts: Record<string, number>;
};

/**
 * Deletions of a workspace, newest first: of one customer when a digest is given. Indexes: erasures_newest,
 * erasures_customer.
 */
export async function listErasures(
  tx: Queryable,
  { workspaceId, customerDigest, limit }: { workspaceId: string; customerDigest: Buffer | null; limit: number },
): Promise<ErasureRecord[]> {
  return tx<ErasureRecord[]>`
    select id, state, requested_at as "requestedAt", due_at as "dueAt", removed_at as "removedAt", counts
    from erasures
    where workspace_id = ${workspaceId} and (${customerDigest}::bytea is null or customer_digest = ${customerDigest})
    order by requested_at desc, id desc
    limit ${limit}`;
}

/** Which of these devices were erased. Index: erased_devices primary key. */
export async function findErasedDevices(
  tx: Queryable,
  devices: readonly { workspaceId: string; deviceId: string }[],
): Promise<Set<string>> {
  const rows = await tx<{ deviceId: string }[]>`
    select given.device_id as "deviceId"
    from unnest(
      ${devices.map(({ workspaceId }) => workspaceId)}::text[], ${devices.map(({ deviceId }) => deviceId)}::text[]
    ) as given (workspace_id, device_id)
    join erased_devices on erased_devices.workspace_id = given.workspace_id collate "C"
      and erased_devices.device_digest = sha256(convert_to(given.device_id, 'UTF8'))`;
  return new Set(rows.map(({ deviceId }) => deviceId));
}

/** Whose rows: a user, and the rows merged into it. */
export type User = { workspaceId: string; users: UserKey[] };

/** Makes ids that name nobody: equal ids give equal ones, and without the salt, which is not kept, none leads back. */
export type Salted = User & { salt: string };

/** The person's keys as a set to join with. */
function keysOf(tx: Queryable, { users }: User) {
  return tx`
    unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as person (bucket, user_id)`;
}

/** Index: identifiers_user. */
export async function eraseIdentifiers(tx: Queryable, user: User): Promise<number> {
  const rows = await tx`
    delete from identifiers using ${keysOf(tx, user)}
    where identifiers.workspace_id = ${user.workspaceId} and identifiers.bucket = person.bucket
      and identifiers.user_id = person.user_id collate "C"`;
  return rows.count;
}

/**
 * What devices reported of the person's messages, wherever the devices stood then, and a mark of each device so that
 * later reports are not kept. Reads the ledger, so it comes before eraseDeliveries. The campaigns' figures stay. Indexes:
 * deliveries_user, deliveries_user_other, device_interactions primary key.
 */
export async function eraseInteractions(tx: Queryable, user: User): Promise<number> {
  const [row] = await tx<{ erased: number }[]>`
    with sent as (
      select distinct runs.campaign_id, deliveries.device_id
      from ${keysOf(tx, user)}
      join deliveries on deliveries.workspace_id = ${user.workspaceId} and deliveries.bucket = person.bucket
        and deliveries.user_id = person.user_id collate "C"
        and (deliveries.outcome = 'ACCEPTED' or deliveries.outcome <> 'ACCEPTED')
      join runs on runs.id = deliveries.run_id
    ), owned as (
      select devices.id
      from ${keysOf(tx, user)}
      join devices on devices.workspace_id = ${user.workspaceId} and devices.bucket = person.bucket
        and devices.user_id = person.user_id collate "C"
    ), marked as (
      insert into erased_devices (workspace_id, device_digest)
      select ${user.workspaceId}, sha256(convert_to(id, 'UTF8'))
      from (select device_id as id from sent union select id from owned) as device
      order by 2
      on conflict (workspace_id, device_digest) do nothing
    ), erased as (
      delete from device_interactions using sent, (select distinct bucket from ${keysOf(tx, user)}) as part
      where device_interactions.workspace_id = ${user.workspaceId} and device_interactions.bucket = part.bucket
        and device_interactions.campaign_id = sent.campaign_id and device_interactions.device_id = sent.device_id
      returning 1
    )
    select count(*) as erased from erased`;
  return row!.erased;
}

/** Devices, and what was put into the inbox of simulated ones. Indexes: devices (workspace_id, bucket, user_id, …). */
export async function eraseDevices(
  tx: Queryable,
  user: User,
): Promise<{ devices: number; messages: number; addresses: number }> {
  const [row] = await tx<{ devices: number; messages: number; addresses: number }[]>`
    with erased as (
      delete from devices using ${keysOf(tx, user)}
      where devices.workspace_id = ${user.workspaceId} and devices.bucket = person.bucket
        and devices.user_id = person.user_id collate "C"
      returning devices.id, devices.push_id, devices.platform
    ), released as (
      delete from push_addresses using erased
      where push_addresses.workspace_id = ${user.workspaceId}
        and push_addresses.address_hash = sha256(convert_to(erased.push_id, 'UTF8'))
        and push_addresses.device_row_id = erased.id
      returning 1
    ), messages as (
      delete from sandbox_messages using erased
      where sandbox_messages.workspace_id = ${user.workspaceId}
        and case when erased.platform = 'WEB'
          -- A simulated subscription's endpoint ends with the token.
          then right(erased.push_id::jsonb ->> 'endpoint', length(sandbox_messages.device_token) + 1)
            = '/' || sandbox_messages.device_token
          else sandbox_messages.device_token = erased.push_id end
      returning 1
    )
    select (select count(*) from erased) as devices, (select count(*) from released) as addresses,
      (select count(*) from messages) as messages`;
  return row!;
}

/** Index: events_user, in every partition; unattributed_events primary key. */
export async function eraseEvents(tx: Queryable, user: User): Promise<number> {
  const [row] = await tx<{ erased: number }[]>`
    with erased as (
      delete from events using ${keysOf(tx, user)}
      where events.workspace_id = ${user.workspaceId} and events.bucket = person.bucket
        and events.user_id = person.user_id collate "C"
      returning events.bucket, events.id
    ), unattributed as (
      delete from unattributed_events using erased
      where unattributed_events.workspace_id = ${user.workspaceId} and unattributed_events.bucket = erased.bucket
        and unattributed_events.event_id = erased.id
    )
    select count(*) as erased from erased`;
  return row!.erased;
}

/** Memberships, and frozen audiences of runs. Segments have one less. Index: segment_members primary key, once a segment. */
export async function eraseMemberships(tx: Queryable, user: User): Promise<number> {
  const [row] = await tx<{ erased: number }[]>`
    with audience as (
      select id from segments where workspace_id = ${user.workspaceId}
      union all
      select id from runs
      where workspace_id = ${user.workspaceId} and started_at is not null and audience_segment_id = id
        and audience_dropped_at is null
    ), erased as (
      delete from segment_members as member using audience, ${keysOf(tx, user)}
      where member.workspace_id = ${user.workspaceId} and member.bucket = person.bucket
        and member.segment_id = audience.id and member.user_id = person.user_id collate "C"
      returning member.segment_id, member.removed_in
    ), counted as (
      update segments set user_count = user_count - present.members
      from (select segment_id, count(*) as members from erased where removed_in is null group by segment_id) as present
      where segments.id = present.segment_id
    )
    select count(*) as erased from erased`;
  return row!.erased;
}

/** Conversions keep their counts under ids that name nobody. Reads the person's buckets of the primary key. */
export async function anonymiseConversions(tx: Queryable, user: Salted): Promise<number> {
  const rows = await tx`
    update conversions
    set user_id = left(encode(sha256(convert_to(${user.salt} || conversions.user_id, 'UTF8')), 'hex'), 24),
      event_id = left(encode(sha256(convert_to(${user.salt} || conversions.event_id, 'UTF8')), 'hex'), 24)
    from ${keysOf(tx, user)}
    where conversions.workspace_id = ${user.workspaceId} and conversions.bucket = person.bucket
      and conversions.user_id = person.user_id collate "C"`;
  return rows.count;
}

/**
 * The ledger keeps its rows under ids that name nobody, without the provider's id of the message. Indexes:
 * deliveries_user, deliveries_user_other.
 */
export async function anonymiseDeliveries(tx: Queryable, user: Salted): Promise<number> {
  const rows = await tx`
    update deliveries
    set user_id = left(encode(sha256(convert_to(${user.salt} || deliveries.user_id, 'UTF8')), 'hex'), 24),
      device_id = left(encode(sha256(convert_to(${user.salt} || deliveries.device_id, 'UTF8')), 'hex'), 24),
      provider_message_id = null
    from ${keysOf(tx, user)}
    where deliveries.workspace_id = ${user.workspaceId} and deliveries.bucket = person.bucket
      and deliveries.user_id = person.user_id collate "C"
      and (deliveries.outcome = 'ACCEPTED' or deliveries.outcome <> 'ACCEPTED')`;
  return rows.count;
}

/** What was sent to the person lately, for caps and delays. Index: user_messages primary key. */
export async function eraseUserMessages(tx: Queryable, user: User): Promise<number> {
  const rows = await tx`
    delete from user_messages using ${keysOf(tx, user)}
    where user_messages.workspace_id = ${user.workspaceId} and user_messages.bucket = person.bucket
      and user_messages.user_id = person.user_id collate "C"`;
  return rows.count;
}

/** Runs to named users forget the person. No index holds their lists, so the workspace's runs are read. Index: runs_started. */
export async function eraseTargets(tx: Queryable, user: User): Promise<number> {
  const pairs = user.users.map(({ bucket, userId }) => JSON.stringify([[bucket, userId]]));
  const rows = await tx`
    update runs set target_users = (
      select coalesce(jsonb_agg(target), '[]') from jsonb_array_elements(runs.target_users) as target
      where jsonb_build_array(target) <> all(${pairs}::text[]::jsonb[])
    )
    where workspace_id = ${user.workspaceId} and started_at is not null
      and target_users @> any(${pairs}::text[]::jsonb[])`;
  return rows.count;
}

/** Lines about the person say what was done and no more whom to. Index: audit_log_object. */
export async function anonymiseAuditLines(tx: Queryable, user: User): Promise<number> {
  const rows = await tx`
    update audit_log set object_id = null
    where workspace_id = ${user.workspaceId} and object_kind = 'person'
      and object_id = any(${user.users.map(({ userId }) => userId)})`;
  return rows.count;
}

/** The user, and the customer ids that were merged into it. Indexes: users primary key, merged_users_retained. */
export async function eraseUsers(tx: Queryable, user: User): Promise<{ users: number; mergedIds: number }> {
  const merged = await tx`
    delete from merged_users using ${keysOf(tx, user)}
    where merged_users.workspace_id = ${user.workspaceId} and merged_users.retained_bucket = person.bucket
      and merged_users.retained_user_id = person.user_id collate "C"`;
  const users = await tx`
    delete from users using ${keysOf(tx, user)}
    where users.workspace_id = ${user.workspaceId} and users.bucket = person.bucket
      and users.id = person.user_id collate "C"`;
  return { users: users.count, mergedIds: merged.count };
}
