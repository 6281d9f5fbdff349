import { windowHoursOf } from '../../domain/campaigns/conversions.ts';
import type { AttributionType, MessageBefore, ConversionGoal } from '../../domain/campaigns/conversions.ts';
import type { Platform } from '../../domain/content/content.ts';
import { controlGroups } from '../../domain/experiments/control-groups.ts';
import type { ControlGroup } from '../../domain/experiments/control-groups.ts';
import { localeName } from '../../domain/experiments/variants.ts';
import type { LearningMeasure } from '../../domain/experiments/variants.ts';
import { maxConversionWindowHours, maxTtlMinutes } from '../../domain/limits/campaigns.ts';
import type { Queryable, Fragment } from '../database.ts';
import type { TakenEvent } from '../users/events.ts';
import { ledgerLocale, ledgerVariation, platformWord } from './ledger-encoding.ts';

type OfMessage =
  'eventId' | 'workspaceId' | 'bucket' | 'userId' | 'occurredAt' | 'campaignId' | 'runId' | 'platform' | 'reach';

/** An event that counts towards a goal of a campaign, attributed to one of its messages. */
export type Conversion = Pick<MessageOfEvent, OfMessage | 'variation' | 'locale' | 'learnsBy'> & {
  attribution: AttributionType;
  /** Index in the campaign's goals. */
  goal: number;
  /** Revenue of the event; null if unknown. */
  revenue: number | null;
};

/**
 * Inserts conversions in one statement; existing ones stay as they are. Inserts rows in key order, so that two
 * transactions never deadlock. Index: primary key.
 */
export async function insertConversions(tx: Queryable, conversions: Conversion[]): Promise<void> {
  if (conversions.length === 0) return;
  await tx`
    insert into conversions (
      workspace_id, bucket, campaign_id, goal, event_id, attribution, user_id, run_id, platform, reach, variation,
      locale, occurred_at, revenue
    )
    select workspace_id, bucket, campaign_id, goal, event_id, attribution, user_id, run_id, platform, reach, variation,
      locale, occurred_at, revenue
    from unnest(
      ${conversions.map((row) => row.workspaceId)}::text[], ${conversions.map((row) => row.bucket)}::smallint[],
      ${conversions.map((row) => row.campaignId)}::text[], ${conversions.map((row) => row.goal)}::smallint[],
      ${conversions.map((row) => row.eventId)}::text[], ${conversions.map((row) => row.attribution)}::text[],
      ${conversions.map((row) => row.userId)}::text[],
      ${conversions.map((row) => row.runId)}::text[], ${conversions.map((row) => row.platform)}::text[],
      ${conversions.map((row) => row.reach)}::text[], ${conversions.map((row) => row.variation)}::smallint[],
      ${conversions.map((row) => row.locale)}::text[],
      ${conversions.map((row) => row.occurredAt.toISOString())}::timestamptz[],
      ${conversions.map((row) => row.revenue)}::numeric[]
    ) as conversion (
      workspace_id, bucket, campaign_id, goal, event_id, attribution, user_id, run_id, platform, reach, variation,
      locale, occurred_at, revenue
    )
    order by workspace_id collate "C", bucket, campaign_id collate "C", goal, event_id collate "C", attribution
    on conflict (workspace_id, bucket, campaign_id, goal, event_id, attribution) do nothing`;
}

export type ConvertedUser = Pick<Conversion, 'workspaceId' | 'bucket' | 'campaignId' | 'goal' | 'runId' | 'userId'>;

/**
 * Returns the conversions whose user has already fulfilled the goal in the same run, one per user, run and goal.
 * Index: conversions_campaign.
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
      and conversions.user_id = given.user_id collate "C" and conversions.attribution = 'TOTAL_CONVERSIONS'`;
}

/** An event, and an earlier message to its user from a campaign that has a goal with the event's name. */
export type MessageOfEvent = MessageBefore & {
  eventId: string;
  workspaceId: string;
  bucket: number;
  userId: string;
  name: string;
  attributes: Record<string, unknown>;
  occurredAt: Date;
  campaignId: string;
  goals: ConversionGoal[];
  runId: string;
  platform: Platform;
  /** Null: a provider accepted the message. Other values occur only in runs with control groups. */
  reach: ControlGroup | 'NOT_REACHED' | null;
  /** Null if there is only one variation. */
  variation: number | null;
  locale: string | null;
  /** The run's measure. */
  learnsBy: LearningMeasure | null;
};

