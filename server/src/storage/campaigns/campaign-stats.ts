import type { AttributionType, ConversionGoal } from '../../domain/campaigns/conversions.ts';
import type { Platform } from '../../domain/content/content.ts';
import type { StoredInteractionKind } from '../../domain/events/interactions.ts';
import type { Fragment, Queryable } from '../database.ts';
import type { DeliveryOutcome } from '../ledger/deliveries.ts';
import { ledgerLocale, ledgerVariation, outcomeWord, platformWord } from '../ledger/ledger-encoding.ts';

/** Runs that began in a span of time, including its start and excluding its end. */
export type StatsSpan = { startsAt: Date; endsBefore: Date };

export type StatsQuery = StatsSpan & {
  workspaceId: string;
  /** Ids of campaigns; undefined: every campaign with a run in the span. */
  ids: string[] | undefined;
};

/** `current`: with a total of all platforms, named as clients read them; `earlier`: lower-case platforms alone. */
export type StatsForm = 'current' | 'earlier';

/** Returns in which form a workspace gets its statistics. Index: workspaces primary key. */
export async function findStatsForm(tx: Queryable, workspaceId: string): Promise<StatsForm> {
  const [row] = await tx<{ form: StatsForm }[]>`
    select case when earlier_statistics then 'earlier' else 'current' end as form
    from workspaces where id = ${workspaceId}`;
  return row?.form ?? 'current';
}

export type StatsCampaign = {
  id: string;
  name: string;
  deliveryType: string;
  platforms: Platform[];
  goals: ConversionGoal[];
  /** Null if all users get the same content. */
  locales: string[] | null;
  variations: number | null;
};

/** The content variant; 0 and an empty text if there is only one, or if nothing was sent in a language. */
export type NumbersOfVariant = { variation: number; locale: string };

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

const statsColumns = (tx: Queryable) => tx`
  campaigns.id, campaigns.name, campaigns.delivery_type as "deliveryType", campaigns.platforms,
  campaigns.conversion_goals as goals, campaigns.variants -> 'locales' as locales,
  jsonb_array_length(campaigns.variants -> 'percents') as variations`;

/** Lists campaigns, newest first, ties by id. Indexes as above. */
export async function listStatsCampaigns(
  tx: Queryable,
  { offset, limit, ...query }: StatsQuery & { offset: number; limit: number },
): Promise<StatsCampaign[]> {
  return tx<StatsCampaign[]>`
    select ${statsColumns(tx)}
    from campaigns where ${matching(tx, query)}
    order by campaigns.created_at desc, campaigns.id desc
    offset ${offset} limit ${limit}`;
}

/**
 * Lists the next campaigns by id, newest first, so that campaigns created meanwhile do not cause duplicates. Indexes as
 * above.
 */
export async function listReportedCampaigns(
  tx: Queryable,
  { before, limit, ...query }: StatsQuery & { before: string | undefined; limit: number },
): Promise<StatsCampaign[]> {
  return tx<StatsCampaign[]>`
    select ${statsColumns(tx)} from campaigns
    where ${matching(tx, query)} ${before === undefined ? tx`` : tx`and campaigns.id < ${before}`}
    order by campaigns.id desc
    limit ${limit}`;
}

export type AskedRuns = StatsSpan & { campaignIds: string[] };

export const inSpan = (tx: Queryable, { startsAt, endsBefore }: StatsSpan) => tx`
  (runs.started_at >= ${startsAt} and runs.started_at < ${endsBefore})`;

export type RunNumbers = { campaignId: string; runsInSpan: number; runs: number };

/** Counts the started runs of each campaign, in the span and in total. Index: runs_campaign. */
export async function countStartedRuns(tx: Queryable, asked: AskedRuns): Promise<RunNumbers[]> {
  return tx<RunNumbers[]>`
    select runs.campaign_id as "campaignId", count(*) filter (where ${inSpan(tx, asked)}) as "runsInSpan",
      count(*) as runs
    from runs
    where runs.campaign_id = any(${asked.campaignIds}) and runs.started_at is not null
    group by runs.campaign_id`;
}

