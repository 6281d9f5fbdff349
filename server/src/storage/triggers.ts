import type { DropReason, ToldTrigger } from '../domain/events/triggers.ts';
import type { UserKey } from '../domain/users/users.ts';
import type { Queryable, Transaction } from './database.ts';
import { utcDay } from './runs/runs.ts';
import { isInAudience } from './segments/segment-filters.ts';
import type { FilterAudience } from './segments/segment-filters.ts';
import { isGivenBucket, isInBuckets } from './users/buckets.ts';

/** The key of a trigger: an event that is sent twice is one trigger. */
export type TriggerKey = UserKey & { workspaceId: string; campaignId: string; eventName: string; occurredAt: Date };

export type NewTrigger = Omit<TriggerKey, 'workspaceId'> & {
  attributes: Record<string, unknown>;
  due: { at: Date } | { reason: DropReason };
};

/** Inserts triggers in one statement; existing ones stay as they are. Index: primary key. */
export async function insertTriggers(
  tx: Queryable,
  { workspaceId, receivedAt, triggers }: { workspaceId: string; receivedAt: Date; triggers: readonly NewTrigger[] },
): Promise<void> {
  if (triggers.length === 0) return;
  await tx`
    insert into triggers (
      workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes, due_at, state, reason,
      ended_at
    )
    select ${workspaceId}, given.bucket, given.user_id, given.campaign_id, given.event_name, given.occurred_at,
      ${receivedAt}::timestamptz, given.attributes::jsonb, given.due_at,
      case when given.reason is null then 'WAITING' else 'DROPPED' end, given.reason,
      case when given.reason is not null then ${receivedAt}::timestamptz end
    from unnest(
      ${triggers.map(({ bucket }) => bucket)}::smallint[], ${triggers.map(({ userId }) => userId)}::text[],
      ${triggers.map(({ campaignId }) => campaignId)}::text[], ${triggers.map(({ eventName }) => eventName)}::text[],
      ${triggers.map(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[],
      ${triggers.map(({ attributes }) => JSON.stringify(attributes))}::text[],
      ${triggers.map(({ due }) => ('at' in due ? due.at.toISOString() : null))}::timestamptz[],
      ${triggers.map(({ due }) => ('reason' in due ? due.reason : null))}::text[]
    ) as given (bucket, user_id, campaign_id, event_name, occurred_at, attributes, due_at, reason)
    order by given.bucket, given.user_id collate "C", given.campaign_id collate "C", given.event_name collate "C",
      given.occurred_at
    on conflict (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at) do nothing`;
}

/** Makes this transaction the only one that releases triggers, until it ends. @returns false when another one is releasing */
export async function tryHoldRelease(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ isHeld: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended('release-triggers', 0)) as "isHeld"`;
  return row!.isHeld;
}

export type DueTrigger = TriggerKey & { dueAt: Date };

/** The triggers of all campaigns but these, or of one. */
export type TriggersOf = { except: readonly string[] } | { only: string };

/**
 * Lists triggers that are due, longest overdue first. Locks nothing: tryHoldRelease excludes other nodes. Index:
 * triggers_due.
 */
export async function listDueTriggers(
  tx: Queryable,
  { at, of, limit }: { at: Date; of: TriggersOf; limit: number },
): Promise<DueTrigger[]> {
  const isMeant = 'only' in of ? tx`campaign_id = ${of.only}` : tx`campaign_id <> all (${[...of.except]})`;
  return tx<DueTrigger[]>`
    select workspace_id as "workspaceId", bucket, user_id as "userId", campaign_id as "campaignId",
      event_name as "eventName", occurred_at as "occurredAt", due_at as "dueAt"
    from triggers where state = 'WAITING' and due_at <= ${at} and ${isMeant}
    order by due_at
    limit ${limit}`;
}

/** The result for a due trigger: part of a run, dropped, or held while its campaign is paused. */
export type Settlement = { trigger: TriggerKey } & (
  { state: 'SENT'; runId: string } | { state: 'DROPPED'; reason: DropReason } | { state: 'HELD' }
);

/**
 * WAITING → the state of its settlement, in one statement. A trigger that was moved or erased meanwhile is skipped.
 * Index: primary key.
 *
 * @returns the runs of those that are now part of one
 */
export async function settleTriggers(
  tx: Queryable,
  { settlements, at }: { settlements: readonly Settlement[]; at: Date },
): Promise<string[]> {
  if (settlements.length === 0) return [];
  const keys = settlements.map(({ trigger }) => trigger);
  const rows = await tx<{ runId: string | null }[]>`
    update triggers
    set state = given.state, reason = given.reason, run_id = given.run_id,
      ended_at = case when given.state <> 'HELD' then ${at}::timestamptz end
    from unnest(
      ${keys.map(({ workspaceId }) => workspaceId)}::text[], ${keys.map(({ bucket }) => bucket)}::smallint[],
      ${keys.map(({ userId }) => userId)}::text[], ${keys.map(({ campaignId }) => campaignId)}::text[],
      ${keys.map(({ eventName }) => eventName)}::text[],
      ${keys.map(({ occurredAt }) => occurredAt.toISOString())}::timestamptz[],
      ${settlements.map(({ state }) => state)}::text[],
      ${settlements.map((one) => (one.state === 'DROPPED' ? one.reason : null))}::text[],
      ${settlements.map((one) => (one.state === 'SENT' ? one.runId : null))}::text[]
    ) as given (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, state, reason, run_id)
    where triggers.workspace_id = given.workspace_id collate "C" and triggers.bucket = given.bucket
      and triggers.user_id = given.user_id collate "C" and triggers.campaign_id = given.campaign_id collate "C"
      and triggers.event_name = given.event_name collate "C" and triggers.occurred_at = given.occurred_at
      and triggers.state = 'WAITING'
    returning triggers.run_id as "runId"`;
  return [...new Set(rows.flatMap(({ runId }) => runId ?? []))];
}

/** HELD → WAITING: the campaign continues, or is over. Index: triggers_held. */
export async function freeHeldTriggers(tx: Queryable, campaignId: string): Promise<void> {
  await tx`update triggers set state = 'WAITING' where campaign_id = ${campaignId} and state = 'HELD'`;
}

/** Deletes triggers that ended before `before`, oldest first. Index: triggers_ended. */
export async function deleteOldTriggers(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    delete from triggers
    where (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at) in (
      select workspace_id, bucket, user_id, campaign_id, event_name, occurred_at from triggers
      where ended_at < ${before} order by ended_at limit ${limit}
    )`;
  return rows.count;
}

