import type { CampaignContent, Platform } from '../../domain/content/content.ts';
import { contentOfVariant } from '../../domain/experiments/variants.ts';
import type { Variants } from '../../domain/experiments/variants.ts';
import type { UserKey } from '../../domain/users/users.ts';
import type { Fragment, Queryable } from '../database.ts';
import { findWorkspaceNumber } from '../workspaces.ts';
import type { DeliveryOutcome } from './deliveries.ts';
import {
  idBytes,
  unpackedOrNull,
  isOutcome,
  ledgerLocale,
  ledgerVariation,
  outcomeLetters,
  outcomeWord,
  platformLetters,
  platformWord,
  variantOf,
} from './ledger-encoding.ts';
import type { LedgerVariant } from './ledger-encoding.ts';

/** The end of a page of a day; the next page begins after it. */
export type LogPlace = { sentAt: Date; runNumber: number; deviceId: string };

export type LogFilters = {
  workspaceId: string;
  /** YYYY-MM-DD, a partition of the ledger. */
  day: string;
  campaignId: string | undefined;
  user: UserKey | undefined;
  platforms: readonly Platform[];
  outcomes: readonly DeliveryOutcome[];
  code: string | undefined;
  after: LogPlace | undefined;
  limit: number;
};

export type LoggedDelivery = {
  day: string;
  bucket: number;
  runId: string;
  /** The run's number in the ledger. */
  runNumber: number;
  /** Id of the device's row. */
  deviceRowId: string;
  userId: string;
  platform: Platform;
  outcome: DeliveryOutcome;
  code: string | null;
  providerMessageId: string | null;
  attempts: number;
  at: Date;
  retryAt: Date | null;
};

/**
 * Lists the days in the ledger up to `until`, newest first, from the names of its partitions. Compares the names as
 * texts, because a plan may evaluate the names of other relations first, which are not dates.
 */
export async function listLedgerDays(tx: Queryable, { until, limit }: { until: string; limit: number }) {
  const rows = await tx<{ digits: string }[]>`
    select right(relname, 8) as digits
    from pg_inherits join pg_class on pg_class.oid = pg_inherits.inhrelid
    where inhparent = 'deliveries'::regclass and right(relname, 8) <= ${until.replaceAll('-', '')}
    order by digits desc
    limit ${limit}`;
  return rows.map(({ digits }) => `${digits.slice(0, 4)}-${digits.slice(4, 6)}-${digits.slice(6)}`);
}

// Index lookups combined into one statement.
const looksAtOnce = 64;

/**
 * Lists the deliveries of a day, newest first. Each combination of filter values is one short lookup in an index, in
 * index order, so that rows excluded by the filters are not read.
 */
export async function listLoggedDeliveries(tx: Queryable, filters: LogFilters): Promise<LoggedDelivery[]> {
  const { day, user, campaignId, code } = filters;
  const workspaceNumber = await findWorkspaceNumber(tx, filters.workspaceId);
  if (workspaceNumber === undefined) return [];
  const runs = campaignId === undefined ? undefined : await listRunsOfDay(tx, { campaignId, day });
  const looks: Look[] = [];
  if (user) looks.push({ user, runNumbers: runs });
  else if (code !== undefined && !runs) looks.push({});
  else
    for (const outcome of filters.outcomes.filter((one) => code === undefined || one !== 'ACCEPTED'))
      for (const platform of filters.platforms)
        if (runs) looks.push(...runs.map((runNumber) => ({ runNumber, outcome, platform })));
        else looks.push({ outcome, platform });
  const found: FoundDelivery[] = [];
  for (let first = 0; first < looks.length; first += looksAtOnce) {
    const some = looks.slice(first, first + looksAtOnce);
    found.push(...(await takeLooks(tx, { filters, workspaceNumber, looks: some })));
  }
  const newest = looks.length <= looksAtOnce ? found : found.toSorted(newestFirst).slice(0, filters.limit);
  const runIds = await findRunIds(
    tx,
    newest.map(({ runNumber }) => runNumber),
  );
  return newest.map((row) => ({ ...row, day, runId: runIds.get(row.runNumber)! }));
}

