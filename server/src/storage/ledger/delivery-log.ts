import type { CampaignContent, Platform } from '../../domain/campaigns/content.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Fragment, Queryable } from '../database.ts';
import type { DeliveryOutcome } from './deliveries.ts';

/** Where a page of a day ends: the next one begins after it. */
export type LogPlace = { sentAt: Date; runId: string; deviceId: string };

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
  /** Id of the row of the device. */
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
 * Days that the ledger has, newest first, from one on: names of its partitions. They are compared as texts, because a plan
 * may look at the names of other relations first, which are no dates.
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

// Looks into an index that are put into one statement.
const looksAtOnce = 64;

/**
 * Deliveries of a day, newest first. Each combination of what they may be is one short look into an index, in its order,
 * so that what the filters leave out is not read.
 */
export async function listLoggedDeliveries(tx: Queryable, filters: LogFilters): Promise<LoggedDelivery[]> {
  const { day, user, campaignId, code } = filters;
  const runIds = campaignId === undefined ? undefined : await listRunsOfDay(tx, { campaignId, day });
  const looks: Look[] = [];
  const eachRun = runIds?.map((runId) => ({ runId })) ?? [{}];
  if (user) for (const isAccepted of [true, false]) looks.push({ user, isAccepted, runIds });
  else if (code !== undefined) looks.push(...eachRun);
  else
    for (const outcome of filters.outcomes)
      for (const platform of filters.platforms) looks.push(...eachRun.map((run) => ({ ...run, outcome, platform })));
  const found: LoggedDelivery[] = [];
  for (let first = 0; first < looks.length; first += looksAtOnce)
    found.push(...(await takeLooks(tx, { filters, looks: looks.slice(first, first + looksAtOnce) })));
  return looks.length <= looksAtOnce ? found : found.toSorted(newestFirst).slice(0, filters.limit);
}

function newestFirst(one: LoggedDelivery, other: LoggedDelivery): number {
  if (one.at.getTime() !== other.at.getTime()) return other.at.getTime() - one.at.getTime();
  if (one.runId !== other.runId) return one.runId < other.runId ? 1 : -1;
  return one.deviceRowId < other.deviceRowId ? 1 : -1;
}

