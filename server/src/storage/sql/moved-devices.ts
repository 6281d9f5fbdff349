import type { Queryable } from '../pool.ts';
import type { Merge } from './merged-users.ts';

export type MovedDevice = { from: string; to: string };

/**
 * Of devices that both users have under one name, removes the one to be left behind, with its claim on its address: a
 * blocked one stays, so that no merge unblocks it, else the one registered last. Index: devices (workspace_id, bucket,
 * user_id, device_id).
 */
export async function deleteClashingDevices(tx: Queryable, { workspaceId, from, to }: Merge): Promise<void> {
  await tx`
    with clash as (
      select case
        when (ours.state = 'BLOCKED', ours.registered_at) >= (theirs.state = 'BLOCKED', theirs.registered_at)
        then theirs.bucket else ours.bucket end as bucket,
        case
        when (ours.state = 'BLOCKED', ours.registered_at) >= (theirs.state = 'BLOCKED', theirs.registered_at)
        then theirs.id else ours.id end as id
      from devices as theirs
      join devices as ours on ours.workspace_id = ${workspaceId} and ours.bucket = ${to.bucket}
        and ours.user_id = ${to.userId} and ours.device_id = theirs.device_id
      where theirs.workspace_id = ${workspaceId} and theirs.bucket = ${from.bucket} and theirs.user_id = ${from.userId}
    ), removed as (
      delete from devices using clash
      where devices.workspace_id = ${workspaceId} and devices.bucket = clash.bucket and devices.id = clash.id
      returning devices.id, devices.push_id
    )
    delete from push_addresses using removed
    where push_addresses.workspace_id = ${workspaceId} and push_addresses.device_row_id = removed.id
      and push_addresses.address_hash = sha256(convert_to(removed.push_id, 'UTF8'))`;
}

/**
 * Moves a user's devices and their claims to another user. Rows change their bucket by being made anew, with new ids:
 * a run under way, whose audience ends with the newest id of its start, does not meet a device again in a bucket it has
 * yet to read. Indexes: devices primary key, push_addresses primary key.
 */
export async function moveDevices(
  tx: Queryable,
  { workspaceId, from, to, devices }: Merge & { devices: MovedDevice[] },
): Promise<void> {
  if (devices.length === 0) return;
  await tx`
    with renamed as (
      select old_id, new_id
      from unnest(${devices.map((device) => device.from)}::text[], ${devices.map((device) => device.to)}::text[])
        as given (old_id, new_id)
    ), moved as (
      delete from devices using renamed
      where devices.workspace_id = ${workspaceId} and devices.bucket = ${from.bucket}
        and devices.id = renamed.old_id collate "C"
      returning renamed.new_id, devices.device_id, devices.platform, devices.push_id, devices.state,
        devices.provisional, devices.model, devices.app_version, devices.os_version, devices.gaid, devices.idfv,
        devices.registered_at, devices.gone_at, devices.gone_reason, devices.created_at, devices.updated_at,
        devices.blocked_state, devices.blocked_at, devices.block_reason, devices.block_reference
    ), claimed as (
      update push_addresses set bucket = ${to.bucket}, device_row_id = moved.new_id
      from moved
      where push_addresses.workspace_id = ${workspaceId}
        and push_addresses.address_hash = sha256(convert_to(moved.push_id, 'UTF8'))
    )
    insert into devices (
      workspace_id, bucket, id, user_id, device_id, platform, push_id, state, provisional, model, app_version,
      os_version, gaid, idfv, registered_at, gone_at, gone_reason, created_at, updated_at, blocked_state, blocked_at,
      block_reason, block_reference
    )
    select ${workspaceId}, ${to.bucket}, new_id, ${to.userId}, device_id, platform, push_id, state, provisional, model,
      app_version, os_version, gaid, idfv, registered_at, gone_at, gone_reason, created_at, updated_at, blocked_state,
      blocked_at, block_reason, block_reference
    from moved`;
}
