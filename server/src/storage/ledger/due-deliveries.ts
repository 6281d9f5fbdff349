import type { Database, Fragment, Queryable } from '../database.ts';
import type { Lease } from '../../domain/lease.ts';
import { utcDay } from '../runs/runs.ts';
import { isInBuckets } from '../users/in-buckets.ts';
import type { Delivery, DeliveryRun } from './deliveries.ts';

/** A delivery that is due again, with all that is needed to send it. */
export type DueDelivery = Delivery & DeliveryRun & { pushId: string | null };

/** Which deliveries are due, on the days of runs that are being sent. */
export type DueClaim = {
  days: readonly string[];
  at: Date;
  limit: number;
  kind: 'fresh' | 'lost' | 'suspect';
} & Lease;

/** Where something is due: a bucket, and the runs that have it there. */
export type DueBucket = { bucket: number; runIds: string[] };

/**
 * The buckets of what is due again longest, at most `limit` deliveries. Nothing is locked: it says where to claim.
 * Index: deliveries_waiting of the partitions of these days.
 */
export async function listDueBuckets(database: Database, claim: DueClaim): Promise<DueBucket[]> {
  return database<DueBucket[]>`
    select due.bucket, array_agg(distinct due.run_id) as "runIds"
    from (
      select deliveries.bucket, deliveries.run_id, deliveries.retry_at from deliveries
      where ${isDue(database, claim)} and deliveries.run_id in (select id from runs where status = 'SENDING')
      order by deliveries.retry_at
      limit ${claim.limit}
    ) as due
    group by due.bucket
    order by min(due.retry_at)`;
}

/**
 * Takes deliveries that are due again, of one bucket or of all, oldest first, with the attempt counted before anything is
 * sent: a worker that dies leaves them due again when its lease ends. On a cluster rows of several buckets cannot be locked,
 * nor looked at beside the runs: there it is one bucket, and the runs are named. Index: deliveries_waiting of the partitions of these days; planned over those of a
 * year, it would take a tenth of a second.
 */
export async function claimDueDeliveries(
  database: Database,
  claim: DueClaim & { of: DueBucket | 'all' },
): Promise<DueDelivery[]> {
  const { of } = claim;
  const isInBucket = of === 'all' ? database`true` : database`deliveries.bucket = ${of.bucket}::smallint`;
  const isOfRun =
    of === 'all'
      ? database`deliveries.run_id in (select id from runs where status = 'SENDING')`
      : database`deliveries.run_id = any(${of.runIds})`;
  const rows = await database<(Omit<DueDelivery, 'day'> & { day: Date })[]>`
    with due as (
      select deliveries.day, deliveries.workspace_id, deliveries.bucket, deliveries.run_id, deliveries.device_id
      from deliveries
      where ${isInBucket} and ${isDue(database, claim)} and ${isOfRun}
      order by deliveries.retry_at
      limit ${claim.limit}
      for update of deliveries skip locked
    )
    update deliveries
    set lease_until = ${claim.leaseUntil}, attempts = deliveries.attempts + 1
    from due
    left join devices on devices.workspace_id = due.workspace_id and devices.bucket = due.bucket
      and devices.id = due.device_id and devices.state = 'ACTIVE'
    where ${isInBucket} and deliveries.day = any(${claim.days}::date[]) and deliveries.day = due.day
      and deliveries.workspace_id = due.workspace_id and deliveries.bucket = due.bucket
      and deliveries.run_id = due.run_id and deliveries.device_id = due.device_id
    returning deliveries.day, deliveries.workspace_id as "workspaceId", deliveries.run_id as "runId",
      deliveries.bucket, deliveries.device_id as "deviceId", deliveries.user_id as "userId", deliveries.platform, deliveries.outcome, deliveries.code,
      deliveries.provider_message_id as "providerMessageId", deliveries.attempts, deliveries.retry_at as "retryAt",
      devices.push_id as "pushId"`;
  // A shard makes no text of a day: how it is written is a setting.
  return rows.map((due) => ({ ...due, day: utcDay(due.day) }));
}

function isDue(tx: Queryable, claim: DueClaim): Fragment {
  return tx`deliveries.day = any(${claim.days}::date[]) and deliveries.outcome = 'WAITING'
    and deliveries.retry_at <= ${claim.at}
    and ${isClaimable(tx, claim)}`;
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
  // Of one bucket they are locked where it lies.
  const isThere = isInBuckets(tx, { column: tx`deliveries.bucket`, buckets: deliveries.map(({ bucket }) => bucket) });
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
      where ${isThere} and deliveries.day = any(${days}::date[]) and deliveries.outcome = 'WAITING'
        and deliveries.attempts = given.claimed
      order by deliveries.day, deliveries.workspace_id, deliveries.bucket, deliveries.run_id, deliveries.device_id
      for update of deliveries
    )
    update deliveries
    set outcome = settled.outcome, code = settled.code, provider_message_id = settled.provider_message_id,
      sent_at = ${sentAt}, retry_at = settled.retry_at, lease_until = null, attempts = settled.attempts
    from settled
    where ${isThere} and deliveries.day = any(${days}::date[]) and deliveries.day = settled.day
      and deliveries.workspace_id = settled.workspace_id and deliveries.bucket = settled.bucket and deliveries.run_id = settled.run_id
      and deliveries.device_id = settled.device_id
    returning (settled.place - 1)::int as place`;
  return rows.map(({ place }) => place);
}
