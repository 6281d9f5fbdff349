import type { Platform } from '../../domain/campaigns/content.ts';
import type { Queryable } from '../database.ts';

/** Where a page ends: the next one begins after it. */
export type ReportPlace = { bucket: number; deviceRowId: string; runId: string };

/** A device that reported a message of a campaign as shown or clicked. */
export type ReportedDevice = ReportPlace & {
  platform: Platform;
  /** The button of a click; null: the message itself. */
  action: string | null;
  /** How often it was reported, and when first. */
  times: number;
  at: Date;
  /** Null: removed since. */
  deviceId: string | null;
  userId: string | null;
  customerId: string | null;
};

export type ReportLook = {
  workspaceId: string;
  campaignId: string;
  kind: 'IMPRESSION' | 'CLICK';
  platform: Platform | undefined;
  bucket: number;
  /** Undefined: from the first of the bucket on. */
  after: ReportPlace | undefined;
  limit: number;
};

/**
 * Reports of one bucket about a campaign, by device and run, with whose they are: all of it lies in one shard. Indexes:
 * device_interactions_pkey, in its order; devices and users primary keys, one look a row.
 */
export async function listDeviceReports(tx: Queryable, look: ReportLook): Promise<ReportedDevice[]> {
  const { workspaceId, campaignId, kind, platform, bucket, after, limit } = look;
  return tx<ReportedDevice[]>`
    select found.bucket, found.device_id as "deviceRowId", found.run_id as "runId", found.platform, found.action,
      found.count as times, found.first_at as at, devices.device_id as "deviceId", users.id as "userId",
      users.customer_id as "customerId"
    from (
      select * from device_interactions
      where workspace_id = ${workspaceId} and bucket = ${bucket} and campaign_id = ${campaignId} and kind = ${kind}
        ${platform === undefined ? tx`` : tx`and platform = ${platform}`}
        ${after === undefined ? tx`` : tx`and (device_id, run_id) > (${after.deviceRowId}, ${after.runId})`}
      order by device_id, run_id limit ${limit}
    ) as found
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
      and devices.id = found.device_id
    left join users on users.workspace_id = ${workspaceId} and users.bucket = ${bucket} and users.id = devices.user_id
    order by found.device_id, found.run_id`;
}