/** A message may be shown up to this long after it was sent. */
const lifeHours = maxTtlMinutes / 60;

/**
 * Returns the messages that campaigns may attribute each event to: those sent, shown or clicked within the campaign's
 * window before the event, the newest first for each event and campaign. In a run with control groups, all users in the
 * audience count, whatever the outcome of their message, because the groups can be compared only as they were drawn. A
 * run may have been created days before it sent. So the statement reads the ledger days of the runs that were active in
 * that time, and only the reports of messages found there. Indexes: events primary key, primary key of the runs' days,
 * device_interactions primary key.
 */
export async function findMessagesOfEvents(tx: Queryable, taken: TakenEvent[]): Promise<MessageOfEvent[]> {
  const eventDays = [...new Set(taken.map(({ day }) => day))];
  const runs = await listReachingRuns(tx, await listEventSpans(tx, { taken, eventDays }));
  if (runs.length === 0) return [];
  const runOf = new Map(runs.map((run) => [run.id, run]));
  const runDays = [...new Set(runs.map(({ day }) => day))];
  const opensAt = tx`events.occurred_at - run.window_hours * interval '1 hour'`;
  const rows = await tx<FoundMessage[]>`
    select events.id as "eventId", events.workspace_id as "workspaceId", events.bucket, events.user_id as "userId",
      events.name, events.attributes, events.occurred_at as "occurredAt", run.id as "runId",
      ${platformWord(tx, tx`deliveries.platform`)} as platform, deliveries.sent_at as "sentAt",
      deliveries.outcome = 'A' as "isAccepted",
      case when deliveries.outcome = 'A' then null
        when deliveries.outcome = 'H' and deliveries.code = any(${[...controlGroups]}) then deliveries.code
        else 'NOT_REACHED' end as reach, ${ledgerVariation(tx)} as variation, ${ledgerLocale(tx)} as "localeNumber",
      viewed.first_at as "viewedAt", clicked.first_at as "clickedAt"
    from ${takenOf(tx, taken)}
    join events on events.day = any(${eventDays}::date[]) and events.day = taken.day
      and events.workspace_id = taken.workspace_id collate "C" and events.bucket = taken.bucket
      and events.id = taken.event_id collate "C"
    join deliveries on deliveries.day = any(${runDays}::date[]) and deliveries.bucket = events.bucket
      and deliveries.user_id = decode(events.user_id, 'hex')
      and deliveries.sent_at between
        events.occurred_at - ${lifeHours + maxConversionWindowHours}::int * interval '1 hour' and events.occurred_at
    join unnest(
      ${runs.map(({ id }) => id)}::text[], ${runs.map(({ number }) => number)}::bigint[],
      ${runs.map(({ campaignId }) => campaignId)}::text[], ${runs.map(({ hasGroups }) => hasGroups)}::boolean[],
      ${runs.map(({ goals }) => windowHoursOf(goals))}::int[]
    ) as run (id, number, campaign_id, has_groups, window_hours) on run.number = deliveries.run_number
      and (deliveries.outcome = 'A' or run.has_groups)
    left join device_interactions as viewed on ${isReportOf(tx, { alias: tx`viewed`, kind: 'IMPRESSION' })}
    left join device_interactions as clicked on ${isReportOf(tx, { alias: tx`clicked`, kind: 'CLICK' })}
    where deliveries.sent_at >= ${opensAt} or viewed.first_at >= ${opensAt} or clicked.first_at >= ${opensAt}
    order by events.id, run.campaign_id, deliveries.sent_at desc, deliveries.run_number desc, deliveries.device_id`;
  return rows
    .map(({ localeNumber, ...message }) => {
      const { campaignId, goals, locales, learnsBy } = runOf.get(message.runId)!;
      const locale = localeNumber === null ? null : localeName(locales ?? undefined, { locale: localeNumber });
      return { ...message, campaignId, goals, locale, learnsBy };
    })
    .filter(({ goals, name }) => goals.some(({ eventName }) => eventName === name));
}

