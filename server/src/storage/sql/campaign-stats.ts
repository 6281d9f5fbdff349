import type { Platform } from '../../domain/campaign/content.ts';
import type { ConversionGoal } from '../../domain/campaign/conversion-goal.ts';
import type { Queryable } from '../pool.ts';
import type { DeliveryOutcome } from './deliveries.ts';

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

/** Why deliveries failed, in the provider's words, or were withheld. Indexes: runs_campaign, deliveries_failed of each run's day. */
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

/** Conversions that the runs brought, whenever they happened, and how many users these were. Index: conversions_campaign. */
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
    select campaign_id as "campaignId", platform, kind, total, unique_devices as "uniqueDevices"
    from campaign_interactions
    where workspace_id = ${workspaceId} and campaign_id = any(${campaignIds})`;
}
