import type { Platform } from '../../domain/campaigns/content.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversion-goal.ts';
import { partitionOf } from '../ledger/deliveries.ts';
import type { DeliveryOutcome } from '../ledger/deliveries.ts';
import type { Fragment, Queryable } from '../database.ts';

/** Runs that began in a span of time: from its first moment to before its end. */
export type StatsSpan = { startsAt: Date; endsBefore: Date };

export type StatsQuery = StatsSpan & {
  workspaceId: string;
  /** These campaigns; undefined: every one with a run in the span. */
  ids: string[] | undefined;
};

export type StatsCampaign = { id: string; platforms: Platform[]; goals: ConversionGoal[] };

const matching = (tx: Queryable, { workspaceId, ids, startsAt, endsBefore }: StatsQuery) => tx`
  campaigns.workspace_id = ${workspaceId} and campaigns.channel = 'PUSH' and not campaigns.is_test and ${
    ids === undefined
      ? tx`campaigns.id in (
          select runs.campaign_id from runs
          where runs.workspace_id = ${workspaceId} and runs.started_at >= ${startsAt} and runs.started_at < ${endsBefore}
        )`
      : tx`campaigns.id = any(${ids})`
  }`;

/** Indexes: runs_started or campaigns primary key. */
export async function countStatsCampaigns(tx: Queryable, query: StatsQuery): Promise<number> {
  const [row] = await tx<{ total: number }[]>`select count(*) as total from campaigns where ${matching(tx, query)}`;
  return row!.total;
}

/** Newest first, ties by id. Indexes as above. */
export async function listStatsCampaigns(
  tx: Queryable,
  { offset, limit, ...query }: StatsQuery & { offset: number; limit: number },
): Promise<StatsCampaign[]> {
  return tx<StatsCampaign[]>`
    select campaigns.id, campaigns.platforms, campaigns.conversion_goals as goals
    from campaigns where ${matching(tx, query)}
    order by campaigns.created_at desc, campaigns.id desc
    offset ${offset} limit ${limit}`;
}

type Asked = StatsSpan & { campaignIds: string[] };

const inSpan = (tx: Queryable, { startsAt, endsBefore }: StatsSpan) => tx`
  (runs.started_at >= ${startsAt} and runs.started_at < ${endsBefore})`;

export type RunNumbers = { campaignId: string; runsInSpan: number; runs: number };

/** How many runs of each campaign have begun, in the span and at all. Index: runs_campaign. */
export async function countStartedRuns(tx: Queryable, asked: Asked): Promise<RunNumbers[]> {
  return tx<RunNumbers[]>`
    select runs.campaign_id as "campaignId", count(*) filter (where ${inSpan(tx, asked)}) as "runsInSpan",
      count(*) as runs
    from runs
    where runs.campaign_id = any(${asked.campaignIds}) and runs.started_at is not null
    group by runs.campaign_id`;
}

export type OutcomeNumbers = { campaignId: string; platform: Platform; outcome: DeliveryOutcome; devices: number };

/** Deliveries by outcome, from the counters of the runs. Indexes: runs_campaign, run_counts primary key. */
export async function sumOutcomes(tx: Queryable, asked: Asked): Promise<OutcomeNumbers[]> {
  return tx<OutcomeNumbers[]>`
    select runs.campaign_id as "campaignId", run_counts.platform, run_counts.outcome,
      sum(run_counts.devices)::bigint as devices
    from runs
    join run_counts on run_counts.run_id = runs.id
    where runs.campaign_id = any(${asked.campaignIds}) and ${inSpan(tx, asked)}
    group by runs.campaign_id, run_counts.platform, run_counts.outcome`;
}

export type FailureNumbers = { campaignId: string; platform: Platform; cause: string; devices: number };

/**
 * Why deliveries failed, in the provider's words, or were withheld. Indexes: runs_campaign, deliveries_failed of each
 * run's day.
 */