export type OutcomeNumbers = NumbersOfVariant & {
  campaignId: string;
  platform: Platform;
  outcome: DeliveryOutcome;
  devices: number;
};

/**
 * Selects the runs separately, to be joined with sharded tables: a cluster sends these rows to the shards, and would
 * send the whole table if it were joined directly. Index: runs_campaign.
 */
const runsInSpan = (tx: Queryable, asked: AskedRuns) => tx`
  select runs.id, runs.number, runs.day, runs.campaign_id, runs.locales from runs
  where runs.campaign_id = any(${asked.campaignIds}) and ${inSpan(tx, asked)}`;

/** Sums deliveries by outcome, from the counters of the runs. Indexes: runs_campaign, run_counts primary key. */
export async function sumOutcomes(tx: Queryable, asked: AskedRuns): Promise<OutcomeNumbers[]> {
  return tx<OutcomeNumbers[]>`
    with asked as materialized (${runsInSpan(tx, asked)})
    select asked.campaign_id as "campaignId", run_counts.platform, run_counts.outcome, run_counts.variation,
      run_counts.locale, sum(run_counts.devices)::bigint as devices
    from asked
    join run_counts on run_counts.run_id = asked.id
    group by asked.campaign_id, run_counts.platform, run_counts.outcome, run_counts.variation, run_counts.locale`;
}

export type FailureNumbers = { campaignId: string; platform: Platform; cause: string; devices: number };

/** Failure numbers by content variant. */
export type LedgerFailureNumbers = FailureNumbers & NumbersOfVariant;

/**
 * Counts failed or withheld deliveries by reason, in the provider's words. Indexes: runs_campaign, deliveries_failed of
 * each run's day.
 */
export async function countFailures(tx: Queryable, asked: AskedRuns): Promise<LedgerFailureNumbers[]> {
  const days = await listDaysInSpan(tx, asked);
  if (days.length === 0) return [];
  const cause = tx`coalesce(deliveries.code, ${outcomeWord(tx, tx`deliveries.outcome`)})`;
  const variation = tx`coalesce(${ledgerVariation(tx)}, 0)`;
  const locale = tx`coalesce(asked.locales[${ledgerLocale(tx)}], '')`;
  return tx<LedgerFailureNumbers[]>`
    with asked as materialized (${runsInSpan(tx, asked)})
    select asked.campaign_id as "campaignId", ${platformWord(tx, tx`deliveries.platform`)} as platform,
      ${cause} as cause, ${variation} as variation, ${locale} as locale, count(*) as devices
    from asked
    join deliveries on deliveries.day = any(${days}::date[]) and deliveries.day = asked.day
      and deliveries.run_number = asked.number and deliveries.outcome <> 'A' and deliveries.outcome <> 'W'
    group by asked.campaign_id, deliveries.platform, ${cause}, deliveries.variation, deliveries.locale, asked.locales
    order by ${cause} collate "C"`;
}

/** Lists the ledger days that hold the runs' rows. Index: runs_campaign. */
async function listDaysInSpan(tx: Queryable, asked: AskedRuns): Promise<string[]> {
  const rows = await tx<{ day: string }[]>`
    select distinct day::text as day from (${runsInSpan(tx, asked)}) as asked`;
  return rows.map(({ day }) => day);
}

export type ConversionNumbers = {
  campaignId: string;
  platform: Platform;
  goal: number;
  total: number;
  unique: number;
  /** Each user once per run. */
  users: number;
  /** Revenue of the events that state one; null if none does. */
  revenue: number | null;
} & AskedVariant;

/** Null: all of them together. */
export type AskedVariant = { variation: number | null; locale: string | null };

/**
 * Counts the conversions of the runs and their users for one attribution, whenever they happened: in total, by
 * variation, by locale and by both. Each conversion counts in four groups, because a cluster has no grouping sets.
 * Index: conversions_campaign.
 */