/** Index: runs_campaign. */
async function listRunsOfDay(
  tx: Queryable,
  { campaignId, day }: { campaignId: string; day: string },
): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select id from runs where campaign_id = ${campaignId} and day = ${day}::date`;
  return rows.map(({ id }) => id);
}

/** What one look asks for, in the order of one index. */
type Look = {
  runId?: string;
  outcome?: DeliveryOutcome;
  platform?: Platform;
  user?: UserKey;
  isAccepted?: boolean;
  /** Of a user's deliveries those of these runs. */
  runIds?: string[] | undefined;
};

/**
 * The newest of all looks. Indexes: deliveries_log; of a campaign deliveries_log_run; of a code deliveries_log_code,
 * deliveries_log_run_code; of a user deliveries_user, deliveries_user_other.
 */
async function takeLooks(
  tx: Queryable,
  { filters, looks }: { filters: LogFilters; looks: Look[] },
): Promise<LoggedDelivery[]> {
  const { limit } = filters;
  const each = looks.map((look, number) =>
    number === 0 ? oneLook(tx, { filters, look }) : tx`union all ${oneLook(tx, { filters, look })}`,
  );
  if (each.length === 0) return [];
  return tx<LoggedDelivery[]>`
    select ${filters.day} as day, bucket, run_id as "runId", device_id as "deviceRowId", user_id as "userId", platform, outcome,
      code, provider_message_id as "providerMessageId", attempts, sent_at as at, retry_at as "retryAt"
    from (${each}) as found
    order by sent_at desc, run_id desc, device_id desc
    limit ${limit}`;
}

function oneLook(tx: Queryable, { filters, look }: { filters: LogFilters; look: Look }): Fragment {
  const { workspaceId, day, after, code, limit } = filters;
  const { runId, runIds, user, outcome, platform } = look;
  const isOfUser = user
    ? tx`and bucket = ${user.bucket} and user_id = ${user.userId}
        and ${look.isAccepted ? tx`outcome = 'ACCEPTED'` : tx`outcome <> 'ACCEPTED'`}
        ${runIds === undefined ? tx`` : tx`and run_id = any(${runIds})`}`
    : tx``;
  const isOfCode = code === undefined ? tx`` : tx`and code = ${code} ${user ? tx`` : tx`and outcome <> 'ACCEPTED'`}`;
  const isOfKind =
    outcome === undefined
      ? tx`and platform = any(${[...filters.platforms]}) and outcome = any(${[...filters.outcomes]})`
      : tx`and outcome = ${outcome} and platform = ${platform!}`;
  return tx`
    (select bucket, run_id, device_id, user_id, platform, outcome, code, provider_message_id, attempts, sent_at, retry_at
    from deliveries
    where day = ${day}::date and workspace_id = ${workspaceId} ${isOfUser} ${isOfCode} ${isOfKind}
      ${runId === undefined ? tx`` : tx`and run_id = ${runId}`}
      ${after ? tx`and (sent_at, run_id, device_id) < (${after.sentAt}, ${after.runId}, ${after.deviceId})` : tx``}
    order by sent_at desc, run_id desc, device_id desc
    limit ${limit})`;
}

export type LogNames = {
  campaignId: string;
  campaignName: string;
  /** Null when the person or the device is there no more. */
  customerId: string | null;
  deviceId: string | null;
};

/** Whose rows of the log are, in their order. */
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

/** Index: users primary key, one look a user. */
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

/** The app's names. Index: devices primary key, one look a device. */
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

export type LogKey = { workspaceId: string; day: string; bucket: number; runId: string; deviceRowId: string };

export type OpenedDelivery = LoggedDelivery &
  LogNames & {
    pushId: string | null;
    runStatus: string;
    sendUntil: Date;
    /** The run's own when it differs from the campaign's. */
    content: CampaignContent;
    settings: Record<string, unknown>;
  };

/** One delivery with what was sent. Indexes: primary keys of the ledger, runs, campaigns, users and devices. */
export async function findLoggedDelivery(tx: Queryable, key: LogKey): Promise<OpenedDelivery | undefined> {
  const [row] = await tx<OpenedDelivery[]>`
    with opened as materialized (
      select deliveries.day, deliveries.bucket, deliveries.run_id, deliveries.device_id, deliveries.user_id,
        deliveries.platform, deliveries.outcome, deliveries.code, deliveries.provider_message_id, deliveries.attempts,
        deliveries.sent_at, deliveries.retry_at, users.customer_id, devices.device_id as device_name, devices.push_id
      from deliveries
      left join users on users.workspace_id = ${key.workspaceId} and users.bucket = ${key.bucket}
        and users.id = deliveries.user_id
      left join devices on devices.workspace_id = ${key.workspaceId} and devices.bucket = ${key.bucket}
        and devices.id = deliveries.device_id
      where deliveries.day = ${key.day}::date and deliveries.workspace_id = ${key.workspaceId}
        and deliveries.bucket = ${key.bucket} and deliveries.run_id = ${key.runId}
        and deliveries.device_id = ${key.deviceRowId}
    )
    select opened.day::text as day, opened.bucket, opened.run_id as "runId", opened.device_id as "deviceRowId",
      opened.user_id as "userId", opened.platform, opened.outcome, opened.code,
      opened.provider_message_id as "providerMessageId", opened.attempts, opened.sent_at as at,
      opened.retry_at as "retryAt", campaigns.id as "campaignId", campaigns.name as "campaignName",
      opened.customer_id as "customerId", opened.device_name as "deviceId", opened.push_id as "pushId",
      runs.status as "runStatus", runs.send_until as "sendUntil", coalesce(runs.content, campaigns.content) as content,
      campaigns.settings
    from opened
    join runs on runs.id = opened.run_id
    join campaigns on campaigns.id = runs.campaign_id`;
  return row;
}
