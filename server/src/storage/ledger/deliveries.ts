import type { Platform } from '../../domain/content/content.ts';
import { packMessageIdAsHex } from '../../domain/ids.ts';
import type { Variant } from '../../domain/experiments/variants.ts';
import type { Database, Fragment, Queryable } from '../database.ts';
import {
  joinIdBytes,
  joinSmallNumbers,
  localeCode,
  outcomeLetters,
  platformLetters,
  variationCode,
} from './ledger-encoding.ts';
import { makeDay, partitionName } from '../day-partitions.ts';
import { isInBuckets } from '../users/buckets.ts';

/** The state of a delivery. `WAITING` is retried at `retryAt`; all others are final. */
export type DeliveryOutcome = keyof typeof outcomeLetters;

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
  /** Which of the campaign's contents was sent; absent or null if there is only one, or none was sent. */
  variant?: Variant | null;
};

/** The run that a batch of deliveries belongs to. `day` (YYYY-MM-DD) names the partition. */
export type DeliveryRun = { day: string; runNumber: number };

/**
 * Creates the partition of a day if `prepare-days` has not. It blocks only other changes of the ledger's partitions.
 * Called once per run; checks first whether the partition exists.
 */
export async function ensureDeliveriesPartition(database: Database, day: string): Promise<void> {
  await makeDay(database, { table: 'deliveries', day });
}

/** Returns the table of a day. A query on it needs no condition on `day`, so an index without that column is enough. */
export function partitionOf(day: string): string {
  return partitionName({ table: 'deliveries', day });
}

export type DeliveriesToStore = DeliveryRun & { workspaceNumber: number; sentAt: Date; deliveries: Delivery[] };

/**
 * Stores the outcomes of one window in which no device has a row of this run yet, which is true of nearly every window.
 * A plain insert writes an eighth less WAL than one that checks for conflicts.
 *
 * @throws DatabaseError 23505 (`hasDelivery`) when a device has a row; the transaction is aborted then
 */
export async function insertDeliveries(tx: Queryable, window: DeliveriesToStore): Promise<void> {
  await insertRows(tx, { window, devices: 'have no row' });
}

/** True if the error says that a device of the window already had a row. */
export function hasDelivery(error: unknown): boolean {
  return (error as { code?: unknown }).code === '23505';
}

/**
 * Stores the outcomes of one window in which some devices may have rows. Those rows stay: the first stored outcome is
 * kept.
 *
 * @returns the devices whose row was new
 */
export async function insertMissingDeliveries(tx: Queryable, window: DeliveriesToStore): Promise<Set<string>> {
  const rows = await insertRows(tx, { window, devices: 'may have rows' });
  return new Set(rows.map((row) => row.deviceId!));
}

/**
 * Stores the outcomes of windows of several runs, like insertDeliveries and insertMissingDeliveries those of one.
 *
 * @returns the rows that are new, by `rowKey`
 * @throws DatabaseError 23505 (`hasDelivery`)
 */
export async function insertDeliveriesOfRuns(
  tx: Queryable,
  rows: { windows: readonly DeliveriesToStore[]; devices: Devices },
): Promise<'all' | ReadonlySet<string>> {
  if (rows.windows.every(({ deliveries }) => deliveries.length === 0)) return 'all';
  const inserted = await insertRowsOfRuns(tx, rows);
  if (rows.devices === 'have no row') return 'all';
  return new Set(inserted.map(({ runNumber, deviceId }) => rowKey({ runNumber, deviceId: deviceId! })));
}

/** Names a row of the ledger among those of several runs. */
export function rowKey({ runNumber, deviceId }: { runNumber: number; deviceId: string }): string {
  return `${runNumber} ${deviceId}`;
}

type Devices = 'have no row' | 'may have rows';

function insertRows(
  tx: Queryable,
  { window, devices }: { window: DeliveriesToStore; devices: Devices },
): Promise<{ deviceId: string | null }[]> {
  const { deliveries } = window;
  return tx<{ deviceId: string | null }[]>`
    insert into deliveries (${rowColumns(tx)}, sent_at, day, workspace_number, run_number)
    select ${rowValues(tx, deliveries)}, ${window.sentAt}, ${window.day}::date, ${window.workspaceNumber}::integer,
      ${window.runNumber}::bigint
    from unnest(${rowTexts(tx, deliveries)}) with ordinality as delivery (code, provider_message_id, retry_at, place)
    ${ifStored(tx, devices)}
    returning ${newDevice(tx, devices)} as "deviceId"`;
}

/** The same for windows of several runs, whose numbers and days are sent with each row. */
function insertRowsOfRuns(
  tx: Queryable,
  { windows, devices }: { windows: readonly DeliveriesToStore[]; devices: Devices },
): Promise<{ deviceId: string | null; runNumber: number }[]> {
  const deliveries = windows.flatMap((window) => window.deliveries);
  const runs = windows.flatMap((window) => window.deliveries.map(() => window));
  return tx<{ deviceId: string | null; runNumber: number }[]>`
    insert into deliveries (${rowColumns(tx)}, sent_at, day, workspace_number, run_number)
    select ${rowValues(tx, deliveries)}, ${windows[0]!.sentAt}, delivery.day, delivery.workspace_number,
      delivery.run_number
    from unnest(
      ${rowTexts(tx, deliveries)}, ${runs.map(({ day }) => day)}::date[],
      ${runs.map(({ workspaceNumber }) => workspaceNumber)}::integer[], ${runs.map(({ runNumber }) => runNumber)}::bigint[]
    ) with ordinality as delivery (code, provider_message_id, retry_at, day, workspace_number, run_number, place)
    ${ifStored(tx, devices)}
    returning ${newDevice(tx, devices)} as "deviceId", run_number as "runNumber"`;
}

