import { addressHash } from '../../domain/users/devices.ts';
import { bucketOf } from '../../domain/users/users.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable, Fragment } from '../database.ts';
import { idBytes, idBytesOf } from '../ledger/ledger-encoding.ts';

type Named = { workspaceId: string; customerId: string };

/** Finds the user that a customer id was merged into. Index: primary key, one shard. */
export async function findRetainedUser(
  tx: Queryable,
  { workspaceId, customerId }: Named,
): Promise<UserKey | undefined> {
  const [row] = await tx<UserKey[]>`
    select retained_bucket as bucket, retained_user_id as "userId"
    from merged_users
    where workspace_id = ${workspaceId} and bucket = ${bucketOf(customerId)} and customer_id = ${customerId}`;
  return row;
}

/** Returns the merged ones among customer ids, each with the customer id of the retained user. Indexes: both primary keys. */
export async function findRetainedCustomerIds(
  tx: Queryable,
  { workspaceId, customerIds }: { workspaceId: string; customerIds: readonly string[] },
): Promise<{ customerId: string; retained: string }[]> {
  return tx<{ customerId: string; retained: string }[]>`
    with merged as materialized (
      select merged_users.customer_id, merged_users.retained_bucket, merged_users.retained_user_id
      from unnest(${customerIds.map(bucketOf)}::smallint[], ${[...customerIds]}::text[]) as wanted (bucket, customer_id)
      join merged_users on merged_users.workspace_id = ${workspaceId} and merged_users.bucket = wanted.bucket
        and merged_users.customer_id = wanted.customer_id collate "C"
    )
    select merged.customer_id as "customerId", users.customer_id as retained
    from merged
    join users on users.workspace_id = ${workspaceId} and users.bucket = merged.retained_bucket
      and users.id = merged.retained_user_id`;
}

/** True if any user was ever merged in a workspace. Index: primary key. */
export async function hasMergedUsers(tx: Queryable, workspaceId: string): Promise<boolean> {
  const [row] = await tx`select 1 from merged_users where workspace_id = ${workspaceId} limit 1`;
  return row !== undefined;
}

export type Merge = { workspaceId: string; from: UserKey; to: UserKey };

/** Points a customer id, and all that were merged into its user before, to the retained user. Index: merged_users_retained. */
export async function insertMergedUser(tx: Queryable, merge: Merge & { customerId: string; at: Date }): Promise<void> {
  const { workspaceId, from, to, customerId, at } = merge;
  await tx`
    update merged_users set retained_bucket = ${to.bucket}, retained_user_id = ${to.userId}
    where workspace_id = ${workspaceId} and retained_bucket = ${from.bucket} and retained_user_id = ${from.userId}`;
  await tx`
    insert into merged_users (workspace_id, bucket, customer_id, user_id, retained_bucket, retained_user_id, merged_at)
    values (${workspaceId}, ${from.bucket}, ${customerId}, ${from.userId}, ${to.bucket}, ${to.userId}, ${at})`;
}

/** Lists the users that were merged into a user, with the buckets they were in. Index: merged_users_retained. */
export async function listMergedRows(tx: Queryable, user: UserKey & { workspaceId: string }): Promise<UserKey[]> {
  return tx<UserKey[]>`
    select bucket, user_id as "userId" from merged_users
    where workspace_id = ${user.workspaceId} and retained_bucket = ${user.bucket} and retained_user_id = ${user.userId}
    order by bucket, user_id`;
}

type MergeWithDevices = Merge & { devices: MovedDevice[] };

/**
 * Moves a user's events to another user, including the marks of those that are not attributed to goals yet. Rows change
 * their bucket by being deleted and inserted again. Index: events_user, in every partition.
 */
