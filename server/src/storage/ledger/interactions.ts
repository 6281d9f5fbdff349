import type { Platform } from '../../domain/content/content.ts';
import type {
  StoredInteractionKind,
  CountedReports,
  FigureGain,
  ReportedVariant,
  RunGain,
} from '../../domain/events/interactions.ts';
import type { LearningMeasure } from '../../domain/experiments/variants.ts';
import type { Queryable, Transaction } from '../database.ts';

/** A device's report about a message, ready to be counted. */
export type DeviceReport = {
  workspaceId: string;
  bucket: number;
  campaignId: string;
  deviceId: string;
  kind: StoredInteractionKind;
  runId: string;
  platform: Platform;
  action: string | null;
  isLowered?: boolean | undefined;
  /** Identifies the report, so that a repeated one is detected. */
  digest: Buffer;
} & ReportedVariant;

export type ReportedRun = {
  id: string;
  workspaceId: string;
  campaignId: string;
  locales: string[] | null;
  learnsBy: LearningMeasure | null;
};

/**
 * Finds the runs that devices report about. Excludes runs that began before `since`: their earlier reports may be
 * deleted, so that a repeated report could not be detected. Index: runs primary key.
 */
export async function findReportedRuns(
  tx: Queryable,
  { ids, since }: { ids: readonly string[]; since: Date },
): Promise<ReportedRun[]> {
  return tx<ReportedRun[]>`
    select id, workspace_id as "workspaceId", campaign_id as "campaignId", locales, learns_by as "learnsBy" from runs
    where id = any(${[...ids]}) and coalesce(started_at, created_at) >= ${since}`;
}

// All nodes together hold at most this many locks. PostgreSQL has few locks, and more would not reduce waiting.
const reportLocks = 1_024;

/**
 * Locks the reports of these campaigns and buckets: one transaction at a time counts a bucket's reports about a
 * campaign, so its later statements read everything counted before. Takes the locks in one order everywhere, so that
 * two batches never deadlock. Other buckets of the campaign are counted concurrently, and nothing else waits for these
 * locks. They end with the transaction.
 */
export async function holdReports(tx: Transaction, reports: readonly DeviceReport[]): Promise<void> {
  // 7312848 is arbitrary; it only has to be the same on every node. Two buckets of one campaign never share a lock.
  await tx`
    select pg_advisory_xact_lock(7312848, place)
    from (
      select distinct ((hashtextextended(campaign_id, 0) & ${reportLocks - 1}::bigint) + bucket)::int % ${reportLocks} as place
      from unnest(
        ${reports.map((report) => report.campaignId)}::text[], ${reports.map((report) => report.bucket)}::smallint[]
      ) as asked (campaign_id, bucket)
      order by place
    ) as ordered`;
}

const bucketsOf = (rows: readonly { bucket: number }[]): number[] => [...new Set(rows.map(({ bucket }) => bucket))];

/**
 * Returns the reports already counted for these devices, in every run of these campaigns. The caller holds the locks of
 * holdReports. Index: device_interactions primary key.
 */
export async function findCountedReports(tx: Transaction, reports: readonly DeviceReport[]): Promise<CountedReports[]> {
  return tx<CountedReports[]>`
    select known.workspace_id as "workspaceId", known.bucket, known.campaign_id as "campaignId",
      known.device_id as "deviceId", known.kind, known.run_id as "runId", known.platform,
      known.report_digests as digests
    from (
      select distinct workspace_id, bucket, campaign_id, device_id, kind
      from unnest(
        ${reports.map((report) => report.workspaceId)}::text[], ${reports.map((report) => report.bucket)}::smallint[],
        ${reports.map((report) => report.campaignId)}::text[], ${reports.map((report) => report.deviceId)}::text[],
        ${reports.map((report) => report.kind)}::text[]
      ) as given (workspace_id, bucket, campaign_id, device_id, kind)
    ) as asked
    join device_interactions as known on known.workspace_id = asked.workspace_id collate "C"
      and known.bucket = asked.bucket and known.campaign_id = asked.campaign_id collate "C"
      and known.device_id = asked.device_id collate "C" and known.kind = asked.kind
    where known.bucket = any(${bucketsOf(reports)}::smallint[])`;
}

