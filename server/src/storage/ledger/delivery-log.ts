import type { CampaignContent, Platform } from '../../domain/campaigns/content.ts';
import type {
  ExplainedChunk,
  ExplainedDelivery,
  ExplainedDevice,
  RunStatus,
} from '../../domain/explain/explain-run.ts';
import type { UserKey } from '../../domain/users/bucket.ts';
import type { Queryable } from '../database.ts';
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

/** A user of whom something is asked, with what is known under it. */
type OfUser<Row> = Row & UserKey;

const given = (tx: Queryable, users: UserKey[]) => tx`
  unnest(${users.map(({ bucket }) => bucket)}::smallint[], ${users.map(({ userId }) => userId)}::text[])
    as given (bucket, user_id)`;

export type CampaignToExplain = {
  id: string;
  name: string;
  status: string;
  statusReason: string | null;
  platforms: Platform[];
  settings: Record<string, unknown>;
  nextAt: Date | null;
};

/** Any campaign, tests of campaigns too. Index: campaigns primary key. */
export async function findCampaignToExplain(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<CampaignToExplain | undefined> {
  const [row] = await tx<CampaignToExplain[]>`
    select id, name, status, status_reason as "statusReason", platforms, settings, next_at as "nextAt"
    from campaigns where id = ${id} and workspace_id = ${workspaceId}`;
  return row;
}

export type RunToExplain = {
  id: string;
  status: RunStatus;
  statusReason: string | null;
  createdAt: Date;
  startedAt: Date | null;
  day: string;
  audienceBound: string | null;
  segmentId: string | null;
  version: number | null;
  /** Members of its audience may have been deleted since: who is not found may have been one. */
  isForgotten: boolean;
  targetUsers: [bucket: number, userId: string][] | null;
};

/** The newest runs of a campaign, or the one asked for. Indexes: runs_campaign, segments primary key. */
export async function listRunsToExplain(
  tx: Queryable,
  { campaignId, runId, limit }: { campaignId: string; runId: string | undefined; limit: number },
): Promise<RunToExplain[]> {
  return tx<RunToExplain[]>`
    select runs.id, runs.status, runs.status_reason as "statusReason", runs.created_at as "createdAt",
      runs.started_at as "startedAt", runs.day::text as day, runs.audience_bound as "audienceBound",
      runs.audience_segment_id as "segmentId", runs.audience_version as version, runs.target_users as "targetUsers",
      case when runs.audience_segment_id is null then false
        when runs.audience_segment_id = runs.id then runs.ended_at is not null
        else coalesce(segments.version > runs.audience_version or segments.state = 'ARCHIVED', true) end as "isForgotten"
    from runs
    left join segments on segments.id = runs.audience_segment_id
    where runs.campaign_id = ${campaignId} ${runId === undefined ? tx`` : tx`and runs.id = ${runId}`}
    order by runs.created_at desc, runs.id desc
    limit ${limit}`;
}

/** Devices of users, whatever their state. Index: devices (workspace_id, bucket, user_id, device_id). */
export async function listDevicesToExplain(
  tx: Queryable,
  { workspaceId, users }: { workspaceId: string; users: UserKey[] },
): Promise<OfUser<ExplainedDevice>[]> {
  return tx<OfUser<ExplainedDevice>[]>`
    select devices.bucket, devices.user_id as "userId", devices.id, devices.device_id as "deviceId", devices.platform,
      devices.state, devices.provisional as "isProvisional"
    from ${given(tx, users)}
    join devices on devices.workspace_id = ${workspaceId} and devices.bucket = given.bucket
      and devices.user_id = given.user_id collate "C"
    order by devices.bucket, devices.id`;
}

type Asked = { workspaceId: string; run: RunToExplain; users: UserKey[] };

/** The ledger's rows of users in a run. Indexes: deliveries_user, deliveries_user_other of the run's day. */
export async function listDeliveriesToExplain(
  tx: Queryable,
  { workspaceId, run, users }: Asked,
): Promise<OfUser<ExplainedDelivery>[]> {
  return tx<OfUser<ExplainedDelivery>[]>`
    select deliveries.bucket, deliveries.user_id as "userId", deliveries.device_id as "deviceId", deliveries.platform,
      deliveries.outcome, deliveries.code, deliveries.attempts, deliveries.sent_at as "sentAt",
      deliveries.retry_at as "retryAt"
    from ${given(tx, users)}
    join deliveries on deliveries.day = ${run.day}::date and deliveries.workspace_id = ${workspaceId}
      and deliveries.bucket = given.bucket and deliveries.user_id = given.user_id collate "C"
      and deliveries.run_id = ${run.id} and (deliveries.outcome = 'ACCEPTED' or deliveries.outcome <> 'ACCEPTED')
    order by deliveries.bucket, deliveries.device_id`;
}

/** Those of the users whom the run's frozen segment holds. Index: segment_members primary key. */
export async function listMembersToExplain(tx: Queryable, { workspaceId, run, users }: Asked): Promise<UserKey[]> {
  return tx<UserKey[]>`
    select distinct member.bucket, member.user_id as "userId"
    from ${given(tx, users)}
    join segment_members as member on member.workspace_id = ${workspaceId} and member.bucket = given.bucket
      and member.segment_id = ${run.segmentId} and member.user_id = given.user_id collate "C"
      and member.added_in <= ${run.version} and (member.removed_in is null or member.removed_in > ${run.version})`;
}

export type ChunkToExplain = ExplainedChunk & { bucketFrom: number; bucketTo: number };

/** The chunks of a run, at most 256. Index: primary key. */
export async function listChunksToExplain(tx: Queryable, runId: string): Promise<ChunkToExplain[]> {
  return tx<ChunkToExplain[]>`
    select state, bucket_from as "bucketFrom", bucket_to as "bucketTo" from chunks where run_id = ${runId}`;
}
