import type { ProviderName } from '../../domain/delivery/providers.ts';
import type { Lease, Fragment, Queryable } from '../database.ts';
import { utcDay } from '../runs/runs.ts';
import { isInBuckets } from '../users/buckets.ts';
import type { Delivery, DeliveryRun } from './deliveries.ts';
import {
  idBytesOf,
  packedOrNull,
  unpackedOrNull,
  ledgerLocale,
  ledgerVariation,
  localeCode,
  outcomeLetters,
  platformWord,
  variantOf,
  variationCode,
} from './ledger-encoding.ts';
import type { LedgerVariant } from './ledger-encoding.ts';

/** A delivery that is due for a retry. */
export type DueDelivery = Delivery & DeliveryRun;

/** Selects due deliveries, on the days of runs that are being sent. */
export type DueClaim = {
  days: readonly string[];
  at: Date;
  limit: number;
  kind: 'fresh' | 'lost' | 'suspect';
} & Lease;

/** A bucket with due deliveries: how many, and of which runs. */
export type DueBucket = { bucket: number; runNumbers: number[]; devices: number };

/**
 * Returns the buckets of the deliveries that have been due longest; `limit` counts deliveries. Locks nothing: the
 * result only says where to claim. Index: deliveries_waiting of the partitions of these days.
 */
export async function listDueBuckets(tx: Queryable, claim: DueClaim): Promise<DueBucket[]> {
  return tx<DueBucket[]>`
    select due.bucket, array_agg(distinct due.run_number) as "runNumbers", count(*)::int as devices
    from (
      select deliveries.bucket, deliveries.run_number, deliveries.retry_at from deliveries
      where ${isDue(tx, claim)} and deliveries.run_number in (
        select number from runs where status = 'SENDING'
        union all
        -- Paused because the provider rejected the credentials: one message tests whether it still does.
        select number from runs where status = 'PAUSED' and paused_platform is not null
      )
      order by deliveries.retry_at
      limit ${claim.limit}
    ) as due
    group by due.bucket
    order by min(due.retry_at)`;
}

/**
 * Claims due deliveries in these buckets, oldest first, and counts the attempt before anything is sent: if the worker
 * dies, they become due again when its lease ends. Skips rows that other workers have locked. On a cluster the caller
 * passes one bucket, because Citus locks rows in one shard per statement. The statement does not join runs either, so
 * the caller passes their numbers. Index: deliveries_waiting of the partitions of these days; planning over a year's
 * partitions would take a tenth of a second.
 */
export async function claimDueDeliveries(
  tx: Queryable,
  claim: DueClaim & { buckets: readonly number[]; runNumbers: readonly number[] },
): Promise<DueDelivery[]> {
  const isThere = isInBuckets(tx, { column: tx`deliveries.bucket`, buckets: claim.buckets });
  const rows = await tx<ClaimedRow[]>`
    with due as (
      select deliveries.day, deliveries.bucket, deliveries.user_id, deliveries.device_id, deliveries.run_number
      from deliveries
      where ${isThere} and ${isDue(tx, claim)} and deliveries.run_number = any(${[...claim.runNumbers]}::bigint[])
      order by deliveries.retry_at
      limit ${claim.limit}
      for update of deliveries skip locked
    )
    update deliveries
    set lease_until = ${claim.leaseUntil}, attempts = deliveries.attempts + 1
    from due
    where ${isThere} and deliveries.day = any(${claim.days}::date[]) and deliveries.day = due.day
      and deliveries.bucket = due.bucket and deliveries.user_id = due.user_id
      and deliveries.device_id = due.device_id and deliveries.run_number = due.run_number
    returning deliveries.day, deliveries.run_number as "runNumber", deliveries.bucket,
      encode(deliveries.device_id, 'hex') as "deviceId", encode(deliveries.user_id, 'hex') as "userId",
      ${platformWord(tx, tx`deliveries.platform`)} as platform, 'WAITING' as outcome, deliveries.code,
      deliveries.provider_message_id as "providerMessageId",
      deliveries.attempts, deliveries.retry_at as "retryAt", ${ledgerVariation(tx)} as variation,
      ${ledgerLocale(tx)} as locale`;
  return rows.map(({ day, providerMessageId, variation, locale, ...due }) => ({
    ...due,
    variant: variantOf({ variation, locale }),
    // The shard returns the day as a date, because its text form depends on a setting.
    day: utcDay(day),
    providerMessageId: unpackedOrNull(providerMessageId),
  }));
}

