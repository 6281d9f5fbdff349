import type { Platform } from '../../domain/campaigns/content.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversion-goal.ts';
import { controlGroups } from '../../domain/experiments/control-groups.ts';
import type { ControlGroup } from '../../domain/experiments/control-groups.ts';
import { localeName } from '../../domain/experiments/variants.ts';
import type { StoredInteractionKind } from '../../domain/interactions/interaction.ts';
import type { CountedReports, FigureGain, ReportedVariant } from '../../domain/interactions/select-new-reports.ts';
import type { Fragment, Queryable, Transaction } from '../database.ts';
import type { TakenEvent } from '../users/events.ts';
import { ledgerLocale, ledgerVariation, platformWord } from './ledger-words.ts';

/** A report of a device about a message, ready to be counted. */
export type DeviceReport = {
  workspaceId: string;
  bucket: number;
  campaignId: string;
  deviceId: string;
  kind: StoredInteractionKind;
  runId: string;
  platform: Platform;
  action: string | null;
  /** Tells a report from a repeat of it. */
  digest: Buffer;
} & ReportedVariant;

export type ReportedRun = { id: string; workspaceId: string; campaignId: string; locales: string[] | null };

/**
 * The campaigns of runs that devices report about. Not of those that began before `since`: earlier reports about them may
 * be deleted, so that a repeat could not be told. Index: runs primary key.
 */
export async function findReportedRuns(
  tx: Queryable,
  { ids, since }: { ids: readonly string[]; since: Date },
): Promise<ReportedRun[]> {
  return tx<ReportedRun[]>`
    select id, workspace_id as "workspaceId", campaign_id as "campaignId", locales from runs
    where id = any(${[...ids]}) and coalesce(started_at, created_at) >= ${since}`;
}

// More would not make fewer wait, and locks are few in PostgreSQL: all nodes together hold at most as many.
const reportLocks = 1_024;

/**
 * Lets one transaction at a time count what devices of a bucket report of a campaign, so that what it reads in statements
 * of its own is all that was counted before. In one order everywhere, so that two batches never wait in a circle. Others of
 * the campaign are counted meanwhile, and nothing else waits for these locks. They end with the transaction.
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
 * What was counted of the devices that report, in every run of these campaigns. The caller holds them. Index:
 * device_interactions primary key.
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
 * Adds reports that were not counted yet to the rows of their devices; of the actions the newest that was named stands. The
 * caller holds them. Rows in the order of the key. Index: primary key.
 */
export async function addDeviceReports(
  tx: Transaction,
  { reports, at }: { reports: readonly DeviceReport[]; at: Date },
): Promise<void> {
  await tx`
    insert into device_interactions (
      workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, report_digests, count, first_at
    )
    select workspace_id collate "C", bucket, campaign_id collate "C", device_id collate "C", kind, run_id collate "C",
      min(platform), (array_agg(action order by nth desc) filter (where action is not null))[1],
      array_agg(decode(digest, 'hex') order by nth), count(*)::integer, ${at}
    from unnest(
      ${reports.map((report) => report.workspaceId)}::text[], ${reports.map((report) => report.bucket)}::smallint[],
      ${reports.map((report) => report.campaignId)}::text[], ${reports.map((report) => report.deviceId)}::text[],
      ${reports.map((report) => report.kind)}::text[], ${reports.map((report) => report.runId)}::text[],
      ${reports.map((report) => report.platform)}::text[], ${reports.map((report) => report.action)}::text[],
      ${reports.map((report) => report.digest.toString('hex'))}::text[]
    ) with ordinality as given (
      workspace_id, bucket, campaign_id, device_id, kind, run_id, platform, action, digest, nth
    )
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict (workspace_id, bucket, campaign_id, device_id, kind, run_id) do update
    set report_digests = device_interactions.report_digests || excluded.report_digests,
      count = device_interactions.count + excluded.count,
      action = coalesce(excluded.action, device_interactions.action)`;
}

/**
 * Adds to the figures of campaigns, one row a bucket, platform, kind and content, in the transaction that counts the reports. Rows
 * in the order of the key. Index: primary key.
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

export type CampaignInteractions = {
  platform: Platform;
  kind: StoredInteractionKind;
  total: number;
  uniqueDevices: number;
};

/** The figures of a campaign, over its buckets: at most 2,304 rows. Index: primary key. */
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

