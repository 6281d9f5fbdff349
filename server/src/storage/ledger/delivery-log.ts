import type { CampaignContent, Platform } from '../../domain/campaigns/content.ts';
import type { Queryable } from '../database.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
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

/**
 * Deliveries of a day, newest first. Each combination of what they may be is one short look into an index, in its order,
 * so that what the filters leave out is not read. Indexes: deliveries_log; of a campaign runs_campaign and
 * deliveries_log_run; of a code deliveries_log_code, deliveries_log_run_code; of a user deliveries_user,
 * deliveries_user_other.
 */
export async function listLoggedDeliveries(tx: Queryable, filters: LogFilters): Promise<LoggedDelivery[]> {
  const { workspaceId, day, after, limit, user, campaignId, code } = filters;
  const outcomes = [...filters.outcomes];
  const platforms = [...filters.platforms];
  const runs = tx`
    (select id from runs where campaign_id = ${campaignId ?? null} and day = ${day}::date) as run`;
  const isFurther = after
    ? tx`and (sent_at, run_id, device_id) < (${after.sentAt}, ${after.runId}, ${after.deviceId})`
    : tx``;
  const newest = tx`${isFurther} order by sent_at desc, run_id desc, device_id desc limit ${limit}`;
  const rest = tx`
    ${campaignId === undefined ? tx`` : tx`and run_id in (select id from ${runs})`}
    ${code === undefined ? tx`` : tx`and code = ${code}`}
    and platform = any(${platforms}) and outcome = any(${outcomes})`;
  const columns = tx`bucket, run_id, device_id, user_id, platform, outcome, code, provider_message_id, attempts, sent_at,
    retry_at`;
  const of = tx`from deliveries where day = ${day}::date and workspace_id = ${workspaceId}`;
  const ofUser = user && tx`and bucket = ${user.bucket} and user_id = ${user.userId}`;
  const each = tx`unnest(${outcomes}::text[]) as one (outcome), unnest(${platforms}::text[]) as other (platform)`;
  const found = ofUser
    ? tx`
        (select ${columns} ${of} ${ofUser} and outcome = 'ACCEPTED' ${rest} ${newest})
        union all
        (select ${columns} ${of} ${ofUser} and outcome <> 'ACCEPTED' ${rest} ${newest})`
    : code !== undefined && campaignId !== undefined
      ? tx`
        select found.* from ${runs}, lateral (
          select ${columns} ${of} and outcome <> 'ACCEPTED' and run_id = run.id and code = ${code}
            and platform = any(${platforms}) and outcome = any(${outcomes}) ${newest}) as found`
      : code !== undefined
        ? tx`select ${columns} ${of} and outcome <> 'ACCEPTED' ${rest} ${newest}`
        : campaignId !== undefined
          ? tx`
            select found.* from ${runs}, ${each}, lateral (
              select ${columns} ${of} and run_id = run.id and outcome = one.outcome and platform = other.platform
              ${newest}) as found`
          : tx`
            select found.* from ${each}, lateral (
              select ${columns} ${of} and outcome = one.outcome and platform = other.platform ${newest}) as found`;
  return tx<LoggedDelivery[]>`
    select ${day} as day, bucket, run_id as "runId", device_id as "deviceRowId", user_id as "userId", platform, outcome,
      code, provider_message_id as "providerMessageId", attempts, sent_at as at, retry_at as "retryAt"
    from (${found}) as found
    order by sent_at desc, run_id desc, device_id desc
    limit ${limit}`;
}

export type LogNames = {
  campaignId: string;
  campaignName: string;
  /** Null when the person or the device is there no more. */
  customerId: string | null;
  deviceId: string | null;
};

/** Whose rows of the log are, in their order. Indexes: primary keys. */
export async function nameLoggedDeliveries(
  tx: Queryable,
  { workspaceId, rows }: { workspaceId: string; rows: LoggedDelivery[] },
): Promise<LogNames[]> {
  return tx<LogNames[]>`
    select campaigns.id as "campaignId", campaigns.name as "campaignName", users.customer_id as "customerId",
      devices.device_id as "deviceId"
    from unnest(
      ${rows.map(({ bucket }) => bucket)}::smallint[], ${rows.map(({ runId }) => runId)}::text[],
      ${rows.map(({ deviceRowId }) => deviceRowId)}::text[], ${rows.map(({ userId }) => userId)}::text[]
    ) with ordinality as given (bucket, run_id, device_id, user_id, number)
    join runs on runs.id = given.run_id collate "C"
    join campaigns on campaigns.id = runs.campaign_id
    left join users on users.workspace_id = ${workspaceId} and users.bucket = given.bucket
      and users.id = given.user_id collate "C"
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = given.bucket
      and devices.id = given.device_id collate "C"
    order by given.number`;
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
    select deliveries.day::text as day, deliveries.bucket, deliveries.run_id as "runId",
      deliveries.device_id as "deviceRowId", deliveries.user_id as "userId", deliveries.platform, deliveries.outcome,
      deliveries.code, deliveries.provider_message_id as "providerMessageId", deliveries.attempts,
      deliveries.sent_at as at, deliveries.retry_at as "retryAt", campaigns.id as "campaignId",
      campaigns.name as "campaignName", users.customer_id as "customerId", devices.device_id as "deviceId",
      devices.push_id as "pushId", runs.status as "runStatus", runs.send_until as "sendUntil",
      coalesce(runs.content, campaigns.content) as content, campaigns.settings
    from deliveries
    join runs on runs.id = deliveries.run_id
    join campaigns on campaigns.id = runs.campaign_id
    left join users on users.workspace_id = deliveries.workspace_id and users.bucket = deliveries.bucket
      and users.id = deliveries.user_id
    left join devices on devices.workspace_id = deliveries.workspace_id and devices.bucket = deliveries.bucket
      and devices.id = deliveries.device_id
    where deliveries.day = ${key.day}::date and deliveries.workspace_id = ${key.workspaceId}
      and deliveries.bucket = ${key.bucket} and deliveries.run_id = ${key.runId}
      and deliveries.device_id = ${key.deviceRowId}`;
  return row;
}