type FoundDelivery = Omit<LoggedDelivery, 'runId' | 'day'>;

function newestFirst(one: FoundDelivery, other: FoundDelivery): number {
  if (one.at.getTime() !== other.at.getTime()) return other.at.getTime() - one.at.getTime();
  if (one.runNumber !== other.runNumber) return other.runNumber - one.runNumber;
  return one.deviceRowId < other.deviceRowId ? 1 : -1;
}

/** Index: runs_campaign. */
async function listRunsOfDay(
  tx: Queryable,
  { campaignId, day }: { campaignId: string; day: string },
): Promise<number[]> {
  const rows = await tx<{ number: number }[]>`
    select number from runs where campaign_id = ${campaignId} and day = ${day}::date`;
  return rows.map(({ number }) => number);
}

/** The filter values of one lookup, in the order of one index. */
type Look = {
  runNumber?: number;
  outcome?: DeliveryOutcome;
  platform?: Platform;
  user?: UserKey;
  /** With `user`: only the user's deliveries of these runs. */
  runNumbers?: number[] | undefined;
};

/**
 * Returns the newest deliveries of all lookups. Indexes: deliveries_log for accepted deliveries, deliveries_log_other
 * for all others; for a code deliveries_log_code, for a code within a campaign deliveries_failed; for a user the
 * primary key.
 */
async function takeLooks(
  tx: Queryable,
  { filters, workspaceNumber, looks }: { filters: LogFilters; workspaceNumber: number; looks: Look[] },
): Promise<FoundDelivery[]> {
  const { limit } = filters;
  const each = looks.map((look, number) => {
    const rows = oneLook(tx, { filters, workspaceNumber, look });
    return number === 0 ? rows : tx`union all ${rows}`;
  });
  if (each.length === 0) return [];
  const rows = await tx<FoundRow[]>`
    select bucket, run_number as "runNumber", encode(device_id, 'hex') as "deviceRowId",
      encode(user_id, 'hex') as "userId", ${platformWord(tx, tx`platform`)} as platform,
      ${outcomeWord(tx, tx`outcome`)} as outcome, code, provider_message_id as "providerMessageId", attempts,
      sent_at as at, retry_at as "retryAt"
    from (${each}) as found
    order by sent_at desc, run_number desc, device_id desc
    limit ${limit}`;
  return rows.map((row) => ({ ...row, providerMessageId: unpackedOrNull(row.providerMessageId) }));
}

type FoundRow = Omit<FoundDelivery, 'providerMessageId'> & { providerMessageId: Buffer | null };

function oneLook(
  tx: Queryable,
  { filters, workspaceNumber, look }: { filters: LogFilters; workspaceNumber: number; look: Look },
): Fragment {
  const { day, after, code, limit } = filters;
  const { runNumber, runNumbers, user, outcome, platform } = look;
  const isOfUser = user
    ? tx`and bucket = ${user.bucket} and user_id = ${idBytes(user.userId)}
        ${runNumbers === undefined ? tx`` : tx`and run_number = any(${runNumbers}::bigint[])`}`
    : tx``;
  const isOfCode = code === undefined ? tx`` : tx`and code = ${code} ${user ? tx`` : tx`and outcome <> 'A'`}`;
  const isOfKind =
    outcome === undefined
      ? tx`and platform = any(${filters.platforms.map((one) => platformLetters[one])}::"char"[])
        and outcome = any(${filters.outcomes.map((one) => outcomeLetters[one])}::"char"[])`
      : tx`and ${isOutcome(tx, outcome)} and platform = ${platformLetters[platform!]}::"char"`;
  const isAfter = after
    ? tx`and (sent_at, run_number, device_id) < (${after.sentAt}, ${after.runNumber}::bigint, ${idBytes(after.deviceId)})`
    : tx``;
  return tx`
    (select bucket, run_number, device_id, user_id, platform, outcome, code, provider_message_id, attempts, sent_at,
      retry_at
    from deliveries
    where day = ${day}::date and workspace_number = ${workspaceNumber} ${isOfUser} ${isOfCode} ${isOfKind}
      ${runNumber === undefined ? tx`` : tx`and run_number = ${runNumber}::bigint`} ${isAfter}
    order by sent_at desc, run_number desc, device_id desc
    limit ${limit})`;
}