/** An event, and a campaign that reached its user in time and counts events of this name. */
export type ReachedEvent = {
  eventId: string;
  workspaceId: string;
  bucket: number;
  userId: string;
  name: string;
  attributes: Record<string, unknown>;
  occurredAt: Date;
  campaignId: string;
  goals: ConversionGoal[];
  /** Of the newest accepted delivery. */
  runId: string;
  platform: Platform;
  /** Null: a provider accepted the message. Others are told of runs with control groups only. */
  reach: ControlGroup | 'NOT_REACHED' | null;
  /** Null where there is one for all. */
  variation: number | null;
  locale: string | null;
};

/**
 * The campaigns that may claim each event: those whose message a provider accepted for the user at most `windowHours`
 * before it. One row per event and campaign, with the newest of these deliveries. In a run with control groups whoever was in its
 * audience counts, by how the message ended: the two sides can only be compared whole, as they were drawn. A run may have been made days before it
 * sent; of the ledger the days of the runs that were under way in that time are looked into. Indexes: events primary key,
 * primary key of the runs' days.
 */
export async function findReachedEvents(
  tx: Queryable,
  { taken, windowHours }: { taken: TakenEvent[]; windowHours: number },
): Promise<ReachedEvent[]> {
  const eventDays = [...new Set(taken.map(({ day }) => day))];
  const runs = await listReachingRuns(tx, await listEventSpans(tx, { taken, eventDays, windowHours }));
  if (runs.length === 0) return [];
  const goalsOf = new Map(runs.map(({ campaignId, goals }) => [campaignId, goals]));
  const runDays = [...new Set(runs.map(({ day }) => day))];
  const reached = await tx<(Omit<ReachedEvent, 'goals' | 'locale'> & { localeNumber: number | null })[]>`
    select distinct on (events.id, run.campaign_id)
      events.id as "eventId", events.workspace_id as "workspaceId", events.bucket, events.user_id as "userId",
      events.name, events.attributes, events.occurred_at as "occurredAt", run.campaign_id as "campaignId",
      run.id as "runId", ${platformWord(tx, tx`deliveries.platform`)} as platform,
      case when deliveries.outcome = 'A' then null
        when deliveries.outcome = 'H' and deliveries.code = any(${[...controlGroups]}) then deliveries.code
        else 'NOT_REACHED' end as reach, ${ledgerVariation(tx)} as variation, ${ledgerLocale(tx)} as "localeNumber"
    from ${takenOf(tx, taken)}
    join events on events.day = any(${eventDays}::date[]) and events.day = taken.day
      and events.workspace_id = taken.workspace_id collate "C" and events.bucket = taken.bucket
      and events.id = taken.event_id collate "C"
    join deliveries on deliveries.day = any(${runDays}::date[]) and deliveries.bucket = events.bucket
      and deliveries.user_id = decode(events.user_id, 'hex')
      and deliveries.sent_at between events.occurred_at - ${windowHours}::int * interval '1 hour' and events.occurred_at
    join unnest(
      ${runs.map(({ id }) => id)}::text[], ${runs.map(({ number }) => number)}::bigint[],
      ${runs.map(({ campaignId }) => campaignId)}::text[], ${runs.map(({ hasGroups }) => hasGroups)}::boolean[]
    ) as run (id, number, campaign_id, has_groups) on run.number = deliveries.run_number
      and (deliveries.outcome = 'A' or run.has_groups)
    order by events.id, run.campaign_id, (deliveries.outcome = 'A') desc, deliveries.sent_at desc, deliveries.run_number desc, deliveries.device_id`;
  return reached
    .map(({ localeNumber, ...event }) => {
      const { locales } = runs.find(({ id }) => id === event.runId)!;
      const locale = localeNumber === null ? null : localeName(locales ?? undefined, { locale: localeNumber });
      return { ...event, locale, goals: goalsOf.get(event.campaignId)! };
    })
    .filter(({ goals, name }) => goals.some(({ eventName }) => eventName === name));
}

const takenOf = (tx: Queryable, taken: TakenEvent[]): Fragment => tx`
  unnest(
    ${taken.map((event) => event.day)}::date[], ${taken.map((event) => event.workspaceId)}::text[],
    ${taken.map((event) => event.bucket)}::smallint[], ${taken.map((event) => event.eventId)}::text[]
  ) as taken (day, workspace_id, bucket, event_id)`;