type ClaimedRow = Omit<DueDelivery, 'day' | 'providerMessageId' | 'variant'> &
  LedgerVariant & { day: Date; providerMessageId: Buffer | null };

/** A device's push address and its app; null is the default app. */
export type Address = { provider: ProviderName | null; pushId: string; pushIdType: 'fid' | null; appId: string | null };

/**
 * Returns the addresses of the devices that are still active, by device id. The others were removed, opted out or were
 * dropped while their delivery waited. Index: devices primary key, one lookup per device.
 */
export async function findAddresses(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: readonly { bucket: number; deviceId: string }[] },
): Promise<Map<string, Address>> {
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<(Address & { id: string })[]>`
    select devices.id, devices.push_provider as provider, devices.push_id as "pushId", devices.push_id_type as "pushIdType", devices.app_id as "appId"
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${devices.map(({ deviceId }) => deviceId)}::text[]
    ) as given (bucket, id)
    join devices on devices.workspace_id = ${workspaceId} and ${isThere} and devices.bucket = given.bucket
      and devices.id = given.id collate "C"
    where devices.state = 'ACTIVE'`;
  return new Map(rows.map(({ id, ...address }) => [id, address]));
}

function isDue(tx: Queryable, claim: DueClaim): Fragment {
  return tx`deliveries.day = any(${claim.days}::date[]) and deliveries.outcome = 'W'
    and deliveries.retry_at <= ${claim.at}
    and ${isClaimable(tx, claim)}`;
}

/**
 * `fresh`: not claimed since it became due. `lost`: its worker's lease expired. `suspect`: an earlier lease expired
 * too.
 */
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
 * Stores the outcomes of deliveries that were due again, in one statement. Each update is guarded by the attempt number
 * of its claim, so a worker with an expired lease changes nothing. An attempt that was not made is given back. Locks
 * rows in primary key order. Index: primary key.
 *
 * @returns the indexes in `deliveries` of those that were stored
 */