export async function moveEvents(tx: Queryable, { workspaceId, from, to, devices }: MergeWithDevices): Promise<void> {
  await tx`
    with moved as (
      delete from events
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
      returning day, id, name, attributes, occurred_at, received_at, platform, app_version, utc_offset_seconds,
        device_row_id
    ), unattributed as (
      delete from unattributed_events using moved
      where unattributed_events.workspace_id = ${workspaceId} and unattributed_events.bucket = ${from.bucket}
        and unattributed_events.event_id = moved.id
      returning unattributed_events.event_id, unattributed_events.day, unattributed_events.received_at
    ), reattributed as (
      insert into unattributed_events (workspace_id, bucket, event_id, day, received_at)
      select ${workspaceId}, ${to.bucket}, event_id, day, received_at from unattributed
      returning 1
    )
    insert into events (
      day, workspace_id, bucket, id, user_id, name, attributes, occurred_at, received_at, platform, app_version,
      utc_offset_seconds, device_row_id
    )
    select moved.day, ${workspaceId}, ${to.bucket}, moved.id, ${to.userId}, moved.name, moved.attributes,
      moved.occurred_at, moved.received_at, moved.platform, moved.app_version, moved.utc_offset_seconds,
      coalesce(renamed.new_id, moved.device_row_id)
    from moved
    left join unnest(${devices.map((device) => device.from)}::text[], ${devices.map((device) => device.to)}::text[])
      as renamed (old_id, new_id) on renamed.old_id = moved.device_row_id
    returning 1`;
}

/** Moves the conversions of a user's events. Reads rows of one bucket of the primary key. */
export async function moveConversions(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  await tx`
    with moved as (
      delete from conversions
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
      returning campaign_id, goal, event_id, attribution, run_id, platform, reach, variation, locale, occurred_at, revenue
    )
    insert into conversions (
      workspace_id, bucket, campaign_id, goal, event_id, attribution, user_id, run_id, platform, reach, variation,
      locale, occurred_at, revenue
    )
    select ${workspaceId}, ${to.bucket}, campaign_id, goal, event_id, attribution, ${to.userId}, run_id, platform, reach,
      variation, locale, occurred_at, revenue
    from moved
    on conflict (workspace_id, bucket, campaign_id, goal, event_id, attribution) do nothing`;
}

/**
 * Moves the ledger's rows of a user. A row keeps the id that its device had when it was sent, because reports refer to
 * it. Only a delivery that waits for another attempt gets the new id, because the attempt looks its device up. An
 * attempt that is under way meanwhile is not recorded, and is made again. Index: primary key of each day.
 */
export async function moveDeliveries(tx: Queryable, { from, to, devices }: MergeWithDevices): Promise<void> {
  await tx`
    with moved as (
      delete from deliveries
      where bucket = ${from.bucket} and user_id = ${idBytes(from.userId)}
      returning day, workspace_number, run_number, device_id, platform, outcome, code, provider_message_id, attempts,
        sent_at, retry_at, variation, locale
    )
    insert into deliveries (
      day, workspace_number, bucket, run_number, device_id, user_id, platform, outcome, code, provider_message_id,
      attempts, sent_at, retry_at, variation, locale
    )
    select moved.day, moved.workspace_number, ${to.bucket}, moved.run_number,
      case when moved.outcome = 'W' then coalesce(renamed.new_id, moved.device_id) else moved.device_id end,
      ${idBytes(to.userId)}, moved.platform, moved.outcome, moved.code, moved.provider_message_id, moved.attempts,
      moved.sent_at, moved.retry_at, moved.variation, moved.locale
    from moved
    left join unnest(
      ${idBytesOf(devices.map((device) => device.from))}::bytea[], ${idBytesOf(devices.map((device) => device.to))}::bytea[]
    ) as renamed (old_id, new_id) on renamed.old_id = moved.device_id
    returning 1`;
}

/**
 * Moves a user's current memberships to the other user; where both are members, the segment's count drops by one. Rows
 * of past memberships, which only runs under way could read, are deleted: the moved devices are in no such run. A
 * membership begins after the retained user's last one in that segment, so that the two never overlap.
 */
