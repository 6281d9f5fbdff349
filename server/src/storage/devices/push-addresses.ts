import type { DeviceState } from '../../domain/users/devices.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Queryable } from '../database.ts';

export type AddressOwner = { bucket: number; deviceRowId: string };
export type PushAddress = { workspaceId: string; addressHash: Buffer };

/**
 * Assigns an address to a device and returns its previous owner. The row's lock serializes two claims of one address.
 * Index: primary key.
 */
export async function claimPushAddress(
  tx: Queryable,
  address: PushAddress & AddressOwner,
): Promise<AddressOwner | undefined> {
  const [before] = await tx<AddressOwner[]>`
    select bucket, device_row_id as "deviceRowId" from push_addresses
    where workspace_id = ${address.workspaceId} and address_hash = ${address.addressHash}
    for update`;
  await tx`
    insert into push_addresses (workspace_id, address_hash, bucket, device_row_id)
    values (${address.workspaceId}, ${address.addressHash}, ${address.bucket}, ${address.deviceRowId})
    on conflict (workspace_id, address_hash) do update
    set bucket = excluded.bucket, device_row_id = excluded.device_row_id`;
  return before;
}

/**
 * Finds the device that holds an address and locks the address, so that two registrations of one address run one after the
 * other. Undefined if no device does. Indexes: primary keys of push_addresses and devices.
 */
export async function findAddressHolder(tx: Queryable, address: PushAddress): Promise<AddressHolder | undefined> {
  const [owner] = await tx<AddressOwner[]>`
    select bucket, device_row_id as "deviceRowId" from push_addresses
    where workspace_id = ${address.workspaceId} and address_hash = ${address.addressHash}
    for update`;
  if (!owner) return undefined;
  const [holder] = await tx<AddressHolder[]>`
    select bucket, user_id as "userId", device_id as "deviceId", state from devices
    where workspace_id = ${address.workspaceId} and bucket = ${owner.bucket} and id = ${owner.deviceRowId}`;
  return holder;
}

export type AddressHolder = UserKey & { deviceId: string; state: DeviceState };

/** Releases an address that its device no longer uses. Index: primary key. */
export async function releasePushAddress(tx: Queryable, address: PushAddress & AddressOwner): Promise<void> {
  await tx`
    delete from push_addresses
    where workspace_id = ${address.workspaceId} and address_hash = ${address.addressHash}
      and bucket = ${address.bucket} and device_row_id = ${address.deviceRowId}`;
}