/**
 * Adds uncounted reports to the rows of their devices. The action of the latest report that has one is kept. The caller holds
 * the locks of holdReports. Writes rows in key order. Index: primary key.
 */
export async function addDeviceReports(
  tx: Transaction,
  { reports, at }: { reports: readonly DeviceReport[]; at: Date },
): Promise<void> {
  await tx`
    insert into device_interactions (
      workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, report_digests, count, first_at,
      lowered
    )
    select workspace_id collate "C", bucket, campaign_id collate "C", device_id collate "C", kind, run_id collate "C",
      min(platform), (array_agg(action order by nth desc) filter (where action is not null))[1],
      array_agg(decode(digest, 'hex') order by nth), count(*)::integer, ${at},
      bool_or(lowered)
    from unnest(
      ${reports.map((report) => report.workspaceId)}::text[], ${reports.map((report) => report.bucket)}::smallint[],
      ${reports.map((report) => report.campaignId)}::text[], ${reports.map((report) => report.deviceId)}::text[],
      ${reports.map((report) => report.kind)}::text[], ${reports.map((report) => report.runId)}::text[],
      ${reports.map((report) => report.platform)}::text[], ${reports.map((report) => report.action)}::text[],
      ${reports.map((report) => report.digest.toString('hex'))}::text[],
      ${reports.map((report) => report.isLowered === true)}::boolean[]
    ) with ordinality as given (
      workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, digest, lowered, nth
    )
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict (workspace_id, bucket, campaign_id, device_id, kind, run_id) do update
    set report_digests = device_interactions.report_digests || excluded.report_digests,
      count = device_interactions.count + excluded.count,
      action = coalesce(excluded.action, device_interactions.action),
      lowered = device_interactions.lowered or excluded.lowered`;
}

/**
 * Adds to the figures of campaigns, one row per bucket, platform, kind and content, in the transaction that counts the
 * reports. Writes rows in key order. Index: primary key.
 */
export async function addCampaignInteractions(tx: Transaction, gains: readonly FigureGain[]): Promise<void> {
  await tx`
    insert into campaign_interactions (
      workspace_id, campaign_id, bucket, platform, kind, variation, locale, total, unique_devices, messages
    )
    select workspace_id collate "C", campaign_id collate "C", bucket, platform, kind, variation, locale collate "C", reports,
      devices, messages
    from unnest(
      ${gains.map((gain) => gain.workspaceId)}::text[], ${gains.map((gain) => gain.campaignId)}::text[],
      ${gains.map((gain) => gain.bucket)}::smallint[], ${gains.map((gain) => gain.platform)}::text[],
      ${gains.map((gain) => gain.kind)}::text[], ${gains.map((gain) => gain.reports)}::bigint[],
      ${gains.map((gain) => gain.devices)}::bigint[], ${gains.map((gain) => gain.messages)}::bigint[],
      ${gains.map((gain) => gain.variation)}::smallint[], ${gains.map((gain) => gain.locale)}::text[]
    ) as gain (
      workspace_id, campaign_id, bucket, platform, kind, reports, devices, messages, variation, locale
    )
    order by 1, 2, 3, 4, 5, 6, 7
    on conflict (workspace_id, campaign_id, bucket, platform, kind, variation, locale) do update
    set total = campaign_interactions.total + excluded.total,
      unique_devices = campaign_interactions.unique_devices + excluded.unique_devices,
      messages = campaign_interactions.messages + excluded.messages`;
}