export type LogNames = {
  campaignId: string;
  campaignName: string;
  /** Null when the user or the device no longer exists. */
  customerId: string | null;
  deviceId: string | null;
};

/** Returns the names that belong to the rows of the log, in the order of the rows. */
export async function nameLoggedDeliveries(
  tx: Queryable,
  { workspaceId, rows }: { workspaceId: string; rows: LoggedDelivery[] },
): Promise<LogNames[]> {
  if (rows.length === 0) return [];
  const campaigns = await findCampaignsOfRuns(tx, new Set(rows.map(({ runId }) => runId)));
  const customerIds = await findCustomerIds(tx, { workspaceId, users: rows });
  const deviceIds = await findDeviceNames(tx, { workspaceId, devices: rows });
  return rows.map(({ runId, userId, deviceRowId }) => ({
    ...campaigns.get(runId)!,
    customerId: customerIds.get(userId) ?? null,
    deviceId: deviceIds.get(deviceRowId) ?? null,
  }));
}

/** Indexes: primary keys of runs and campaigns. */
async function findCampaignsOfRuns(
  tx: Queryable,
  runIds: Iterable<string>,
): Promise<Map<string, Pick<LogNames, 'campaignId' | 'campaignName'>>> {
  const rows = await tx<{ runId: string; campaignId: string; campaignName: string }[]>`
    select runs.id as "runId", campaigns.id as "campaignId", campaigns.name as "campaignName"
    from runs join campaigns on campaigns.id = runs.campaign_id
    where runs.id = any(${[...runIds]})`;
  return new Map(rows.map(({ runId, ...campaign }) => [runId, campaign]));
}

/** Index: users primary key, one lookup per user. */
async function findCustomerIds(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: UserKey[] },
): Promise<Map<string, string>> {
  const rows = await tx<{ userId: string; customerId: string }[]>`
    select users.id as "userId", users.customer_id as "customerId"
    from unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
      as given (bucket, user_id)
    join users on users.workspace_id = ${workspaceId} and users.bucket = given.bucket
      and users.id = given.user_id collate "C"`;
  return new Map(rows.map(({ userId, customerId }) => [userId, customerId]));
}

/** Returns the app's names for devices. Index: devices primary key, one lookup per device. */
async function findDeviceNames(
  tx: Queryable,
  { workspaceId, devices }: { workspaceId: string; devices: { bucket: number; deviceRowId: string }[] },
): Promise<Map<string, string>> {
  const rows = await tx<{ id: string; deviceId: string }[]>`
    select devices.id, devices.device_id as "deviceId"
    from unnest(
      ${devices.map(({ bucket }) => bucket)}::smallint[], ${devices.map(({ deviceRowId }) => deviceRowId)}::text[]
    ) as given (bucket, id)
    join devices on devices.workspace_id = ${workspaceId} and devices.bucket = given.bucket
      and devices.id = given.id collate "C"`;
  return new Map(rows.map(({ id, deviceId }) => [id, deviceId]));
}

export type LogKey = {
  workspaceId: string;
  day: string;
  bucket: number;
  userId: string;
  runId: string;
  deviceRowId: string;
};

export type OpenedDelivery = Omit<LoggedDelivery, 'runNumber'> &
  LogNames & {
    pushId: string | null;
    runStatus: string;
    sendUntil: Date;
    /** The run's content if it differs from the campaign's. */
    content: CampaignContent;
    settings: Record<string, unknown>;
  };

