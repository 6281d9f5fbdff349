import type { Platform } from '../../domain/campaigns/content.ts';
import type { ConversionGoal } from '../../domain/campaigns/conversion-goal.ts';
import { controlGroups } from '../../domain/experiments/control-groups.ts';
import type { ControlGroup } from '../../domain/experiments/control-groups.ts';
import { localeName } from '../../domain/experiments/variants.ts';
import type { LearningMeasure } from '../../domain/experiments/variants.ts';
import type { Fragment, Queryable } from '../database.ts';
import type { TakenEvent } from '../users/events.ts';
import { ledgerLocale, ledgerVariation, platformWord } from './ledger-words.ts';

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
  /** Of its run. */
  learnsBy: LearningMeasure | null;
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
  const reached = await tx<(Omit<ReachedEvent, 'goals' | 'locale' | 'learnsBy'> & { localeNumber: number | null })[]>`
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
      const { locales, learnsBy } = runs.find(({ id }) => id === event.runId)!;
      const locale = localeNumber === null ? null : localeName(locales ?? undefined, { locale: localeNumber });
      return { ...event, locale, learnsBy, goals: goalsOf.get(event.campaignId)! };
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
  learnsBy: LearningMeasure | null;
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
          runs.group_users is not null as "hasGroups", runs.locales,
          runs.learns_by as "learnsBy"
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

export type ConvertedUser = Pick<Conversion, 'workspaceId' | 'bucket' | 'campaignId' | 'goal' | 'runId' | 'userId'>;

/**
 * Those of the conversions whose user fulfilled the goal before, in the same run: each a user, a run and a goal. Index:
 * conversions_campaign.
 */
export async function findConvertedUsers(
  tx: Queryable,
  conversions: readonly ConvertedUser[],
): Promise<ConvertedUser[]> {
  if (conversions.length === 0) return [];
  return tx<ConvertedUser[]>`
    select distinct conversions.workspace_id as "workspaceId", conversions.bucket, conversions.campaign_id as "campaignId",
      conversions.goal, conversions.run_id as "runId", conversions.user_id as "userId"
    from unnest(
      ${conversions.map((row) => row.workspaceId)}::text[], ${conversions.map((row) => row.bucket)}::smallint[],
      ${conversions.map((row) => row.campaignId)}::text[], ${conversions.map((row) => row.goal)}::smallint[],
      ${conversions.map((row) => row.runId)}::text[], ${conversions.map((row) => row.userId)}::text[]
    ) as given (workspace_id, bucket, campaign_id, goal, run_id, user_id)
    join conversions on conversions.workspace_id = given.workspace_id collate "C"
      and conversions.bucket = given.bucket and conversions.campaign_id = given.campaign_id collate "C"
      and conversions.goal = given.goal and conversions.run_id = given.run_id collate "C"
      and conversions.user_id = given.user_id collate "C"`;
}
