import type { UserKey } from '../../domain/users/bucket.ts';
import type { ToldTrigger } from '../../domain/triggers/told-trigger.ts';
import type { Queryable } from '../database.ts';
import { utcDay } from '../runs/runs.ts';
import { isInAudience } from '../segments/segment-filters.ts';
import type { FilterAudience } from '../segments/segment-filters.ts';
import { isGivenBucket } from '../users/given-bucket.ts';
import { isInBuckets } from '../users/in-buckets.ts';

/** A user from after an instant until another, included. */
export type WatchedSpan = UserKey & { after: Date; until: Date };

export type SpanEvent = UserKey & { name: string; attributes: Record<string, unknown>; occurredAt: Date };

/**
 * What users did, of events of these names, in the span of each. Reads the days since the first of the spans. Index:
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

/** Those of the users who are in an audience now. Index: users primary key, one look a user. */
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
 * Makes a user's triggers another's, who keeps its own where both have one. Rows change their bucket by being made anew.
 * Index: primary key.
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

/** The newest triggers of a user in a campaign. Index: primary key. */
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
