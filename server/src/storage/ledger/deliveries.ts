import type { Platform } from '../../domain/campaigns/content.ts';
import type { Database, Queryable } from '../database.ts';
import { makeDay, partitionName } from '../retention/day-partitions.ts';
import { isInBuckets } from '../users/in-buckets.ts';

/** How a delivery stands. `WAITING` is tried again at `retryAt`; all others are final. */
export type DeliveryOutcome = 'ACCEPTED' | 'GONE' | 'REJECTED' | 'EXPIRED' | 'FAILED' | 'WITHHELD' | 'WAITING';

export type Delivery = {
  bucket: number;
  deviceId: string;
  userId: string;
  platform: Platform;
  outcome: DeliveryOutcome;
  code: string | null;
  providerMessageId: string | null;
  attempts: number;
  retryAt: Date | null;
};

/** The run a batch of deliveries belongs to. `day` (YYYY-MM-DD) names the partition. */
export type DeliveryRun = { day: string; workspaceId: string; runId: string };

/**
 * Makes the partition of a day when `prepare-days` has not. Only other changes of the ledger's partitions wait for it. It
 * is called once a run and looks first.
 */
export async function ensureDeliveriesPartition(database: Database, day: string): Promise<void> {
  await makeDay(database, { table: 'deliveries', day });
}

/**
 * The table of a day. Asked itself, it needs no look at the column `day`, so an index that has no day answers alone.
 */
export function partitionOf(day: string): string {
  return partitionName({ table: 'deliveries', day });
}

/**
 * Stores the outcomes of one window. A device that has a row in this run keeps it: the first stored outcome stands.
 *
 * @returns the devices whose row was new
 */
export async function insertDeliveries(
  tx: Queryable,
  run: DeliveryRun & { sentAt: Date; deliveries: Delivery[] },
): Promise<string[]> {
  const { deliveries } = run;
  const rows = await tx<{ deviceId: string }[]>`
    insert into deliveries (
      day, workspace_id, bucket, run_id, device_id, user_id, platform, outcome, code, provider_message_id, attempts,
      sent_at, retry_at
    )
    select ${run.day}::date, ${run.workspaceId}, delivery.bucket, ${run.runId}, delivery.device_id, delivery.user_id,
      delivery.platform, delivery.outcome, delivery.code, delivery.provider_message_id, delivery.attempts,
      ${run.sentAt}, delivery.retry_at
    from unnest(
      ${deliveries.map((row) => row.bucket)}::smallint[], ${deliveries.map((row) => row.deviceId)}::text[],
      ${deliveries.map((row) => row.userId)}::text[], ${deliveries.map((row) => row.platform)}::text[],
      ${deliveries.map((row) => row.outcome)}::text[], ${deliveries.map((row) => row.code)}::text[],
      ${deliveries.map((row) => row.providerMessageId)}::text[], ${deliveries.map((row) => row.attempts)}::smallint[],
      ${deliveries.map((row) => row.retryAt?.toISOString() ?? null)}::timestamptz[]
    ) as delivery (
      bucket, device_id, user_id, platform, outcome, code, provider_message_id, attempts, retry_at
    )
    on conflict (day, workspace_id, bucket, run_id, device_id) do nothing
    returning device_id as "deviceId"`;
  return rows.map((row) => row.deviceId);
}

export type CountChange = {
  workspaceId: string;
  runId: string;
  bucket: number;
  platform: Platform;
  outcome: DeliveryOutcome;
  /** May be negative. */
  devices: number;
};

/** Adds to the counters of buckets, in the transaction that stores the outcomes. Changes of one counter are added up. */
export async function addRunCounts(tx: Queryable, changes: CountChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx`
    insert into run_counts (workspace_id, run_id, bucket, platform, outcome, devices)
    select change.workspace_id, change.run_id, change.bucket, change.platform, change.outcome, sum(change.devices)
    from unnest(
      ${changes.map((change) => change.workspaceId)}::text[], ${changes.map((change) => change.runId)}::text[],
      ${changes.map((change) => change.bucket)}::smallint[],
      ${changes.map((change) => change.platform)}::text[], ${changes.map((change) => change.outcome)}::text[],
      ${changes.map((change) => change.devices)}::bigint[]
    ) as change (workspace_id, run_id, bucket, platform, outcome, devices)
    group by change.workspace_id, change.run_id, change.bucket, change.platform, change.outcome
    -- One order everywhere, so that two workers never wait for each other in a circle.
    order by change.run_id collate "C", change.bucket, change.platform, change.outcome
    on conflict (run_id, bucket, platform, outcome) do update set devices = run_counts.devices + excluded.devices`;
}

/**
 * Drops devices the provider called dead, unless the app registered again after that. Index: devices primary key.
 *
 * @returns how many were dropped
 */
export async function markDevicesGone(
  tx: Queryable,
  gone: {
    workspaceId: string;
    at: Date;
    devices: { bucket: number; deviceId: string; code: string; goneSince: Date }[];
  },
): Promise<number> {
  if (gone.devices.length === 0) return 0;
  // Of one bucket they are in one place of a cluster, where the outcomes are stored.
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: gone.devices.map(({ bucket }) => bucket) });
  const rows = await tx`
    update devices
    set state = 'GONE', gone_at = ${gone.at}, gone_reason = gone.code, updated_at = ${gone.at}
    from unnest(
      ${gone.devices.map((device) => device.bucket)}::smallint[], ${gone.devices.map((device) => device.deviceId)}::text[],
      ${gone.devices.map((device) => device.code)}::text[],
      ${gone.devices.map((device) => device.goneSince.toISOString())}::timestamptz[]
    ) as gone (bucket, device_id, code, gone_since)
    where devices.workspace_id = ${gone.workspaceId} and ${isThere} and devices.bucket = gone.bucket
      and devices.id = gone.device_id collate "C" and devices.state = 'ACTIVE'
      and devices.registered_at <= gone.gone_since`;
  return rows.count;
}