export async function settleDeliveries(
  tx: Queryable,
  { deliveries, sentAt }: { deliveries: SettledDelivery[]; sentAt: Date },
): Promise<number[]> {
  const days = [...new Set(deliveries.map(({ day }) => day))];
  // With one bucket, the rows are locked in its shard.
  const isThere = isInBuckets(tx, { column: tx`deliveries.bucket`, buckets: deliveries.map(({ bucket }) => bucket) });
  const rows = await tx<{ place: number }[]>`
    with settled as (
      select given.place, deliveries.day, deliveries.bucket, deliveries.user_id, deliveries.device_id,
        deliveries.run_number, given.outcome, given.code, given.provider_message_id, given.attempts, given.retry_at,
        given.variation, given.locale
      from unnest(
        ${deliveries.map((row) => row.day)}::date[], ${deliveries.map((row) => row.bucket)}::smallint[],
        ${idBytesOf(deliveries.map((row) => row.userId))}::bytea[],
        ${idBytesOf(deliveries.map((row) => row.deviceId))}::bytea[],
        ${deliveries.map((row) => row.runNumber)}::bigint[],
        ${deliveries.map((row) => row.claimedAttempts)}::smallint[],
        ${deliveries.map((row) => outcomeLetters[row.outcome])}::"char"[], ${deliveries.map((row) => row.code)}::text[],
        ${deliveries.map((row) => packedOrNull(row.providerMessageId))}::bytea[],
        ${deliveries.map((row) => row.attempts)}::smallint[],
        ${deliveries.map((row) => row.retryAt?.toISOString() ?? null)}::timestamptz[],
        ${deliveries.map((row) => variationCode(row.variant))}::integer[],
        ${deliveries.map((row) => localeCode(row.variant))}::integer[]
      ) with ordinality as given (
        day, bucket, user_id, device_id, run_number, claimed, outcome, code, provider_message_id, attempts, retry_at,
        variation, locale, place
      )
      join deliveries on deliveries.day = given.day and deliveries.bucket = given.bucket
        and deliveries.user_id = given.user_id and deliveries.device_id = given.device_id
        and deliveries.run_number = given.run_number
      where ${isThere} and deliveries.day = any(${days}::date[]) and deliveries.outcome = 'W'
        and deliveries.attempts = given.claimed
      order by deliveries.day, deliveries.bucket, deliveries.user_id, deliveries.device_id, deliveries.run_number
      for update of deliveries
    )
    update deliveries
    set outcome = settled.outcome, code = settled.code, provider_message_id = settled.provider_message_id,
      sent_at = ${sentAt}, retry_at = settled.retry_at, lease_until = null, attempts = settled.attempts,
      variation = nullif(settled.variation, 0)::"char", locale = nullif(settled.locale, 0)::"char"
    from settled
    where ${isThere} and deliveries.day = any(${days}::date[]) and deliveries.day = settled.day
      and deliveries.bucket = settled.bucket and deliveries.user_id = settled.user_id
      and deliveries.device_id = settled.device_id and deliveries.run_number = settled.run_number
    returning (settled.place - 1)::int as place`;
  return rows.map(({ place }) => place);
}

export type HeldDelivery = DeliveryRun & { bucket: number; userId: string; deviceId: string };

type OpenRun = { day: string; runNumber: number; sendUntil: Date };

/**
 * Lists some deliveries of one run that wait until a held key works again. Finds the run first, because the ledger is
 * in the shards of a cluster and runs are not. Indexes: run_refusals_evidence, deliveries_waiting of the run's day.
 */
export async function listWaitingForKey(
  tx: Queryable,
  { key, code, limit }: { key: string; code: string; limit: number },
): Promise<HeldDelivery[]> {
  const runs = await tx<OpenRun[]>`
    select runs.day::text as day, runs.number as "runNumber", runs.send_until as "sendUntil"
    from run_refusals join runs on runs.id = run_refusals.run_id
    where run_refusals.evidence_key = ${key}
      and (runs.status = 'SENDING' or runs.status = 'PAUSED' and runs.paused_platform is not null)
    order by runs.lane, runs.created_at desc limit 10`;
  for (const { day, runNumber, sendUntil } of runs) {
    const rows = await tx<Omit<HeldDelivery, 'day' | 'runNumber'>[]>`
      select bucket, encode(user_id, 'hex') as "userId", encode(device_id, 'hex') as "deviceId"
      from deliveries
      where day = ${day}::date and run_number = ${runNumber}::bigint and outcome = 'W' and code = ${code}
        and retry_at >= ${sendUntil} and lease_until is null
      limit ${limit}`;
    if (rows.length > 0) return rows.map((row) => ({ ...row, day, runNumber }));
  }
  return [];
}

/** Makes one waiting delivery due. Index: deliveries primary key. */
export async function makeDue(tx: Queryable, { at, ...of }: HeldDelivery & { at: Date }): Promise<void> {
  await tx`
    update deliveries set retry_at = ${at}
    where day = ${of.day}::date and bucket = ${of.bucket}::smallint and user_id = decode(${of.userId}, 'hex')
      and device_id = decode(${of.deviceId}, 'hex') and run_number = ${of.runNumber}::bigint and outcome = 'W'
      and lease_until is null`;
}