/** In what time a message may have reached the users of events before these, and the names of the events. */
type EventSpan = { workspaceId: string; opensAt: Date; closesAt: Date; names: string[] };

/** One row a workspace. Index: events primary key. */
async function listEventSpans(
  tx: Queryable,
  { taken, eventDays, windowHours }: { taken: TakenEvent[]; eventDays: string[]; windowHours: number },
): Promise<EventSpan[]> {
  return tx<EventSpan[]>`
    select events.workspace_id as "workspaceId",
      min(events.occurred_at) - ${windowHours}::int * interval '1 hour' as "opensAt",
      max(events.occurred_at) as "closesAt", array_agg(distinct events.name) as names
    from ${takenOf(tx, taken)}
    join events on events.day = any(${eventDays}::date[]) and events.day = taken.day
      and events.workspace_id = taken.workspace_id collate "C" and events.bucket = taken.bucket
      and events.id = taken.event_id collate "C"
    group by events.workspace_id`;
}

type ReachingRun = {
  id: string;
  number: number;
  day: string;
  campaignId: string;
  goals: ConversionGoal[];
  hasGroups: boolean;
  locales: string[] | null;
};

/**
 * Runs that were under way in these times, of campaigns with a goal of these names. Nodes' clocks differ a little, and a
 * window that was on its way when its run was stopped is stored minutes later: an hour is added at both ends. Indexes:
 * campaigns_with_goals, runs_campaign.
 */
async function listReachingRuns(tx: Queryable, spans: EventSpan[]): Promise<ReachingRun[]> {
  const found: ReachingRun[] = [];
  for (const { workspaceId, opensAt, closesAt, names } of spans)
    found.push(
      ...(await tx<ReachingRun[]>`
        select runs.id, runs.number, runs.day::text as day, campaigns.id as "campaignId", campaigns.conversion_goals as goals,
          runs.group_users is not null as "hasGroups", runs.locales
        from campaigns join runs on runs.campaign_id = campaigns.id
        where campaigns.workspace_id = ${workspaceId} and campaigns.conversion_goals <> '[]'
          and exists (
            select 1 from jsonb_array_elements(campaigns.conversion_goals) as goal where goal ->> 'eventName' = any(${names})
          )
          and runs.started_at <= ${closesAt}::timestamptz + interval '1 hour'
          and (runs.ended_at is null or runs.ended_at >= ${opensAt}::timestamptz - interval '1 hour')`),
    );
  return found;
}

export type Conversion = Omit<ReachedEvent, 'name' | 'attributes' | 'goals'> & {
  /** Its place in the campaign's goals. */
  goal: number;
};

/**
 * Inserts conversions, in one statement; one that is there already stays as it is. Rows in the order of the key, so that
 * two transactions never wait in a circle. Index: primary key.
 */
export async function insertConversions(tx: Queryable, conversions: Conversion[]): Promise<void> {
  if (conversions.length === 0) return;
  await tx`
    insert into conversions (
      workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, reach, variation, locale,
      occurred_at
    )
    select workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, reach, variation, locale,
      occurred_at
    from unnest(
      ${conversions.map((row) => row.workspaceId)}::text[], ${conversions.map((row) => row.bucket)}::smallint[],
      ${conversions.map((row) => row.campaignId)}::text[], ${conversions.map((row) => row.goal)}::smallint[],
      ${conversions.map((row) => row.eventId)}::text[], ${conversions.map((row) => row.userId)}::text[],
      ${conversions.map((row) => row.runId)}::text[], ${conversions.map((row) => row.platform)}::text[],
      ${conversions.map((row) => row.reach)}::text[], ${conversions.map((row) => row.variation)}::smallint[],
      ${conversions.map((row) => row.locale)}::text[],
      ${conversions.map((row) => row.occurredAt.toISOString())}::timestamptz[]
    ) as conversion (
      workspace_id, bucket, campaign_id, goal, event_id, user_id, run_id, platform, reach, variation, locale, occurred_at
    )
    order by workspace_id collate "C", bucket, campaign_id collate "C", goal, event_id collate "C"
    on conflict (workspace_id, bucket, campaign_id, goal, event_id) do nothing`;
}
