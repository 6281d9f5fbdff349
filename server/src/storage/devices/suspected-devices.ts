import type { Platform } from '../../domain/content/content.ts';
import type { ProviderName } from '../../domain/delivery/providers.ts';
import { isDroppedSuspect, nextSuspicion, suspicionHours, suspicionSends } from '../../domain/users/devices.ts';
import type { DeviceState, Suspicion } from '../../domain/users/devices.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';
import { idBytesOf } from '../ledger/ledger-encoding.ts';
import { allBuckets } from '../segments/segment-members.ts';
import { isInBuckets } from '../users/buckets.ts';

export type SuspectedDevice = { bucket: number; userId: string; id: string; code: string };

/**
 * Records a send in which the provider's response for these devices usually means a dead address. Drops the devices
 * that got such responses in enough sends over enough time. Runs in the transaction that stores the outcomes, so each
 * send counts once. Locks rows in primary key order. Index: devices primary key.
 */
export async function noteSuspectedDevices(
  tx: Queryable,
  { workspaceId, devices, at }: { workspaceId: string; devices: readonly SuspectedDevice[]; at: Date },
): Promise<void> {
  if (devices.length === 0) return;
  const sorted = devices.toSorted((one, other) => one.bucket - other.bucket || (one.id < other.id ? -1 : 1));
  const known = await lockSuspicions(tx, { workspaceId, devices: sorted });
  const struck = sorted.flatMap((device) => {
    const lastAt = known.get(device.id)?.lastAt;
    return lastAt ? [{ ...device, lastAt }] : [];
  });
  // Their suspicion starts again.
  const recovered = await findRecoveredDevices(tx, struck);
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
  // Bucket by bucket, because a cluster locks rows of one bucket only.
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

export type ListedSuspect = UserKey & {
  id: string;
  deviceId: string;
  platform: Platform;
  /** Null: the platform's default provider. */
  provider: ProviderName | null;
  state: DeviceState;
} & Suspicion;

/** Where a page of suspected devices ended. */
export type SuspectPlace = { lastAt: Date; id: string };
type Page = { workspaceId: string; after: SuspectPlace | undefined; limit: number };

/** True if a suspicion has removed its device from the audience; `isDroppedSuspect` in SQL. */
const isEnough = (tx: Queryable): Fragment => tx`
  (suspected_sends >= ${suspicionSends} and suspected_at - suspected_since >= make_interval(hours => ${suspicionHours}))`;

/**
 * Lists the suspected devices of a workspace, latest first, without those that a provider has since reported as gone.
 * Reads all of them, in every bucket. Index: devices_suspected.
 */
export async function listSuspectedDevices(
  tx: Queryable,
  { workspaceId, after, limit }: Page,
): Promise<ListedSuspect[]> {
  const isAfter = after ? tx`(suspected_at, id) < (${after.lastAt}, ${after.id} collate "C")` : tx`true`;
  return tx<ListedSuspect[]>`
    select bucket, user_id as "userId", id, device_id as "deviceId", platform, push_provider as provider, state,
      suspected_code as code, suspected_sends as sends, suspected_since as since, suspected_at as "lastAt"
    from devices
    where workspace_id = ${workspaceId} and suspected_code is not null and (state <> 'GONE' or ${isEnough(tx)})
      and ${isAfter}
    order by suspected_at desc, id desc limit ${limit}`;
}

/**
 * Finds the user of a suspected device by the device's id alone, in every bucket. Index: devices_suspected, or the
 * primary key.
 */
export async function findUserOfSuspect(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<UserKey | undefined> {
  const [row] = await tx<UserKey[]>`
    select bucket, user_id as "userId" from devices
    where workspace_id = ${workspaceId} and bucket = any(${allBuckets}) and id = ${id} and suspected_code is not null`;
  return row;
}

type Suspect = { workspaceId: string; bucket: number; id: string; at: Date };

/**
 * Keeps a suspected device: clears its suspicion, and returns it to the audience if the suspicion had removed it. A
 * device that was blocked after its removal returns when it is unblocked. Index: devices_suspected, or the primary key.
 *
 * @returns false if there is no such suspected device
 */
export async function keepSuspectedDevice(tx: Queryable, { workspaceId, bucket, id, at }: Suspect): Promise<boolean> {
  const isBack = tx`(coalesce(blocked_state, state) = 'GONE' and ${isEnough(tx)})`;
  const rows = await tx`
    update devices
    set state = case when ${isBack} and state = 'GONE' then 'ACTIVE' else state end,
      blocked_state = case when ${isBack} and state = 'BLOCKED' then 'ACTIVE' else blocked_state end,
      gone_at = case when ${isBack} then null else gone_at end,
      gone_reason = case when ${isBack} then null else gone_reason end,
      suspected_code = null, suspected_sends = null, suspected_since = null, suspected_at = null, updated_at = ${at}
    where workspace_id = ${workspaceId} and bucket = ${bucket}::smallint and id = ${id} and suspected_code is not null
    returning 1`;
  return rows.length === 1;
}

/** The suspicion columns of a device's row. All four are null for a device that is not suspected. */
export type SuspicionColumns = {
  suspectedCode: string | null;
  suspectedSends: number | null;
  suspectedSince: Date | null;
  suspectedAt: Date | null;
};

export const suspicionColumns = (tx: Queryable): Fragment => tx`
  devices.suspected_code as "suspectedCode", devices.suspected_sends as "suspectedSends",
  devices.suspected_since as "suspectedSince", devices.suspected_at as "suspectedAt"`;

/** Returns the row with its suspicion as one member. */
export function withSuspicion<Row extends SuspicionColumns>(
  row: Row,
): Omit<Row, keyof SuspicionColumns> & { suspicion: Suspicion | null } {
  const { suspectedCode: code, suspectedSends: sends, suspectedSince: since, suspectedAt: lastAt, ...others } = row;
  const suspicion = code === null ? null : { code, sends: sends!, since: since!, lastAt: lastAt! };
  return { ...others, suspicion };
}

/** A device as the ledger is searched for it: by its user, in the user's bucket. */
export type LedgerDevice = { bucket: number; userId: string; id: string };

/**
 * Returns the ids of the devices that have an accepted message in the ledger. For a few devices, because it searches
 * every day that is kept. Index: deliveries primary key (bucket, user_id, device_id, …).
 */
export async function findAcceptedDevices(tx: Queryable, devices: readonly LedgerDevice[]): Promise<Set<string>> {
  if (devices.length === 0) return new Set();
  const isThere = isInBuckets(tx, { column: tx`deliveries.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<{ deviceId: string }[]>`
    select distinct encode(deliveries.device_id, 'hex') as "deviceId"
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${idBytesOf(devices.map(({ userId }) => userId))}::bytea[],
      ${idBytesOf(devices.map(({ id }) => id))}::bytea[]
    ) as given (bucket, user_id, device_id)
    join deliveries on deliveries.bucket = given.bucket and deliveries.user_id = given.user_id
      and deliveries.device_id = given.device_id
    where ${isThere} and deliveries.outcome = 'A'`;
  return new Set(rows.map(({ deviceId }) => deviceId));
}

/** Returns the ids of the devices that registered themselves through the app API. Index: devices primary key. */
export async function findAppDevices(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: readonly Pick<LedgerDevice, 'bucket' | 'id'>[] },
): Promise<Set<string>> {
  if (devices.length === 0) return new Set();
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<{ id: string }[]>`
    select devices.id
    from unnest(${devices.map(({ bucket }) => bucket)}::smallint[], ${devices.map(({ id }) => id)}::text[])
      as given (bucket, id)
    join devices on devices.workspace_id = ${workspaceId} and ${isThere} and devices.bucket = given.bucket
      and devices.id = given.id collate "C"
    where devices.is_from_app`;
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the ids of the suspected devices that have an accepted message in the ledger after their last strike and so
 * are no longer suspected. For a page of devices, because it searches every day that is kept. Index: deliveries primary
 * key (bucket, user_id, device_id, …).
 */
export async function findRecoveredDevices(
  tx: Queryable,
  devices: readonly (LedgerDevice & { lastAt: Date })[],
): Promise<Set<string>> {
  if (devices.length === 0) return new Set();
  const isThere = isInBuckets(tx, { column: tx`deliveries.bucket`, buckets: devices.map(({ bucket }) => bucket) });
  const rows = await tx<{ deviceId: string }[]>`
    select distinct encode(deliveries.device_id, 'hex') as "deviceId"
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${idBytesOf(devices.map(({ userId }) => userId))}::bytea[],
      ${idBytesOf(devices.map(({ id }) => id))}::bytea[],
      ${devices.map(({ lastAt }) => lastAt.toISOString())}::timestamptz[]
    ) as given (bucket, user_id, device_id, last_at)
    join deliveries on deliveries.bucket = given.bucket and deliveries.user_id = given.user_id
      and deliveries.device_id = given.device_id
    where ${isThere} and deliveries.outcome = 'A' and deliveries.sent_at > given.last_at`;
  return new Set(rows.map(({ deviceId }) => deviceId));
}