/** The events that trigger a campaign. `condition` is that part of its record, as it was sent. */
export type NewCondition = {
  /** The same in all versions of the campaign. */
  campaignId: string;
  workspaceId: string;
  versionId: string;
  eventNames: readonly string[];
  condition: unknown;
  /** Events received earlier trigger nothing. */
  liveSince: Date;
};

/**
 * Stores the events that trigger a campaign. A newer version replaces the previous one, and `live_since` stays. Index:
 * primary key.
 */
export async function storeTriggerCondition(tx: Queryable, condition: NewCondition): Promise<void> {
  await tx`
    insert into trigger_conditions (campaign_id, workspace_id, version_id, event_names, condition, live_since)
    values (${condition.campaignId}, ${condition.workspaceId}, ${condition.versionId}, ${[...condition.eventNames]},
      ${tx.json(condition.condition)}, ${condition.liveSince})
    on conflict (campaign_id) do update
      set version_id = excluded.version_id, event_names = excluded.event_names, condition = excluded.condition`;
}

/** Starts listening again after a pause: events received meanwhile trigger nothing. Index: trigger_conditions_version. */
export async function listenSince(tx: Queryable, { versionId, at }: { versionId: string; at: Date }): Promise<void> {
  await tx`
    update trigger_conditions set live_since = greatest(live_since, ${at}) where version_id = ${versionId}`;
}

export type ListeningCampaign = { campaignId: string; condition: Record<string, unknown> };

/**
 * Lists the live campaigns that events of these names, received at `at`, trigger. Index: trigger_conditions_workspace,
 * campaigns primary key.
 */
export async function listListeningCampaigns(
  tx: Queryable,
  { workspaceId, eventNames, at }: { workspaceId: string; eventNames: readonly string[]; at: Date },
): Promise<ListeningCampaign[]> {
  return tx<ListeningCampaign[]>`
    select trigger_conditions.campaign_id as "campaignId", trigger_conditions.condition
    from trigger_conditions
    join campaigns on campaigns.id = trigger_conditions.version_id
    where trigger_conditions.workspace_id = ${workspaceId} and trigger_conditions.event_names && ${[...eventNames]}::text[]
      and trigger_conditions.live_since <= ${at}
      and campaigns.status = 'ACTIVE' and (campaigns.next_at is null or campaigns.next_at > ${at})`;
}

/** A campaign with due triggers, by the version that sends now. */
export type TriggeredCampaign = {
  campaignId: string;
  workspaceId: string;
  versionId: string;
  status: string;
  segmentId: string | null;
  settings: Record<string, unknown>;
  condition: Record<string, unknown>;
};

/**
 * Share-locks campaigns, so that none is stopped, paused or revised before the caller's transaction has created their
 * runs. Rows in id order. Indexes: primary keys.
 */
