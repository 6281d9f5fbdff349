import { addressHash } from '../../domain/devices/device-identifier.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Fragment, Queryable } from '../database.ts';

/** A device's old id and the one it has in another bucket. */
export type MovedDevice = { from: string; to: string };

type Merge = { workspaceId: string; from: UserKey; to: UserKey };
type Left = { id: string; pushId: string };

/**
 * Moves a user's devices and their claims to another user. Rows change their bucket by being made anew, with new ids:
 * a run under way, whose audience ends with the newest id of its start, does not meet a device again in a bucket it has
 * yet to read. The caller holds both users' locks. Index: devices primary key, in two buckets.
 */
export async function moveDevices(
  tx: Queryable,
  { workspaceId, from, to, devices }: Merge & { devices: MovedDevice[] },
): Promise<void> {
  if (devices.length === 0) return;
  // The ledger keeps the old id, so nobody could see later that a message was accepted after the last strike: strikes that have
  // not been enough are forgotten. Those of a device that left the audience stay, so that a person can keep it.
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
        devices.suspected_since, devices.suspected_at
    )
    insert into devices (
      workspace_id, bucket, id, user_id, device_id, platform, push_provider, push_id, push_id_type, app_id, state, provisional, model,
      app_version, os_version, gaid, idfv, locale, badge_count, registered_at, gone_at, gone_reason, created_at,
      updated_at, blocked_state,
      blocked_at, block_reason, block_reference, suspected_code, suspected_sends, suspected_since, suspected_at
    )
    select ${workspaceId}, ${to.bucket}, new_id, ${to.userId}, device_id, platform, push_provider, push_id, push_id_type, app_id, state,
      provisional, model, app_version, os_version, gaid, idfv, locale, badge_count, registered_at, gone_at, gone_reason,
      created_at, updated_at, blocked_state, blocked_at, block_reason, block_reference, ${ifGone(tx`suspected_code`)},
      ${ifGone(tx`suspected_sends`)}, ${ifGone(tx`suspected_since`)}, ${ifGone(tx`suspected_at`)}
    from moved
    returning id, push_id as "pushId"`;
  await giveAddresses(tx, { workspaceId, bucket: to.bucket, devices: moved });
}

/** Gives addresses that were the merged user's to the rows made anew. Index: push_addresses primary key. */
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
 * Of devices that both users have under one name, removes the one to be left behind, with its claim on its address: a
 * blocked one stays, so that no merge unblocks it, else the one registered last. The two users are read one bucket after
 * the other; the caller holds both users' locks. Indexes: devices (workspace_id, bucket, user_id, device_id), devices
 * and push_addresses primary keys.
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