export async function moveMemberships(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  const left = (await takeMemberships(tx, { workspaceId, ...from })).filter(({ removedIn }) => removedIn === null);
  if (left.length === 0) return;
  const segmentIds = left.map(({ segmentId }) => segmentId);
  const ours = Map.groupBy(await listMemberships(tx, { workspaceId, ...to, segmentIds }), (row) => row.segmentId);
  const isMember = (segmentId: string) => ours.get(segmentId)?.some(({ removedIn }) => removedIn === null) ?? false;
  const shared = segmentIds.filter(isMember);
  if (shared.length > 0) await countOneLess(tx, shared);
  const memberships = left
    .filter(({ segmentId }) => !isMember(segmentId))
    .map(({ segmentId, addedIn }) => {
      const lastRemovedIn = (ours.get(segmentId) ?? []).map(({ removedIn }) => removedIn!);
      return { segmentId, addedIn: Math.max(addedIn, ...lastRemovedIn) };
    });
  if (memberships.length > 0) await insertMemberships(tx, { workspaceId, ...to, memberships });
}

type OfUser = UserKey & { workspaceId: string };
type Membership = { segmentId: string; addedIn: number; removedIn: number | null };

/** Index: segment_members primary key, one look-up per segment. */
async function takeMemberships(tx: Queryable, user: OfUser): Promise<Membership[]> {
  return tx<Membership[]>`
    with asked as materialized (select id from segments where workspace_id = ${user.workspaceId})
    delete from segment_members as member using asked
    where member.workspace_id = ${user.workspaceId} and member.bucket = ${user.bucket}
      and member.segment_id = asked.id and member.user_id = ${user.userId}
    returning member.segment_id as "segmentId", member.added_in as "addedIn", member.removed_in as "removedIn"`;
}

/** Index: segment_members primary key. */
async function listMemberships(tx: Queryable, user: OfUser & { segmentIds: string[] }): Promise<Membership[]> {
  return tx<Membership[]>`
    select segment_id as "segmentId", added_in as "addedIn", removed_in as "removedIn"
    from segment_members
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and segment_id = any(${user.segmentIds})
      and user_id = ${user.userId}`;
}

/** Lowers the user count of segments by one. Index: segments primary key. */
export async function countOneLess(tx: Queryable, segmentIds: string[]): Promise<void> {
  await tx`update segments set user_count = user_count - 1 where id = any(${segmentIds})`;
}

/** Nothing conflicts, but without the clause a cluster would insert the rows by COPY, which the policies refuse. */
async function insertMemberships(
  tx: Queryable,
  user: OfUser & { memberships: Pick<Membership, 'segmentId' | 'addedIn'>[] },
): Promise<void> {
  const { memberships } = user;
  await tx`
    insert into segment_members (workspace_id, bucket, segment_id, user_id, added_in)
    select ${user.workspaceId}::text, ${user.bucket}::smallint, segment_id, ${user.userId}::text, added_in
    from unnest(
      ${memberships.map(({ segmentId }) => segmentId)}::text[], ${memberships.map(({ addedIn }) => addedIn)}::int[]
    ) as given (segment_id, added_in)
    on conflict (workspace_id, bucket, segment_id, user_id, added_in) do nothing`;
}

/** A device's old id and its id in another bucket. */
type MovedDevice = { from: string; to: string };

type Left = { id: string; pushId: string };

/**
 * Moves a user's devices and their claims to another user. Rows change their bucket by being deleted and inserted
 * again, with new ids. A run under way, whose audience ends with the newest id of its start, therefore does not find a
 * device again in a bucket it has yet to read. The caller holds both users' locks. Index: devices primary key, in two
 * buckets.
 */
