import type { Platform } from '../../domain/campaigns/content.ts';
import type { Queryable } from '../database.ts';
import { isInBuckets } from '../users/in-buckets.ts';

/** The languages of devices that said one, by the devices' ids. Index: devices primary key, one look a device. */
export async function findDeviceLocales(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: readonly { bucket: number; id: string }[] },
): Promise<Map<string, string>> {
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<{ id: string; locale: string }[]>`
    select devices.id, devices.locale
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${devices.map(({ id }) => id)}::text[]
    ) as given (bucket, id)
    join devices on devices.workspace_id = ${workspaceId} and ${isThere} and devices.bucket = given.bucket
      and devices.id = given.id collate "C"
    where devices.locale is not null`;
  return new Map(rows.map(({ id, locale }) => [id, locale]));
}

/** The language that a user's devices of each platform said last. Index: devices (workspace_id, bucket, user_id, device_id). */
export async function findLocalesOfUser(
  tx: Queryable,
  { workspaceId, bucket, userId }: { workspaceId: string; bucket: number; userId: string },
): Promise<Map<Platform, string>> {
  const rows = await tx<{ platform: Platform; locale: string }[]>`
    select platform, locale from devices
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and state = 'ACTIVE'
      and locale is not null
    order by registered_at, id`;
  return new Map(rows.map(({ platform, locale }) => [platform, locale]));
}