function ifStored(tx: Queryable, devices: Devices): Fragment {
  return devices === 'have no row' ? tx`` : tx`on conflict (bucket, user_id, device_id, day, run_number) do nothing`;
}

/**
 * Returns no ids where all rows are new. A cluster uses COPY for an insert that returns nothing, and rejects COPY under policies.
 */
function newDevice(tx: Queryable, devices: Devices): Fragment {
  return devices === 'have no row' ? tx`null` : tx`encode(device_id, 'hex')`;
}

/** The columns that differ from row to row. */
function rowColumns(tx: Queryable): Fragment {
  return tx`bucket, device_id, user_id, platform, outcome, code, provider_message_id, attempts, retry_at, variation, locale`;
}

/**
 * The values of rowColumns. Fixed-length values are sent as one value that the server splits, because writing an array takes a
 * worker longer than everything else here. They are bytes, because finding the nth character of a text means counting from its
 * start: an eighth of the server's time.
 */
function rowValues(tx: Queryable, deliveries: readonly Delivery[]): Fragment {
  const deviceIds = joinIdBytes(deliveries.map((row) => row.deviceId));
  const userIds = joinIdBytes(deliveries.map((row) => row.userId));
  const platforms = Buffer.from(deliveries.map((row) => platformLetters[row.platform]).join(''), 'latin1');
  const outcomes = Buffer.from(deliveries.map((row) => outcomeLetters[row.outcome]).join(''), 'latin1');
  const buckets = joinSmallNumbers(deliveries.map((row) => row.bucket));
  const attempts = joinSmallNumbers(deliveries.map((row) => row.attempts));
  // Few campaigns have several contents; for the others no codes are sent.
  const isVaried = deliveries.some(({ variant }) => variant);
  const codes = (codeOf: typeof variationCode) =>
    tx`nullif(get_byte(${Buffer.from(deliveries.map(({ variant }) => codeOf(variant)))}::bytea, delivery.place::integer - 1), 0)::"char"`;
  const variants = isVaried ? tx`${codes(variationCode)}, ${codes(localeCode)}` : tx`null::"char", null::"char"`;
  return tx`
    get_byte(${buckets}::bytea, delivery.place::integer - 1),
    substring(${deviceIds}::bytea from 12 * delivery.place::integer - 11 for 12),
    substring(${userIds}::bytea from 12 * delivery.place::integer - 11 for 12),
    get_byte(${platforms}::bytea, delivery.place::integer - 1)::"char",
    get_byte(${outcomes}::bytea, delivery.place::integer - 1)::"char", delivery.code,
    decode(delivery.provider_message_id, 'hex'), get_byte(${attempts}::bytea, delivery.place::integer - 1),
    delivery.retry_at, ${variants}`;
}

/** The values of rows whose length is not fixed. */
function rowTexts(tx: Queryable, deliveries: readonly Delivery[]): Fragment {
  return tx`${deliveries.map((row) => row.code)}::text[],
    ${deliveries.map(({ providerMessageId: id }) => (id === null ? null : packMessageIdAsHex(id)))}::text[],
    ${deliveries.map((row) => row.retryAt?.toISOString() ?? null)}::timestamptz[]`;
}

export type CountChange = {
  workspaceId: string;
  runId: string;
  bucket: number;
  platform: Platform;
  outcome: DeliveryOutcome;
  /** May be negative. */
  devices: number;
  /** Absent if there is only one variation. */
  variation?: number;
  locale?: string;
};

/** Adds to the counters of buckets, in the transaction that stores the outcomes. Sums the changes of one counter. */
export async function addRunCounts(tx: Queryable, changes: CountChange[]): Promise<void> {
  if (changes.length === 0) return;
  await tx`
    insert into run_counts (workspace_id, run_id, bucket, platform, outcome, variation, locale, devices)
    select change.workspace_id, change.run_id, change.bucket, change.platform, change.outcome, change.variation,
      change.locale, sum(change.devices)
    from unnest(
      ${changes.map((change) => change.workspaceId)}::text[], ${changes.map((change) => change.runId)}::text[],
      ${changes.map((change) => change.bucket)}::smallint[],
      ${changes.map((change) => change.platform)}::text[], ${changes.map((change) => change.outcome)}::text[],
      ${changes.map((change) => change.devices)}::bigint[], ${changes.map(({ variation = 0 }) => variation)}::smallint[],
      ${changes.map(({ locale = '' }) => locale)}::text[]
    ) as change (workspace_id, run_id, bucket, platform, outcome, devices, variation, locale)
    group by change.workspace_id, change.run_id, change.bucket, change.platform, change.outcome, change.variation,
      change.locale
    -- Every statement locks in this order, so that two workers cannot deadlock.
    order by change.run_id collate "C", change.bucket, change.platform, change.outcome, change.variation, change.locale
    on conflict (run_id, bucket, platform, outcome, variation, locale) do update set devices = run_counts.devices + excluded.devices`;
}

/** True if any message of a run was accepted. Index: run_counts primary key (run_id, …). */
export async function hasAccepted(tx: Queryable, runId: string): Promise<boolean> {
  const [row] = await tx<{ accepted: number }[]>`
    select coalesce(sum(devices), 0)::bigint as accepted from run_counts
    where run_id = ${runId} and outcome = 'ACCEPTED'`;
  return row!.accepted > 0;
}

/**
 * Drops devices that the provider reported as gone, unless the app registered again afterwards. Index: devices primary
 * key.
 *
 * @returns the number of devices dropped
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
  // Devices of one bucket are in one shard of a cluster, the one that stores the outcomes.
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
