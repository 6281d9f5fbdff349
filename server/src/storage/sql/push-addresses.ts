import type { Queryable } from '../pool.ts';

export type AddressOwner = { bucket: number; deviceRowId: string };
export type PushAddress = { workspaceId: string; addressHash: Buffer };

/**
 * Gives an address to a device and says whose it was. The row's lock makes two claims of one address follow each other.
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

/** Frees an address its device no longer uses. Index: primary key. */
export async function releasePushAddress(tx: Queryable, address: PushAddress & AddressOwner): Promise<void> {
  await tx`
    delete from push_addresses
    where workspace_id = ${address.workspaceId} and address_hash = ${address.addressHash}
      and bucket = ${address.bucket} and device_row_id = ${address.deviceRowId}`;
}
