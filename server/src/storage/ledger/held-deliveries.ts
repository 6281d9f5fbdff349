import type { Queryable } from '../database.ts';
import type { DeliveryRun } from './deliveries.ts';

export type HeldDelivery = DeliveryRun & { bucket: number; userId: string; deviceId: string };

type OpenRun = { day: string; runNumber: number; sendUntil: Date };

/**
 * Some deliveries that wait until a held key works again, of one run that waits for it. The run first, since the ledger lies in the
 * shards of a cluster and runs do not. Indexes: run_refusals_evidence, deliveries_waiting of the run's day.
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
