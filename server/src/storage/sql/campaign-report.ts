import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';

/** Sums over the runs of a campaign's document. */
export type RunSums = {
  runs: number;
  openRuns: number;
  /** People; null when a run of before this was counted has begun. */
  audienceUsers: number | null;
  reachableDevices: number;
  startedAt: Date | null;
  /** When the last run ended; null while one is open. */
  endedAt: Date | null;
};

/**
 * Runs to named users count no devices at their start: those that were tried are the reachable ones. Indexes:
 * runs_campaign, run_counts primary key.
 */
export async function sumRuns(tx: Queryable, campaignId: string): Promise<RunSums> {
  const [row] = await tx<RunSums[]>`
    select count(*) as runs, count(*) filter (where runs.status in ('QUEUED', 'SENDING', 'PAUSED')) as "openRuns",
      case when bool_or(runs.started_at is not null and runs.audience_users is null) then null
        else coalesce(sum(runs.audience_users), 0)::bigint end as "audienceUsers",
      coalesce(sum(coalesce(runs.audience_devices, counted.devices)), 0)::bigint as "reachableDevices",
      min(runs.started_at) as "startedAt",
      case when bool_and(runs.ended_at is not null) then max(runs.ended_at) end as "endedAt"
    from runs
    left join lateral (
      select sum(run_counts.devices) as devices from run_counts where run_counts.run_id = runs.id
    ) as counted on true
    where runs.campaign_id = ${campaignId}`;
  return row!;
}

export type FailureGroup = {
  platform: Platform;
  outcome: 'GONE' | 'REJECTED' | 'EXPIRED' | 'FAILED' | 'WITHHELD';
  /** The provider's word, or ours. */
  code: string;
  devices: number;
  /** One of them, by the id of its row. */
  sampleDeviceId: string;
  lastAt: Date;
};

/** Why deliveries failed, the most frequent reason first. Indexes: runs_campaign, deliveries_failed of each run's day. */
export async function groupFailures(tx: Queryable, campaignId: string): Promise<FailureGroup[]> {
  return tx<FailureGroup[]>`
    select deliveries.platform, deliveries.outcome, coalesce(deliveries.code, deliveries.outcome) as code,
      count(*) as devices, min(deliveries.device_id) as "sampleDeviceId", max(deliveries.sent_at) as "lastAt"
    from runs
    join deliveries on deliveries.day = runs.day and deliveries.run_id = runs.id
      and deliveries.outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')
    where runs.campaign_id = ${campaignId}
    group by deliveries.platform, deliveries.outcome, coalesce(deliveries.code, deliveries.outcome)
    order by devices desc, deliveries.platform, code
    limit 100`;
}

export type TimelineStep = { at: Date; accepted: number; notDelivered: number };

/**
 * What became final in each step of time, oldest first; steps without any are left out. Reads every delivery of the
 * campaign, about 0.5 s a million, so callers keep an answer for some seconds. Indexes: runs_campaign, primary key of
 * the ledger (day, workspace, bucket, run).
 */
export async function readTimeline(
  tx: Queryable,
  asked: { workspaceId: string; campaignId: string; from: Date; stepSeconds: number },
): Promise<TimelineStep[]> {
  return tx<TimelineStep[]>`
    select date_bin(make_interval(secs => ${asked.stepSeconds}), deliveries.sent_at, ${asked.from}::timestamptz) as at,
      count(*) filter (where deliveries.outcome = 'ACCEPTED') as accepted,
      count(*) filter (where deliveries.outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')) as "notDelivered"
    from runs
    join deliveries on deliveries.day = runs.day and deliveries.workspace_id = ${asked.workspaceId}
      and deliveries.bucket between 0 and 255 and deliveries.run_id = runs.id
    where runs.campaign_id = ${asked.campaignId}
    group by 1
    order by 1`;
}

export type ReportedRun = {
  id: string;
  status: string;
  statusReason: string | null;
  dueAt: Date | null;
  startedAt: Date | null;
  endedAt: Date | null;
  createdAt: Date;
  accepted: number;
  waiting: number;
  notDelivered: number;
};

/** Newest first, with what came of each. Indexes: runs_campaign, run_counts primary key. */
export async function listReportedRuns(
  tx: Queryable,
  page: { campaignId: string; limit: number; offset: number },
): Promise<ReportedRun[]> {
  return tx<ReportedRun[]>`
    select runs.id, runs.status, runs.status_reason as "statusReason", coalesce(runs.moment, runs.due_at) as "dueAt",
      runs.started_at as "startedAt", runs.ended_at as "endedAt", runs.created_at as "createdAt",
      coalesce(counted.accepted, 0)::bigint as accepted, coalesce(counted.waiting, 0)::bigint as waiting,
      coalesce(counted.failed, 0)::bigint as "notDelivered"
    from runs
    left join lateral (
      select sum(devices) filter (where outcome = 'ACCEPTED') as accepted,
        sum(devices) filter (where outcome = 'WAITING') as waiting,
        sum(devices) filter (where outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')) as failed
      from run_counts where run_counts.run_id = runs.id
    ) as counted on true
    where runs.campaign_id = ${page.campaignId}
    order by runs.created_at desc, runs.id desc
    limit ${page.limit} offset ${page.offset}`;
}

export type CampaignVersion = {
  id: string;
  versionNumber: number | null;
  status: string;
  createdAt: Date;
  createdBy: string;
};

/** Every published revision of a campaign, newest first. Indexes: primary key, campaigns_version_of. */
export async function listVersions(tx: Queryable, campaignId: string): Promise<CampaignVersion[]> {
  return tx<CampaignVersion[]>`
    select id, version_number as "versionNumber", status, created_at as "createdAt", created_by as "createdBy"
    from campaigns where id = ${campaignId} or version_of = ${campaignId}
    order by version_number desc nulls last, id desc`;
}