/**
 * Finds one delivery with the content that was sent. Indexes: primary keys of the ledger, runs, campaigns, users and
 * devices.
 */
export async function findLoggedDelivery(tx: Queryable, key: LogKey): Promise<OpenedDelivery | undefined> {
  const [run] = await tx<SentRun[]>`
    select runs.number as "runNumber", workspaces.number as "workspaceNumber", campaigns.id as "campaignId",
      campaigns.name as "campaignName", runs.status as "runStatus", runs.send_until as "sendUntil",
      coalesce(runs.content, campaigns.content) as content, campaigns.settings,
      campaigns.variants
    from runs
    join campaigns on campaigns.id = runs.campaign_id
    join workspaces on workspaces.id = runs.workspace_id
    where runs.id = ${key.runId} and runs.workspace_id = ${key.workspaceId}`;
  if (!run) return undefined;
  const { workspaceNumber, runNumber, variants, ...sent } = run;
  const row = await findDeliveryOfRun(tx, { ...key, runNumber, workspaceNumber });
  const { workspaceId: _, ...named } = key;
  if (!row) return undefined;
  const { variation, locale, ...opened } = row;
  const variant = variantOf({ variation, locale });
  const content = variants && variant ? contentOfVariant(variants, variant) : sent.content;
  return { ...opened, ...sent, ...named, content };
}

type SentRun = Omit<OpenedDelivery, keyof OpenedRow | 'day' | 'bucket' | 'userId' | 'runId' | 'deviceRowId'> & {
  runNumber: number;
  workspaceNumber: number;
  variants: Variants | null;
};
type OpenedRow = Pick<
  OpenedDelivery,
  | 'platform'
  | 'outcome'
  | 'code'
  | 'providerMessageId'
  | 'attempts'
  | 'at'
  | 'retryAt'
  | 'customerId'
  | 'deviceId'
  | 'pushId'
>;

/** Indexes: primary keys of the ledger, users and devices. */
async function findDeliveryOfRun(
  tx: Queryable,
  key: LogKey & { runNumber: number; workspaceNumber: number },
): Promise<(OpenedRow & LedgerVariant) | undefined> {
  const [row] = await tx<
    (Omit<OpenedRow, 'providerMessageId'> & LedgerVariant & { providerMessageId: Buffer | null })[]
  >`
    select ${platformWord(tx, tx`deliveries.platform`)} as platform,
      ${outcomeWord(tx, tx`deliveries.outcome`)} as outcome, deliveries.code,
      deliveries.provider_message_id as "providerMessageId", deliveries.attempts, deliveries.sent_at as at,
      deliveries.retry_at as "retryAt", users.customer_id as "customerId", devices.device_id as "deviceId",
      devices.push_id as "pushId", ${ledgerVariation(tx)} as variation, ${ledgerLocale(tx)} as locale
    from deliveries
    left join users on users.workspace_id = ${key.workspaceId} and users.bucket = ${key.bucket}
      and users.id = ${key.userId}
    left join devices on devices.workspace_id = ${key.workspaceId} and devices.bucket = ${key.bucket}
      and devices.id = ${key.deviceRowId}
    where deliveries.day = ${key.day}::date and deliveries.bucket = ${key.bucket}
      and deliveries.user_id = ${idBytes(key.userId)} and deliveries.device_id = ${idBytes(key.deviceRowId)}
      and deliveries.run_number = ${key.runNumber}::bigint and deliveries.workspace_number = ${key.workspaceNumber}`;
  return row && { ...row, providerMessageId: unpackedOrNull(row.providerMessageId) };
}

/** Returns the ids of runs by their numbers in the ledger. Index: runs_number_key. */
async function findRunIds(tx: Queryable, numbers: readonly number[]): Promise<Map<number, string>> {
  if (numbers.length === 0) return new Map();
  const rows = await tx<{ id: string; number: number }[]>`
    select id, number from runs where number = any(${[...new Set(numbers)]}::bigint[])`;
  return new Map(rows.map(({ id, number }) => [number, id]));
}