export async function countConversions(
  tx: Queryable,
  asked: AskedRuns & { workspaceId: string; attribution: AttributionType },
): Promise<ConversionNumbers[]> {
  return tx<ConversionNumbers[]>`
    with asked as materialized (${runsInSpan(tx, asked)})
    select conversions.campaign_id as "campaignId", conversions.platform, conversions.goal, count(*) as total,
      count(distinct conversions.user_id) as unique,
      count(distinct conversions.run_id || conversions.user_id) as users, sum(conversions.revenue)::float8 as revenue,
      own.variation, own.locale
    from asked
    join conversions on conversions.run_id = asked.id
    cross join lateral unnest(
      array[null, coalesce(conversions.variation, 0), null, coalesce(conversions.variation, 0)],
      array[null, null, coalesce(conversions.locale, ''), coalesce(conversions.locale, '')]
    ) as own (variation, locale)
    where conversions.workspace_id = ${asked.workspaceId} and conversions.campaign_id = any(${asked.campaignIds})
      and conversions.reach is null and conversions.attribution = ${asked.attribution}
    group by conversions.campaign_id, conversions.platform, conversions.goal, own.variation, own.locale`;
}

/** True for a run whose audience is large and not counted to its end, whether it goes on or not. */
export const isUncounted = (tx: Queryable): Fragment => tx`audience_cut is not null and audience_devices is null`;

/** Sums over the runs of a campaign document. */
export type RunSums = {
  runs: number;
  openRuns: number;
  /** Number of users; null if a run has begun that predates this count. */
  audienceUsers: number | null;
  /** Null while the audience of a run is being counted. */
  reachableDevices: number | null;
  startedAt: Date | null;
  /** When the last run ended; null while one is open. */
  endedAt: Date | null;
};

/**
 * Sums the runs of a campaign. Runs to named users count no devices at their start; for them, the devices that were
 * tried are the reachable ones. Indexes: runs_campaign, run_counts primary key.
 */
export async function sumRuns(tx: Queryable, campaignId: string): Promise<RunSums> {
  const [row] = await tx<RunSums[]>`
    with summed as materialized (
      select count(*) as runs, count(*) filter (where status in ('QUEUED', 'SENDING', 'PAUSED')) as open_runs,
        case when bool_or(started_at is not null and audience_users is null) then null
          else coalesce(sum(audience_users), 0)::bigint end as audience_users,
        coalesce(sum(audience_devices), 0)::bigint as counted_devices, min(started_at) as started_at,
        coalesce(bool_or(${isUncounted(tx)}
          and status in ('QUEUED', 'SENDING', 'PAUSED')), false) as is_counting,
        case when bool_and(ended_at is not null) then max(ended_at) end as ended_at
      from runs where campaign_id = ${campaignId}
    ), uncounted as materialized (
      select id from runs where campaign_id = ${campaignId} and audience_devices is null
    ), tried as materialized (
      select coalesce(sum(run_counts.devices), 0)::bigint as devices
      from uncounted join run_counts on run_counts.run_id = uncounted.id
    )
    select summed.runs, summed.open_runs as "openRuns", summed.audience_users as "audienceUsers",
      case when not summed.is_counting then summed.counted_devices + tried.devices end as "reachableDevices",
      summed.started_at as "startedAt",
      summed.ended_at as "endedAt"
    from summed, tried`;
  return row!;
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
  /** Each message once. */
  shown: number;
  clicked: number;
};

/**
 * Lists runs with their results, newest first. Indexes: runs_campaign, primary keys of run_counts and run_interactions.
 */