/** Adds to the figures of runs, in the same way. Writes rows in key order. Index: primary key. */
export async function addRunInteractions(tx: Transaction, gains: readonly RunGain[]): Promise<void> {
  await tx`
    insert into run_interactions (
      run_id, workspace_id, bucket, platform, kind, variation, locale, total, messages
    )
    select run_id collate "C", workspace_id collate "C", bucket, platform, kind, variation, locale collate "C", reports,
      messages
    from unnest(
      ${gains.map((gain) => gain.runId)}::text[], ${gains.map((gain) => gain.workspaceId)}::text[],
      ${gains.map((gain) => gain.bucket)}::smallint[], ${gains.map((gain) => gain.platform)}::text[],
      ${gains.map((gain) => gain.kind)}::text[], ${gains.map((gain) => gain.reports)}::bigint[],
      ${gains.map((gain) => gain.messages)}::bigint[], ${gains.map((gain) => gain.variation)}::smallint[],
      ${gains.map((gain) => gain.locale)}::text[]
    ) as gain (run_id, workspace_id, bucket, platform, kind, reports, messages, variation, locale)
    order by 1, 3, 4, 5, 6, 7
    on conflict (run_id, bucket, platform, kind, variation, locale) do update
    set total = run_interactions.total + excluded.total, messages = run_interactions.messages + excluded.messages`;
}

export type CampaignInteractions = {
  platform: Platform;
  kind: StoredInteractionKind;
  total: number;
  uniqueDevices: number;
};

/** Returns the figures of a campaign, summed over its buckets: at most 2,304 rows. Index: primary key. */
export async function listCampaignInteractions(
  tx: Queryable,
  campaign: { workspaceId: string; campaignId: string },
): Promise<CampaignInteractions[]> {
  return tx<CampaignInteractions[]>`
    select platform, kind, sum(total)::bigint as total, sum(unique_devices)::bigint as "uniqueDevices"
    from campaign_interactions
    where workspace_id = ${campaign.workspaceId} and campaign_id = ${campaign.campaignId}
    group by platform, kind
    order by platform, kind`;
}

/** The end of a page; the next page begins after it. */
export type ReportPlace = { bucket: number; deviceRowId: string; runId: string };

/** A device that reported a campaign's message as shown or clicked. */
export type ReportedDevice = ReportPlace & {
  platform: Platform;
  /** The button of a click; null: the message itself. */
  action: string | null;
  /** The number of reports, and the time of the first one. */
  times: number;
  at: Date;
  /** Null: the device was removed since. */
  deviceId: string | null;
  userId: string | null;
  customerId: string | null;
};

export type ReportLook = {
  workspaceId: string;
  campaignId: string;
  kind: 'IMPRESSION' | 'CLICK';
  platform: Platform | undefined;
  bucket: number;
  /** Undefined: from the start of the bucket. */
  after: ReportPlace | undefined;
  limit: number;
};

/**
 * Lists the reports about a campaign in one bucket, by device and run, with the users. All of these rows are in one
 * shard. Indexes: device_interactions_pkey, in its order; devices and users primary keys, one lookup per row.
 */
export async function listDeviceReports(tx: Queryable, look: ReportLook): Promise<ReportedDevice[]> {
  const { workspaceId, campaignId, kind, platform, bucket, after, limit } = look;
  return tx<ReportedDevice[]>`
    select found.bucket, found.device_id as "deviceRowId", found.run_id as "runId", found.platform, found.action,
      found.count as times, found.first_at as at, devices.device_id as "deviceId", users.id as "userId",
      users.customer_id as "customerId"
    from (
      select * from device_interactions
      where workspace_id = ${workspaceId} and bucket = ${bucket} and campaign_id = ${campaignId} and kind = ${kind}
        ${platform === undefined ? tx`` : tx`and platform = ${platform}`}
        ${after === undefined ? tx`` : tx`and (device_id, run_id) > (${after.deviceRowId}, ${after.runId})`}
      order by device_id, run_id limit ${limit}
    ) as found
    left join devices on devices.workspace_id = ${workspaceId} and devices.bucket = ${bucket}
      and devices.id = found.device_id
    left join users on users.workspace_id = ${workspaceId} and users.bucket = ${bucket} and users.id = devices.user_id
    order by found.device_id, found.run_id`;
}
