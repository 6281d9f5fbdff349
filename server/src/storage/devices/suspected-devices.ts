import type { Platform } from '../../domain/campaigns/content.ts';
import { isDroppedSuspect, nextSuspicion } from '../../domain/devices/suspicion.ts';
import type { Suspicion } from '../../domain/devices/suspicion.ts';
import type { Queryable } from '../database.ts';
import { findAcceptedDevices } from '../ledger/accepted-devices.ts';
import { isInBuckets } from '../users/in-buckets.ts';

export type SuspectedDevice = { bucket: number; userId: string; id: string; code: string };

/**
 * Notes a send in which these devices got an answer that usually means a dead address, and drops those that got one in enough
 * sends over enough time. In the transaction that stores the outcomes, so each send counts once. Rows in the order of the
 * primary key. Index: devices primary key.
 */
export async function noteSuspectedDevices(
  tx: Queryable,
  { workspaceId, devices, at }: { workspaceId: string; devices: readonly SuspectedDevice[]; at: Date },
): Promise<void> {
  if (devices.length === 0) return;
  const sorted = devices.toSorted((one, other) => one.bucket - other.bucket || (one.id < other.id ? -1 : 1));
  const known = await lockSuspicions(tx, { workspaceId, devices: sorted });
  const before = sorted.filter(({ id }) => known.get(id)?.since);
  const recovered = await findRecovered(tx, { devices: before, known });
  const next = sorted.flatMap((device) => {
    const found = known.get(device.id);
    if (!found) return [];
    const last = found.since && !recovered.has(device.id) ? (found as Suspicion) : undefined;
    return [{ ...device, suspicion: nextSuspicion(last, { code: device.code, at }) }];
  });
  if (next.length === 0) return;
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: next.map(({ bucket }) => bucket) });
  await tx`
    update devices
    set suspected_code = given.code, suspected_sends = given.sends, suspected_since = given.since, suspected_at = given.at,
      state = case when given.is_dropped then 'GONE' else state end,
      gone_at = case when given.is_dropped then ${at}::timestamptz else gone_at end,
      gone_reason = case when given.is_dropped then given.code else gone_reason end, updated_at = ${at}
    from unnest(
      ${next.map(({ bucket }) => bucket)}::smallint[], ${next.map(({ id }) => id)}::text[],
      ${next.map(({ suspicion }) => suspicion.code)}::text[], ${next.map(({ suspicion }) => suspicion.sends)}::smallint[],
      ${next.map(({ suspicion }) => suspicion.since.toISOString())}::timestamptz[],
      ${next.map(({ suspicion }) => suspicion.lastAt.toISOString())}::timestamptz[],
      ${next.map(({ suspicion }) => isDroppedSuspect(suspicion))}::boolean[]
    ) as given (bucket, id, code, sends, since, at, is_dropped)
    where devices.workspace_id = ${workspaceId} and ${isThere} and devices.bucket = given.bucket
      and devices.id = given.id collate "C" and devices.state = 'ACTIVE'`;
}

type Known = { [Key in keyof Suspicion]: Suspicion[Key] | null };

async function lockSuspicions(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: readonly SuspectedDevice[] },
): Promise<Map<string, Known>> {
  const found = new Map<string, Known>();
  // Bucket by bucket: a cluster locks rows of one bucket only.
  for (const [bucket, own] of Map.groupBy(devices, (device) => device.bucket)) {
    const rows = await tx<(Known & { id: string })[]>`
      select id, suspected_code as code, suspected_sends as sends, suspected_since as since, suspected_at as "lastAt"
      from devices
      where workspace_id = ${workspaceId} and bucket = ${bucket}::smallint and id = any(${own.map(({ id }) => id)})
        and state = 'ACTIVE'
      order by id for update`;
    for (const { id, ...row } of rows) found.set(id, row);
  }
  return found;
}

/** Those that were accepted after their last suspicion: they begin anew. */
async function findRecovered(
  tx: Queryable,
  { devices, known }: { devices: readonly SuspectedDevice[]; known: Map<string, Known> },
): Promise<Set<string>> {
  const recovered = new Set<string>();
  for (const device of devices)
    for (const id of await findAcceptedDevices(tx, [device], known.get(device.id)!.lastAt!)) recovered.add(id);
  return recovered;
}

export type ListedSuspect = {
  id: string;
  userId: string;
  deviceId: string;
  platform: Platform;
  code: string;
  sends: number;
  since: Date;
  lastAt: Date;
  /** False: it was dropped for it. */
  isInAudience: boolean;
};

type Page = { workspaceId: string; after: { lastAt: Date; id: string } | undefined; limit: number };

/** Suspected devices of a workspace, the latest first. Index: devices_suspected, for each bucket. */
export async function listSuspectedDevices(
  tx: Queryable,
  { workspaceId, after, limit }: Page,
): Promise<ListedSuspect[]> {
  const isAfter = after ? tx`(suspected_at, id) < (${after.lastAt}, ${after.id} collate "C")` : tx`true`;
  return tx<ListedSuspect[]>`
    select id, user_id as "userId", device_id as "deviceId", platform, suspected_code as code, suspected_sends as sends,
      suspected_since as since, suspected_at as "lastAt", state <> 'GONE' as "isInAudience"
    from devices
    where workspace_id = ${workspaceId} and suspected_code is not null and ${isAfter}
    order by suspected_at desc, id desc limit ${limit}`;
}

/**
 * Keeps a suspected device: the suspicion is forgotten, and a device that was dropped for it is in the audience again. Index:
 * devices_suspected.
 *
 * @returns false if there is no such suspected device
 */
export async function keepSuspectedDevice(
  tx: Queryable,
  { workspaceId, id, at }: { workspaceId: string; id: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update devices
    set state = case when state = 'GONE' and gone_reason = suspected_code then 'ACTIVE' else state end,
      gone_at = case when state = 'GONE' and gone_reason = suspected_code then null else gone_at end,
      gone_reason = case when state = 'GONE' and gone_reason = suspected_code then null else gone_reason end,
      suspected_code = null, suspected_sends = null, suspected_since = null, suspected_at = null, updated_at = ${at}
    where workspace_id = ${workspaceId} and id = ${id} and suspected_code is not null
    returning 1`;
  return rows.length === 1;
}
