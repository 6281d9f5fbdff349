import type { Platform } from '../../domain/campaigns/content.ts';
import type { Database, Fragment, Queryable } from '../database.ts';
import type { Lease } from '../../domain/lease.ts';

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
 * Makes the partition of a day when it is missing. Takes a short exclusive lock on the ledger, so it is called once a
 * run and looks first.
 */
export async function ensureDeliveriesPartition(database: Database, day: string): Promise<void> {
  const name = partitionOf(day);
  const [existing] = await database`select 1 from pg_class where relname = ${name} and relrowsecurity`;
  if (existing) return;
  await database`select make_day_partition('deliveries', ${day}::date)`.catch((error: { code?: string }) => {
    // Another node made it between the look and the statement (42P07 duplicate table, 42P17 overlap, 23505 catalog).
    if (!['42P07', '42P17', '23505'].includes(error.code ?? '')) throw error;
  });
}

/**
 * The table of a day. Asked itself, it needs no look at the column `day`, so an index that has no day answers alone.
 */
export function partitionOf(day: string): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`not a day: ${day}`);
  return `deliveries_${day.replaceAll('-', '')}`;
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

/** A delivery that is due again, with all that is needed to send it. */
export type DueDelivery = Delivery & DeliveryRun & { pushId: string | null };

/**
 * Takes deliveries that are due again, oldest first, with the attempt counted before anything is sent: a worker that
 * dies leaves them due again when its lease ends. Index: deliveries_waiting of the partitions of these days; planned over
 * those of a year, it would take a tenth of a second.
 */
export async function claimDueDeliveries(
  database: Database,
  claim: { days: readonly string[]; at: Date; limit: number; kind: 'fresh' | 'lost' | 'suspect' } & Lease,
): Promise<DueDelivery[]> {
  return database<DueDelivery[]>`
    with due as (
      select deliveries.day, deliveries.workspace_id, deliveries.bucket, deliveries.run_id, deliveries.device_id
      from deliveries
      where deliveries.day = any(${claim.days}::date[]) and deliveries.outcome = 'WAITING'
        and deliveries.retry_at <= ${claim.at}
        and deliveries.run_id in (select id from runs where status = 'SENDING')
        and ${isClaimable(database, claim)}
      order by deliveries.retry_at
      limit ${claim.limit}
      for update of deliveries skip locked
    )
    update deliveries
    set lease_until = ${claim.leaseUntil}, attempts = deliveries.attempts + 1
    from due
    left join devices on devices.workspace_id = due.workspace_id and devices.bucket = due.bucket
      and devices.id = due.device_id and devices.state = 'ACTIVE'
    where deliveries.day = any(${claim.days}::date[]) and deliveries.day = due.day
      and deliveries.workspace_id = due.workspace_id and deliveries.bucket = due.bucket
      and deliveries.run_id = due.run_id and deliveries.device_id = due.device_id
    returning deliveries.day::text as day, deliveries.workspace_id as "workspaceId", deliveries.run_id as "runId",
      deliveries.bucket, deliveries.device_id as "deviceId",
      deliveries.user_id as "userId", deliveries.platform, deliveries.outcome, deliveries.code,
      deliveries.provider_message_id as "providerMessageId", deliveries.attempts, deliveries.retry_at as "retryAt",
      devices.push_id as "pushId"`;
}

/** `fresh`: nobody held it since it was due. `lost`: its worker's lease ended. `suspect`: and so did one before. */
function isClaimable(
  tx: Queryable,
  { kind, leasedAt }: { kind: 'fresh' | 'lost' | 'suspect'; leasedAt: Date },
): Fragment {
  if (kind === 'fresh') return tx`deliveries.lease_until is null`;
  const attempts = kind === 'lost' ? tx`deliveries.attempts < 3` : tx`deliveries.attempts >= 3`;
  return tx`deliveries.lease_until <= ${leasedAt} and ${attempts}`;
}

export type SettledDelivery = Delivery & DeliveryRun & { claimedAttempts: number };

/**
 * Stores what became of deliveries that were due again, in one statement. Each is guarded by the attempt number of its
 * claim, so a worker whose lease ran out changes nothing; an attempt that was not made is given back. Rows are locked in
 * the order of the primary key. Index: primary key.
 *
 * @returns the places in `deliveries` of those that were stored
 */
export async function settleDeliveries(
  tx: Queryable,
  { deliveries, sentAt }: { deliveries: SettledDelivery[]; sentAt: Date },
): Promise<number[]> {
  const days = [...new Set(deliveries.map(({ day }) => day))];
  const rows = await tx<{ place: number }[]>`
    with settled as (
      select given.place, deliveries.day, deliveries.workspace_id, deliveries.bucket, deliveries.run_id,
        deliveries.device_id, given.outcome, given.code, given.provider_message_id, given.attempts, given.retry_at
      from unnest(
        ${deliveries.map((row) => row.day)}::date[], ${deliveries.map((row) => row.workspaceId)}::text[],
        ${deliveries.map((row) => row.bucket)}::smallint[], ${deliveries.map((row) => row.runId)}::text[],
        ${deliveries.map((row) => row.deviceId)}::text[], ${deliveries.map((row) => row.claimedAttempts)}::smallint[],
        ${deliveries.map((row) => row.outcome)}::text[], ${deliveries.map((row) => row.code)}::text[],
        ${deliveries.map((row) => row.providerMessageId)}::text[],
        ${deliveries.map((row) => row.attempts)}::smallint[],
        ${deliveries.map((row) => row.retryAt?.toISOString() ?? null)}::timestamptz[]
      ) with ordinality as given (
        day, workspace_id, bucket, run_id, device_id, claimed, outcome, code, provider_message_id, attempts, retry_at,
        place
      )
      join deliveries on deliveries.day = given.day and deliveries.workspace_id = given.workspace_id collate "C"
        and deliveries.bucket = given.bucket and deliveries.run_id = given.run_id collate "C"
        and deliveries.device_id = given.device_id collate "C"
      where deliveries.day = any(${days}::date[]) and deliveries.outcome = 'WAITING'
        and deliveries.attempts = given.claimed
      order by deliveries.day, deliveries.workspace_id, deliveries.bucket, deliveries.run_id, deliveries.device_id
      for update of deliveries
    )
    update deliveries
    set outcome = settled.outcome, code = settled.code, provider_message_id = settled.provider_message_id,
      sent_at = ${sentAt}, retry_at = settled.retry_at, lease_until = null, attempts = settled.attempts
    from settled
    where deliveries.day = any(${days}::date[]) and deliveries.day = settled.day
      and deliveries.workspace_id = settled.workspace_id and deliveries.bucket = settled.bucket and deliveries.run_id = settled.run_id
      and deliveries.device_id = settled.device_id
    returning (settled.place - 1)::int as place`;
  return rows.map(({ place }) => place);
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
