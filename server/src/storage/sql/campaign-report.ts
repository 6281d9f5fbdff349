import type { Platform } from '../../domain/campaign/content.ts';
import type { Queryable } from '../pool.ts';
import { partitionOf } from './deliveries.ts';

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

export type RunDay = { day: string; runIds: string[] };

/** Runs of a campaign by the day of the ledger that has their rows, if it is kept. Index: runs_campaign. */
export async function listRunDays(tx: Queryable, campaignId: string): Promise<RunDay[]> {
  return tx<RunDay[]>`
    select day::text as day, array_agg(id) as "runIds" from runs
    where campaign_id = ${campaignId} and to_regclass('deliveries_' || to_char(day, 'YYYYMMDD')) is not null
    group by day order by day`;
}

/**
 * Why deliveries of a day failed, with the newest of each reason. The index alone is read, and one row of the ledger a
 * group. Indexes: deliveries_failed, deliveries_log_run_code.
 */
export async function groupFailures(tx: Queryable, { day, runIds }: RunDay): Promise<FailureGroup[]> {
  const ledger = tx(partitionOf(day));
  const newest = (hasCode: ReturnType<Queryable>) => tx`
    (select device_id, sent_at from ${ledger}
    where run_id = counted.run_id and outcome <> 'ACCEPTED' and ${hasCode} and outcome = counted.outcome
      and platform = counted.platform
    order by sent_at desc limit 1)`;
  return tx<FailureGroup[]>`
    select counted.platform, counted.outcome, coalesce(counted.code, counted.outcome) as code, counted.devices,
      newest.device_id as "sampleDeviceId", newest.sent_at as "lastAt"
    from (
      select run_id, platform, outcome, code, count(*) as devices from ${ledger}
      where run_id = any(${runIds}) and outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')
      group by run_id, platform, outcome, code
    ) as counted, lateral (
      ${newest(tx`code = counted.code`)} union all ${newest(tx`counted.code is null and code is null`)}
    ) as newest
    order by counted.devices desc, counted.platform, code
    limit 1000`;
}

export type TimelineStep = { at: Date; accepted: number; notDelivered: number };

/**
 * What became final in each step of time from a moment on, oldest first; steps without any are left out. The index alone
 * is read, each entry of the day's runs: about 0.5 s a million. Index: deliveries_log_run.
 */
export async function readTimeline(
  tx: Queryable,
  asked: RunDay & { origin: Date; since: Date; stepSeconds: number },
): Promise<TimelineStep[]> {
  return tx<TimelineStep[]>`
    select date_bin(make_interval(secs => ${asked.stepSeconds}), sent_at, ${asked.origin}::timestamptz) as at,
      count(*) filter (where outcome = 'ACCEPTED') as accepted,
      count(*) filter (where outcome <> 'ACCEPTED') as "notDelivered"
    from ${tx(partitionOf(asked.day))}
    where run_id = any(${asked.runIds}) and sent_at >= ${asked.since}
      and outcome in ('ACCEPTED', 'GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')
      and platform in ('ANDROID', 'IOS', 'WEB')
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