export async function moveDevices(tx: Queryable, { workspaceId, from, to, devices }: MergeWithDevices): Promise<void> {
  if (devices.length === 0) return;
  // The ledger keeps the old id, so later nothing shows that a message was accepted after the last strike: strikes
  // below the threshold are forgotten. Those of a device that left the audience stay, so that an operator can keep it.
  const ifGone = (column: Fragment): Fragment =>
    tx`case when coalesce(blocked_state, state) = 'GONE' then ${column} end`;
  const moved = await tx<Left[]>`
    with renamed as (
      select old_id, new_id
      from unnest(${devices.map((device) => device.from)}::text[], ${devices.map((device) => device.to)}::text[])
        as given (old_id, new_id)
    ), moved as (
      delete from devices using renamed
      where devices.workspace_id = ${workspaceId} and devices.bucket = ${from.bucket}
        and devices.id = renamed.old_id collate "C"
      returning renamed.new_id, devices.device_id, devices.platform, devices.push_provider, devices.push_id,
        devices.push_id_type, devices.app_id, devices.state, devices.provisional, devices.model, devices.app_version, devices.os_version,
        devices.gaid, devices.idfv, devices.locale, devices.badge_count, devices.registered_at, devices.gone_at,
        devices.gone_reason, devices.created_at, devices.updated_at, devices.blocked_state, devices.blocked_at,
        devices.block_reason, devices.block_reference, devices.suspected_code, devices.suspected_sends,
        devices.suspected_since, devices.suspected_at, devices.is_from_app
    )
    insert into devices (
      workspace_id, bucket, id, user_id, device_id, platform, push_provider, push_id, push_id_type, app_id, state, provisional, model,
      app_version, os_version, gaid, idfv, locale, badge_count, registered_at, gone_at, gone_reason, created_at,
      updated_at, blocked_state,
      blocked_at, block_reason, block_reference, suspected_code, suspected_sends, suspected_since, suspected_at,
      is_from_app
    )
    select ${workspaceId}, ${to.bucket}, new_id, ${to.userId}, device_id, platform, push_provider, push_id, push_id_type, app_id, state,
      provisional, model, app_version, os_version, gaid, idfv, locale, badge_count, registered_at, gone_at, gone_reason,
      created_at, updated_at, blocked_state, blocked_at, block_reason, block_reference, ${ifGone(tx`suspected_code`)},
      ${ifGone(tx`suspected_sends`)}, ${ifGone(tx`suspected_since`)}, ${ifGone(tx`suspected_at`)}, is_from_app
    from moved
    returning id, push_id as "pushId"`;
  await giveAddresses(tx, { workspaceId, bucket: to.bucket, devices: moved });
}

/** Points the addresses of the merged user to the new rows. Index: push_addresses primary key. */
async function giveAddresses(
  tx: Queryable,
  { workspaceId, bucket, devices }: { workspaceId: string; bucket: number; devices: Left[] },
): Promise<void> {
  if (devices.length === 0) return;
  const hashes = devices.map(({ pushId }) => addressHash(pushId));
  await tx`
    update push_addresses set bucket = ${bucket}, device_row_id = given.device_row_id
    from unnest(${hashes}::bytea[], ${devices.map(({ id }) => id)}::text[]) as given (address_hash, device_row_id)
    where push_addresses.workspace_id = ${workspaceId} and push_addresses.address_hash = any(${hashes}::bytea[])
      and push_addresses.address_hash = given.address_hash`;
}

/**
 * Where both users have a device of the same name, deletes one of the two with its claim on its address. A blocked
 * device stays, so that no merge unblocks it; otherwise the one that registered last stays. The two users are read one
 * bucket after the other; the caller holds both users' locks. Indexes: devices (workspace_id, bucket, user_id,
 * device_id), devices and push_addresses primary keys.
 */
export async function deleteClashingDevices(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  const removed = await tx<Left[]>`
    with theirs as materialized (
      select bucket, id, device_id, state, registered_at from devices
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
    ), ours as materialized (
      select bucket, id, device_id, state, registered_at from devices
      where workspace_id = ${workspaceId} and bucket = ${to.bucket} and user_id = ${to.userId}
    ), clash as (
      select case
        when (ours.state = 'BLOCKED', ours.registered_at) >= (theirs.state = 'BLOCKED', theirs.registered_at)
        then theirs.bucket else ours.bucket end as bucket,
        case
        when (ours.state = 'BLOCKED', ours.registered_at) >= (theirs.state = 'BLOCKED', theirs.registered_at)
        then theirs.id else ours.id end as id
      from theirs join ours on ours.device_id = theirs.device_id
    )
    delete from devices using clash
    where devices.workspace_id = ${workspaceId} and devices.bucket in (${from.bucket}, ${to.bucket})
      and devices.bucket = clash.bucket and devices.id = clash.id
    returning devices.id, devices.push_id as "pushId"`;
  if (removed.length === 0) return;
  const hashes = removed.map(({ pushId }) => addressHash(pushId));
  await tx`
    delete from push_addresses
    where workspace_id = ${workspaceId} and address_hash = any(${hashes}::bytea[])
      and device_row_id = any(${removed.map(({ id }) => id)})`;
}