export async function listReportedRuns(
  tx: Queryable,
  page: { campaignId: string; limit: number; offset: number },
): Promise<ReportedRun[]> {
  return tx<ReportedRun[]>`
    with page as materialized (
      select id, status, status_reason, coalesce(moment, due_at) as due_at, started_at, ended_at, created_at from runs
      where campaign_id = ${page.campaignId}
      order by created_at desc, id desc
      limit ${page.limit} offset ${page.offset}
    ), counted as materialized (
      select run_counts.run_id, sum(run_counts.devices) filter (where run_counts.outcome = 'ACCEPTED') as accepted,
        sum(run_counts.devices) filter (where run_counts.outcome = 'WAITING') as waiting,
        sum(run_counts.devices)
          filter (where run_counts.outcome in ('GONE', 'REJECTED', 'EXPIRED', 'FAILED', 'WITHHELD')) as failed
      from page join run_counts on run_counts.run_id = page.id
      group by run_counts.run_id
    ), reported as materialized (
      select run_interactions.run_id,
        sum(run_interactions.messages) filter (where run_interactions.kind = 'IMPRESSION') as shown,
        sum(run_interactions.messages) filter (where run_interactions.kind = 'CLICK') as clicked
      from page join run_interactions on run_interactions.run_id = page.id
      group by run_interactions.run_id
    )
    select page.id, page.status, page.status_reason as "statusReason", page.due_at as "dueAt",
      page.started_at as "startedAt", page.ended_at as "endedAt", page.created_at as "createdAt",
      coalesce(counted.accepted, 0)::bigint as accepted, coalesce(counted.waiting, 0)::bigint as waiting,
      coalesce(counted.failed, 0)::bigint as "notDelivered", coalesce(reported.shown, 0)::bigint as shown,
      coalesce(reported.clicked, 0)::bigint as clicked
    from page
    left join counted on counted.run_id = page.id
    left join reported on reported.run_id = page.id
    order by page.created_at desc, page.id desc`;
}

export type CampaignVersion = {
  id: string;
  versionNumber: number | null;
  status: string;
  createdAt: Date;
  createdBy: string;
};

/** Lists every published revision of a campaign, newest first. Indexes: primary key, campaigns_version_of. */
export async function listVersions(tx: Queryable, campaignId: string): Promise<CampaignVersion[]> {
  return tx<CampaignVersion[]>`
    select id, version_number as "versionNumber", status, created_at as "createdAt", created_by as "createdBy"
    from campaigns where id = ${campaignId} or version_of = ${campaignId}
    order by version_number desc nulls last, id desc`;
}

/** The fields that the light list has in addition to the record (fact 4.7). */
export type CampaignMeta = {
  id: string;
  children: number;
  /** Devices of the newest run whose audience was counted, and the time of that count. */
  reachableDevices: number | null;
  countedAt: Date | null;
};

/** Returns the figures in no order, without campaigns that have no run. Index: runs_campaign. */
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

/** Numbers of one kind of report. */
type ReportNumbers = NumbersOfVariant & {
  campaignId: string;
  platform: Platform;
  kind: StoredInteractionKind;
  total: number;
  /** Each message once, whatever its device reported about others. */
  messages: number;
};

export type InteractionNumbers = ReportNumbers & { uniqueDevices: number };

/** Sums the devices' reports about the campaigns, over all their runs. Index: campaign_interactions primary key. */
export async function findInteractionNumbers(
  tx: Queryable,
  { workspaceId, campaignIds }: { workspaceId: string; campaignIds: string[] },
): Promise<InteractionNumbers[]> {
  return tx<InteractionNumbers[]>`
    select campaign_id as "campaignId", platform, kind, variation, locale, sum(total)::bigint as total,
      sum(unique_devices)::bigint as "uniqueDevices", sum(messages)::bigint as messages
    from campaign_interactions
    where workspace_id = ${workspaceId} and campaign_id = any(${campaignIds})
    group by campaign_id, platform, kind, variation, locale`;
}

export type RunInteractionNumbers = ReportNumbers;

/** Sums the devices' reports about the runs in a span. Indexes: runs_campaign, run_interactions primary key. */
export async function sumRunInteractions(tx: Queryable, asked: AskedRuns): Promise<RunInteractionNumbers[]> {
  return tx<RunInteractionNumbers[]>`
    with asked as materialized (${runsInSpan(tx, asked)})
    select asked.campaign_id as "campaignId", reported.platform, reported.kind, reported.variation, reported.locale,
      sum(reported.total)::bigint as total, sum(reported.messages)::bigint as messages
    from asked
    join run_interactions as reported on reported.run_id = asked.id
    group by asked.campaign_id, reported.platform, reported.kind, reported.variation, reported.locale`;
}