export async function countFailures(tx: Queryable, asked: Asked): Promise<FailureNumbers[]> {
  return tx<FailureNumbers[]>`
    select runs.campaign_id as "campaignId", deliveries.platform,
      coalesce(deliveries.code, deliveries.outcome) as cause, count(*) as devices
    from runs
    join deliveries on deliveries.day = runs.day and deliveries.run_id = runs.id
      and deliveries.outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')
    where runs.campaign_id = any(${asked.campaignIds}) and ${inSpan(tx, asked)}
    group by runs.campaign_id, deliveries.platform, coalesce(deliveries.code, deliveries.outcome)
    order by coalesce(deliveries.code, deliveries.outcome) collate "C"`;
}

export type ConversionNumbers = {
  campaignId: string;
  platform: Platform;
  goal: number;
  total: number;
  unique: number;
};

/**
 * Conversions that the runs brought, whenever they happened, and how many users these were. Index:
 * conversions_campaign.
 */
export async function countConversions(
  tx: Queryable,
  asked: Asked & { workspaceId: string },
): Promise<ConversionNumbers[]> {
  return tx<ConversionNumbers[]>`
    select conversions.campaign_id as "campaignId", conversions.platform, conversions.goal, count(*) as total,
      count(distinct conversions.user_id) as unique
    from conversions
    join runs on runs.id = conversions.run_id
    where conversions.workspace_id = ${asked.workspaceId} and conversions.campaign_id = any(${asked.campaignIds})
      and ${inSpan(tx, asked)}
    group by conversions.campaign_id, conversions.platform, conversions.goal`;
}

export type InteractionNumbers = {
  campaignId: string;
  platform: Platform;
  kind: 'IMPRESSION' | 'CLICK' | 'CLOSE';
  total: number;
  uniqueDevices: number;
};

/** What devices reported of the campaigns, over all their runs. Index: campaign_interactions primary key. */
export async function findInteractionNumbers(
  tx: Queryable,
  { workspaceId, campaignIds }: { workspaceId: string; campaignIds: string[] },
): Promise<InteractionNumbers[]> {
  return tx<InteractionNumbers[]>`
    select campaign_id as "campaignId", platform, kind, sum(total)::bigint as total,
      sum(unique_devices)::bigint as "uniqueDevices"
    from campaign_interactions
    where workspace_id = ${workspaceId} and campaign_id = any(${campaignIds})
    group by campaign_id, platform, kind`;
}

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
  const newest = (hasCode: Fragment) => tx`
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

export type CampaignWaitingGroup = {
  platform: Platform;
  code: string;
  devices: number;
  attempts: number;
  nextAt: Date;
};

/** What waits for another attempt, of one day's runs, by why, with the next attempt. Index: deliveries_log_run. */
export async function groupCampaignWaiting(tx: Queryable, { day, runIds }: RunDay): Promise<CampaignWaitingGroup[]> {
  return tx<CampaignWaitingGroup[]>`
    select platform, coalesce(code, outcome) as code, count(*) as devices, max(attempts) as attempts,
      min(retry_at) as "nextAt"
    from ${tx(partitionOf(day))}
    where run_id = any(${runIds}) and outcome = 'WAITING'
    group by 1, 2
    order by devices desc, 1, 2
    limit 100`;
}

export type TimelineStep = { at: Date; accepted: number; notDelivered: number };

/**
 * What became final in each step of time from a moment on, oldest first; steps without any are left out. The index
 * alone is read, each entry of the day's runs: about 0.5 s a million. Index: deliveries_log_run.
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

/** What the light list says beside the record (fact 4.7). */
export type CampaignMeta = {
  id: string;
  children: number;
  /** Devices of the newest run whose audience was counted, and when it was. */
  reachableDevices: number | null;
  countedAt: Date | null;
};

/** In no order; campaigns without a run are not among them. Index: runs_campaign. */
export async function readCampaignMeta(tx: Queryable, ids: readonly string[]): Promise<CampaignMeta[]> {
  if (ids.length === 0) return [];
  return tx<CampaignMeta[]>`
    select runs.campaign_id as id, count(*) as children,
      (array_agg(runs.audience_devices order by runs.created_at desc) filter (where runs.audience_devices is not null))[1]
        as "reachableDevices",
      max(runs.started_at) filter (where runs.audience_devices is not null) as "countedAt"
    from runs where runs.campaign_id = any(${[...ids]})
    group by runs.campaign_id`;
}
