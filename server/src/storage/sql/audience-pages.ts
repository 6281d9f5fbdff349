import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';

/** A device of an audience, in the order of the fan-out: (bucket, id). */
export type AudienceDevice = {
  bucket: number;
  id: string;
  userId: string;
  platform: Platform;
  pushId: string;
};

export type AudiencePage = {
  workspaceId: string;
  platforms: readonly Platform[];
  bucketFrom: number;
  bucketTo: number;
  /** Last device of the page before; -1 and '' at the start. */
  afterBucket: number;
  afterDeviceId: string;
  /** Frozen upper bound: devices made later are not part of the run. */
  bound: string;
  limit: number;
};

/**
 * The next devices of audience "All Users". A keyset page: one index range scan, no offset, so nothing is skipped or
 * repeated while devices come and go. Index: devices primary key.
 */
export async function findAllUsersPage(tx: Queryable, page: AudiencePage): Promise<AudienceDevice[]> {
  return tx<AudienceDevice[]>`
    select bucket, id, user_id as "userId", platform, push_id as "pushId"
    from devices
    where workspace_id = ${page.workspaceId}
      and bucket between ${page.bucketFrom} and ${page.bucketTo}
      and (bucket, id) > (${page.afterBucket}::smallint, ${page.afterDeviceId})
      and id <= ${page.bound}
      and platform = any(${page.platforms as Platform[]})
      and state = 'ACTIVE'
    order by bucket, id
    limit ${page.limit}`;
}

/**
 * The next devices of named users (audience "User"), in the same order. Indexes: devices unique key on
 * (workspace_id, bucket, user_id, device_id).
 */
export async function findTargetUsersPage(
  tx: Queryable,
  page: AudiencePage & { targetUsers: [bucket: number, userId: string][] },
): Promise<AudienceDevice[]> {
  return tx<AudienceDevice[]>`
    select devices.bucket, devices.id, devices.user_id as "userId", devices.platform, devices.push_id as "pushId"
    from unnest(
      ${page.targetUsers.map(([bucket]) => bucket)}::smallint[], ${page.targetUsers.map(([, userId]) => userId)}::text[]
    ) as target (bucket, user_id)
    join devices on devices.workspace_id = ${page.workspaceId}
      and devices.bucket = target.bucket and devices.user_id = target.user_id collate "C"
    where (devices.bucket, devices.id) > (${page.afterBucket}::smallint, ${page.afterDeviceId})
      and devices.id <= ${page.bound}
      and devices.platform = any(${page.platforms as Platform[]})
      and devices.state = 'ACTIVE'
    order by devices.bucket, devices.id
    limit ${page.limit}`;
}

/** Counts the devices an "All Users" run will reach. Reads every device of the workspace once, at the run's start. */
export async function countAllUsersDevices(
  tx: Queryable,
  audience: Pick<AudiencePage, 'workspaceId' | 'platforms' | 'bound'>,
): Promise<number> {
  const [row] = await tx<{ devices: number }[]>`
    select count(*) as devices
    from devices
    where workspace_id = ${audience.workspaceId}
      and id <= ${audience.bound}
      and platform = any(${audience.platforms as Platform[]})
      and state = 'ACTIVE'`;
  return row!.devices;
}
