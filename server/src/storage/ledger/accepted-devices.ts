import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/in-buckets.ts';
import { idBytesOf } from './ledger-bytes.ts';

/** A device as the ledger finds it: by its user, in the user's bucket. */
export type LedgerDevice = { bucket: number; userId: string; id: string };

/**
 * The ids of those devices that have an accepted message in the ledger, after an instant if one is given. For a few devices:
 * it looks into each day that is kept. Index: deliveries primary key (bucket, user_id, device_id, …).
 */
export async function findAcceptedDevices(
  tx: Queryable,
  devices: readonly LedgerDevice[],
  since?: Date,
): Promise<Set<string>> {
  if (devices.length === 0) return new Set();
  const isThere = isInBuckets(tx, { column: tx`deliveries.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<{ deviceId: string }[]>`
    select distinct encode(deliveries.device_id, 'hex') as "deviceId"
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${idBytesOf(devices.map(({ userId }) => userId))}::bytea[],
      ${idBytesOf(devices.map(({ id }) => id))}::bytea[]
    ) as given (bucket, user_id, device_id)
    join deliveries on deliveries.bucket = given.bucket and deliveries.user_id = given.user_id
      and deliveries.device_id = given.device_id
    where ${isThere} and deliveries.outcome = 'A' and deliveries.sent_at > coalesce(${since ?? null}::timestamptz, '-infinity')`;
  return new Set(rows.map(({ deviceId }) => deviceId));
}

/**
 * The ids of those suspected devices that have an accepted message in the ledger after their last strike: nothing speaks
 * against them any more. For a page of devices: it looks into each day that is kept. Index: deliveries primary key (bucket,
 * user_id, device_id, …).
 */
export async function findRecoveredDevices(
  tx: Queryable,
  devices: readonly (LedgerDevice & { lastAt: Date })[],
): Promise<Set<string>> {
  if (devices.length === 0) return new Set();
  const isThere = isInBuckets(tx, { column: tx`deliveries.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<{ deviceId: string }[]>`
    select distinct encode(deliveries.device_id, 'hex') as "deviceId"
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${idBytesOf(devices.map(({ userId }) => userId))}::bytea[],
      ${idBytesOf(devices.map(({ id }) => id))}::bytea[],
      ${devices.map(({ lastAt }) => lastAt.toISOString())}::timestamptz[]
    ) as given (bucket, user_id, device_id, last_at)
    join deliveries on deliveries.bucket = given.bucket and deliveries.user_id = given.user_id
      and deliveries.device_id = given.device_id
    where ${isThere} and deliveries.outcome = 'A' and deliveries.sent_at > given.last_at`;
  return new Set(rows.map(({ deviceId }) => deviceId));
}