export async function lockTriggeredCampaigns(
  tx: Queryable,
  campaignIds: readonly string[],
): Promise<TriggeredCampaign[]> {
  return tx<TriggeredCampaign[]>`
    select trigger_conditions.campaign_id as "campaignId", trigger_conditions.workspace_id as "workspaceId",
      campaigns.id as "versionId", campaigns.status, campaigns.segment_id as "segmentId", campaigns.settings,
      trigger_conditions.condition
    from trigger_conditions
    join campaigns on campaigns.id = trigger_conditions.version_id
    where trigger_conditions.campaign_id = any(${[...campaignIds]})
    order by campaigns.id
    for share`;
}

/** A user and a time span: `after` is exclusive, `until` inclusive. */
export type WatchedSpan = UserKey & { after: Date; until: Date };

export type SpanEvent = UserKey & { name: string; attributes: Record<string, unknown>; occurredAt: Date };

/**
 * Lists the users' events with these names, each user's within its span. Reads the days since the first span. Index:
 * events_user of each day.
 */
export async function listSpanEvents(
  tx: Queryable,
  { workspaceId, spans, names }: { workspaceId: string; spans: readonly WatchedSpan[]; names: readonly string[] },
): Promise<SpanEvent[]> {
  if (spans.length === 0) return [];
  const inBucket = isGivenBucket(tx, { column: tx`events.bucket`, given: tx`span.bucket`, rows: spans });
  const first = new Date(Math.min(...spans.map(({ after }) => after.getTime())));
  return tx<SpanEvent[]>`
    select events.bucket, events.user_id as "userId", events.name, events.attributes, events.occurred_at as "occurredAt"
    from unnest(
      ${spans.map(({ bucket }) => bucket)}::smallint[], ${spans.map(({ userId }) => userId)}::text[],
      ${spans.map(({ after }) => after.toISOString())}::timestamptz[],
      ${spans.map(({ until }) => until.toISOString())}::timestamptz[]
    ) as span (bucket, user_id, after, until)
    join events on events.workspace_id = ${workspaceId} and ${inBucket} and events.user_id = span.user_id collate "C"
      and events.occurred_at > span.after and events.occurred_at <= span.until
    where events.day >= ${utcDay(first)}::date and events.name = any(${[...names]}::text[])`;
}

/** Returns the given users that are in an audience now. Index: users primary key, one look-up per user. */
export async function keepAudienceUsers(
  tx: Queryable,
  { users, audience }: { users: readonly UserKey[]; audience: FilterAudience },
): Promise<UserKey[]> {
  return tx<UserKey[]>`
    select users.bucket, users.id as "userId" from users
    where ${isInAudience(tx, audience)}
      and ${isInBuckets(tx, { column: tx`users.bucket`, buckets: users.map(({ bucket }) => bucket) })}
      and users.id = any(${users.map(({ userId }) => userId)}::text[])`;
}

type OfUser = UserKey & { workspaceId: string };

/**
 * Moves a user's triggers to another user, whose own trigger stays where both have one. Rows change their bucket by
 * being deleted and inserted again. Index: primary key.
 */
export async function moveTriggers(
  tx: Queryable,
  { workspaceId, from, to }: { workspaceId: string; from: UserKey; to: UserKey },
): Promise<void> {
  await tx`
    with moved as (
      delete from triggers
      where workspace_id = ${workspaceId} and bucket = ${from.bucket} and user_id = ${from.userId}
      returning campaign_id, event_name, occurred_at, received_at, attributes, due_at, state, reason, run_id, ended_at
    )
    insert into triggers (
      workspace_id, bucket, user_id, campaign_id, event_name, occurred_at, received_at, attributes, due_at, state, reason,
      run_id, ended_at
    )
    select ${workspaceId}, ${to.bucket}, ${to.userId}, campaign_id, event_name, occurred_at, received_at, attributes,
      due_at, state, reason, run_id, ended_at
    from moved
    on conflict (workspace_id, bucket, user_id, campaign_id, event_name, occurred_at) do nothing`;
}

/** Index: primary key. */
export async function eraseTriggersOf(tx: Queryable, user: OfUser): Promise<number> {
  const rows = await tx`
    delete from triggers
    where workspace_id = ${user.workspaceId} and bucket = ${user.bucket} and user_id = ${user.userId}`;
  return rows.count;
}

/** Lists the newest triggers of a user in a campaign. Index: primary key. */
export async function listTriggersToExplain(
  tx: Queryable,
  { workspaceId, bucket, userId, campaignId, limit }: OfUser & { campaignId: string; limit: number },
): Promise<ToldTrigger[]> {
  return tx<ToldTrigger[]>`
    select event_name as "eventName", occurred_at as "occurredAt", received_at as "receivedAt", due_at as "dueAt", state,
      reason, run_id as "runId"
    from triggers
    where workspace_id = ${workspaceId} and bucket = ${bucket} and user_id = ${userId} and campaign_id = ${campaignId}
    order by occurred_at desc, event_name
    limit ${limit}`;
}
