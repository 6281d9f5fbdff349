import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';
import type { UserKey } from './users.ts';

export type DeviceOfUser = {
  id: string;
  deviceId: string;
  platform: Platform;
  pushId: string;
  gaid: string | null;
  idfv: string | null;
};

type Owner = UserKey & { workspaceId: string };

/** A user's devices; the caller holds the user's lock. Index: devices (workspace_id, bucket, user_id, device_id). */
export async function listDevicesOfUser(tx: Queryable, owner: Owner): Promise<DeviceOfUser[]> {
  return tx<DeviceOfUser[]>`
    select id, device_id as "deviceId", platform, push_id as "pushId", gaid, idfv
    from devices
    where workspace_id = ${owner.workspaceId} and bucket = ${owner.bucket} and user_id = ${owner.userId}
    order by device_id`;
}

/**
 * Blocks devices and keeps what they were. One that is blocked already gets the new reason. Locks the rows after the
 * user's. Index: primary key.
 */
export async function blockDevicesOf(
  tx: Queryable,
  block: Owner & { ids: string[]; reason: string | null; reference: string | null; at: Date },
): Promise<void> {
  await tx`
    update devices
    set state = 'BLOCKED', blocked_state = coalesce(blocked_state, state), blocked_at = coalesce(blocked_at, ${block.at}),
      block_reason = ${block.reason}, block_reference = ${block.reference}, gone_at = null, updated_at = ${block.at}
    where workspace_id = ${block.workspaceId} and bucket = ${block.bucket} and id = any(${block.ids})`;
}

/** Gives blocked devices back what they were; the others stay as they are. Index: primary key. */
export async function unblockDevicesOf(tx: Queryable, block: Owner & { ids: string[]; at: Date }): Promise<void> {
  await tx`
    update devices
    set state = blocked_state, gone_at = case when blocked_state = 'GONE' then ${block.at}::timestamptz end,
      blocked_state = null, blocked_at = null, block_reason = null, block_reference = null, updated_at = ${block.at}
    where workspace_id = ${block.workspaceId} and bucket = ${block.bucket} and id = any(${block.ids})
      and state = 'BLOCKED'`;
}
