import type { Platform } from '../../domain/campaign/content.ts';
import type { Database, Queryable } from '../pool.ts';

/** How a delivery stands. `WAITING` is tried again at `retryAt`; all others are final. */
export type DeliveryOutcome = 'ACCEPTED' | 'GONE' | 'REJECTED' | 'EXPIRED' | 'FAILED' | 'WAITING';

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
export type DeliveryRun = { day: string; workspaceId: string; runId: string; chunkNumber: number };

/**
 * Makes the partition of a day when it is missing. Takes a short exclusive lock on the ledger, so it is called once a
 * run and looks first.
 */
export async function ensureDeliveriesPartition(database: Database, day: string): Promise<void> {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`not a day: ${day}`);
  const name = `deliveries_${day.replaceAll('-', '')}`;
  const [existing] = await database`select 1 from pg_class where relname = ${name}`;
  if (existing) return;
  // Dates and names are checked above; DDL takes no parameters.
  await database
    .unsafe(
      `create table if not exists ${name} partition of deliveries for values from ('${day}') to (date '${day}' + 1)`,
    )
    .catch((error: { code?: string }) => {
      // Another node made it between the look and the statement (42P07 duplicate table, 42P17 overlap, 23505 catalog).
      if (!['42P07', '42P17', '23505'].includes(error.code ?? '')) throw error;
    });
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
      day, workspace_id, bucket, run_id, device_id, user_id, chunk_number, platform, outcome, code,
      provider_message_id, attempts, sent_at, retry_at
    )
    select ${run.day}::date, ${run.workspaceId}, delivery.bucket, ${run.runId}, delivery.device_id, delivery.user_id,
      ${run.chunkNumber}::int, delivery.platform, delivery.outcome, delivery.code, delivery.provider_message_id,
      delivery.attempts, ${run.sentAt}, delivery.retry_at
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

export type CountChange = { platform: Platform; outcome: DeliveryOutcome; devices: number };

/** Adds to the counters of a chunk, in the transaction that stores the outcomes. A change may be negative. */
export async function addRunCounts(
  tx: Queryable,
  chunk: { runId: string; chunkNumber: number; changes: CountChange[] },
): Promise<void> {
  if (chunk.changes.length === 0) return;
  await tx`
    insert into run_counts (run_id, chunk_number, platform, outcome, devices)
    select ${chunk.runId}, ${chunk.chunkNumber}::int, change.platform, change.outcome, change.devices
    from unnest(
      ${chunk.changes.map((change) => change.platform)}::text[], ${chunk.changes.map((change) => change.outcome)}::text[],
      ${chunk.changes.map((change) => change.devices)}::bigint[]
    ) as change (platform, outcome, devices)
    -- One order everywhere, so that two workers never wait for each other in a circle.
    order by change.platform, change.outcome
    on conflict (run_id, chunk_number, platform, outcome) do update set devices = run_counts.devices + excluded.devices`;
}

/** A delivery that is due again, with all that is needed to send it. */
export type DueDelivery = Delivery & DeliveryRun & { pushId: string | null; sendUntil: Date };

/**
 * Takes deliveries that are due again, oldest first, and moves their `retry_at` one lease ahead with the attempt
 * counted, before anything is sent: a worker that dies leaves them due again. Index: deliveries_waiting.
 */
export async function claimDueDeliveries(
  database: Database,
  claim: { at: Date; leaseUntil: Date; limit: number },
): Promise<DueDelivery[]> {
  return database<DueDelivery[]>`
    with due as (
      select deliveries.day, deliveries.workspace_id, deliveries.bucket, deliveries.run_id, deliveries.device_id,
        runs.send_until
      from deliveries
      join runs on runs.id = deliveries.run_id and runs.status = 'SENDING'
      where deliveries.outcome = 'WAITING' and deliveries.retry_at <= ${claim.at}
      order by deliveries.retry_at
      limit ${claim.limit}
      for update of deliveries skip locked
    )
    update deliveries
    set retry_at = ${claim.leaseUntil}, attempts = deliveries.attempts + 1
    from due
    left join devices on devices.workspace_id = due.workspace_id and devices.bucket = due.bucket
      and devices.id = due.device_id and devices.state = 'ACTIVE'
    where deliveries.day = due.day and deliveries.workspace_id = due.workspace_id and deliveries.bucket = due.bucket
      and deliveries.run_id = due.run_id and deliveries.device_id = due.device_id
    returning deliveries.day::text as day, deliveries.workspace_id as "workspaceId", deliveries.run_id as "runId",
      deliveries.chunk_number as "chunkNumber", deliveries.bucket, deliveries.device_id as "deviceId",
      deliveries.user_id as "userId", deliveries.platform, deliveries.outcome, deliveries.code,
      deliveries.provider_message_id as "providerMessageId", deliveries.attempts, deliveries.retry_at as "retryAt",
      devices.push_id as "pushId", due.send_until as "sendUntil"`;
}

/**
 * Stores what became of a delivery that was due again. Guarded by the attempt number of the claim, so a worker whose
 * lease ran out changes nothing; an attempt that was not made is given back. Index: primary key.
 */
export async function settleDelivery(
  tx: Queryable,
  delivery: Delivery & DeliveryRun & { claimedAttempts: number; sentAt: Date },
): Promise<boolean> {
  const rows = await tx`
    update deliveries
    set outcome = ${delivery.outcome}, code = ${delivery.code}, provider_message_id = ${delivery.providerMessageId},
      sent_at = ${delivery.sentAt}, retry_at = ${delivery.retryAt}, attempts = ${delivery.attempts}
    where day = ${delivery.day}::date and workspace_id = ${delivery.workspaceId} and bucket = ${delivery.bucket}
      and run_id = ${delivery.runId} and device_id = ${delivery.deviceId}
      and outcome = 'WAITING' and attempts = ${delivery.claimedAttempts}
    returning 1`;
  return rows.length === 1;
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
  const rows = await tx`
    update devices
    set state = 'GONE', gone_at = ${gone.at}, gone_reason = gone.code, updated_at = ${gone.at}
    from unnest(
      ${gone.devices.map((device) => device.bucket)}::smallint[], ${gone.devices.map((device) => device.deviceId)}::text[],
      ${gone.devices.map((device) => device.code)}::text[],
      ${gone.devices.map((device) => device.goneSince.toISOString())}::timestamptz[]
    ) as gone (bucket, device_id, code, gone_since)
    where devices.workspace_id = ${gone.workspaceId} and devices.bucket = gone.bucket
      and devices.id = gone.device_id collate "C" and devices.state = 'ACTIVE'
      and devices.registered_at <= gone.gone_since`;
  return rows.count;
}