type FoundMessage = Omit<MessageOfEvent, 'campaignId' | 'goals' | 'locale' | 'learnsBy'> & {
  localeNumber: number | null;
};

/** Matches a report that the message's device sent before the event. */
const isReportOf = (tx: Queryable, { alias, kind }: { alias: Fragment; kind: 'IMPRESSION' | 'CLICK' }): Fragment => tx`
  deliveries.outcome = 'A' and ${alias}.workspace_id = events.workspace_id and ${alias}.bucket = deliveries.bucket
    and ${alias}.campaign_id = run.campaign_id collate "C"
    and ${alias}.device_id = encode(deliveries.device_id, 'hex') collate "C" and ${alias}.kind = ${kind}
    and ${alias}.run_id = run.id collate "C" and ${alias}.first_at <= events.occurred_at`;

const takenOf = (tx: Queryable, taken: TakenEvent[]): Fragment => tx`
  unnest(
    ${taken.map((event) => event.day)}::date[], ${taken.map((event) => event.workspaceId)}::text[],
    ${taken.map((event) => event.bucket)}::smallint[], ${taken.map((event) => event.eventId)}::text[]
  ) as taken (day, workspace_id, bucket, event_id)`;

/** The time span and the names of a workspace's events. */
type EventSpan = { workspaceId: string; opensAt: Date; closesAt: Date; names: string[] };

/** Returns one row per workspace. Index: events primary key. */
async function listEventSpans(
  tx: Queryable,
  { taken, eventDays }: { taken: TakenEvent[]; eventDays: string[] },
): Promise<EventSpan[]> {
  return tx<EventSpan[]>`
    select events.workspace_id as "workspaceId", min(events.occurred_at) as "opensAt",
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
 * Lists the runs whose messages could be shown within their campaign's window before these times, for campaigns with a
 * goal of one of these names. Adds an hour at both ends: node clocks differ slightly, and a window in flight when its
 * run was stopped is stored minutes later. Indexes: campaigns_with_goals, runs_campaign.
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
          and (
            runs.ended_at is null or runs.ended_at >= ${opensAt}::timestamptz
              - (${lifeHours + 1}::int + ${maxConversionWindowHours}::int) * interval '1 hour'
          )`),
    );
  return found;
}

/** A click and a later event of the same user. */
export type ClickBefore = {
  workspaceId: string;
  bucket: number;
  userId: string;
  clickedAt: Date;
  occurredAt: Date;
};

/**
 * Returns, for each click in order, the user's longest idle time in seconds between the click and the event. An event
 * is stored in the day of its receipt, which is the day of its time or later, so every day up to today is searched.
 * Index: events_user of the days.
 */
export async function measureIdleSeconds(tx: Queryable, clicks: readonly ClickBefore[]): Promise<number[]> {
  if (clicks.length === 0) return [];
  const first = new Date(Math.min(...clicks.map(({ clickedAt }) => clickedAt.getTime())));
  const rows = await tx<{ nth: number; idleSeconds: number }[]>`
    select nth, max(idle)::float8 as "idleSeconds"
    from (
      select click.nth, extract(epoch from events.occurred_at - lag(events.occurred_at, 1, click.clicked_at)
        over (partition by click.nth order by events.occurred_at)) as idle
      from unnest(
        ${clicks.map(({ workspaceId }) => workspaceId)}::text[], ${clicks.map(({ bucket }) => bucket)}::smallint[],
        ${clicks.map(({ userId }) => userId)}::text[],
        ${clicks.map(({ clickedAt }) => clickedAt.toISOString())}::timestamptz[],
        ${clicks.map(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[]
      ) with ordinality as click (workspace_id, bucket, user_id, clicked_at, occurred_at, nth)
      join events on events.day >= ${first.toISOString().slice(0, 10)}::date
        and events.workspace_id = click.workspace_id collate "C" and events.bucket = click.bucket
        and events.user_id = click.user_id collate "C"
        and events.occurred_at between click.clicked_at and click.occurred_at
    ) as gaps
    group by nth`;
  const idleOf = new Map(rows.map(({ nth, idleSeconds }) => [nth, idleSeconds]));
  return clicks.map((_, index) => idleOf.get(index + 1) ?? Number.POSITIVE_INFINITY);
}
