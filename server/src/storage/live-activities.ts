import type { LiveEventKind } from '../domain/events/live-activities.ts';
import type { Lease, Queryable } from './database.ts';

/** The key of an activity. */
export type LiveActivityName = { workspaceId: string; appId: string; activityId: string };

type TokenKind = 'START' | 'UPDATE';

/**
 * Inserts an activity, or records that it changed. Its row stays locked until the transaction ends, so that its events
 * follow each other. Index: primary key.
 *
 * @returns the timestamp of its newest event
 */
export async function touchLiveActivity(
  tx: Queryable,
  { workspaceId, appId, activityId, at }: LiveActivityName & { at: Date },
): Promise<number> {
  const [row] = await tx<{ timestamp: number }[]>`
    insert into live_activities (workspace_id, app_id, activity_id, last_timestamp, changed_at)
    values (${workspaceId}, ${appId}, ${activityId}, 0, ${at})
    on conflict (workspace_id, app_id, activity_id) do update set changed_at = excluded.changed_at
    returning last_timestamp as timestamp`;
  return row!.timestamp;
}

/** Adds tokens of one kind; known ones stay. The caller has called touchLiveActivity. Index: primary key. */
export async function addLiveTokens(
  tx: Queryable,
  { workspaceId, appId, activityId, kind, tokens }: LiveActivityName & { kind: TokenKind; tokens: readonly string[] },
): Promise<void> {
  await tx`
    insert into live_activity_tokens (workspace_id, app_id, activity_id, kind, token)
    select ${workspaceId}, ${appId}, ${activityId}, ${kind}, token from unnest(${[...tokens]}::text[]) as given (token)
    on conflict do nothing`;
}

/** Counts an activity's tokens of each kind. Index: primary key. */
export async function countLiveTokens(
  tx: Queryable,
  { workspaceId, appId, activityId }: LiveActivityName,
): Promise<{ start: number; update: number }> {
  const [row] = await tx<{ start: number; update: number }[]>`
    select count(*) filter (where kind = 'START') as start, count(*) filter (where kind = 'UPDATE') as update
    from live_activity_tokens
    where workspace_id = ${workspaceId} and app_id = ${appId} and activity_id = ${activityId}`;
  return row!;
}

/** Deletes a token that Apple does not know any more. Index: primary key. */
export async function removeLiveToken(
  tx: Queryable,
  { workspaceId, appId, activityId, token }: LiveActivityName & { token: string },
): Promise<void> {
  await tx`
    delete from live_activity_tokens
    where workspace_id = ${workspaceId} and app_id = ${appId} and activity_id = ${activityId} and token = ${token}`;
}

export type NewLiveEvent = LiveActivityName & {
  event: LiveEventKind;
  tokenKind: TokenKind;
  timestamp: number;
  priority: 5 | 10;
  body: string;
  sendUntil: Date;
  at: Date;
  /** Ids for the messages: as many as an activity can have tokens. */
  ids: readonly string[];
};

/**
 * Stores a message to each token of the event's kind. Waiting messages of earlier events become superseded: the phone
 * would ignore them. The caller has called touchLiveActivity. Indexes: live_activity_messages_activity, primary keys.
 *
 * @returns how many messages were stored
 */
export async function insertLiveEvent(tx: Queryable, event: NewLiveEvent): Promise<number> {
  const { workspaceId, appId, activityId } = event;
  await tx`
    update live_activities set last_timestamp = ${event.timestamp}
    where workspace_id = ${workspaceId} and app_id = ${appId} and activity_id = ${activityId}`;
  if (event.tokenKind === 'UPDATE')
    await tx`
      update live_activity_messages set state = 'SUPERSEDED', next_at = null, lease_until = null
      where workspace_id = ${workspaceId} and app_id = ${appId} and activity_id = ${activityId} and state = 'WAITING'
        and event <> 'start'`;
  const rows = await tx`
    insert into live_activity_messages (
      id, workspace_id, app_id, activity_id, event, "timestamp", token, priority, body, next_at, send_until, created_at
    )
    select ids.id, ${workspaceId}, ${appId}, ${activityId}, ${event.event}, ${event.timestamp}, tokens.token,
      ${event.priority}, ${event.body}, ${event.at}, ${event.sendUntil}, ${event.at}
    from (
      select token, row_number() over (order by token) as number from live_activity_tokens
      where workspace_id = ${workspaceId} and app_id = ${appId} and activity_id = ${activityId}
        and kind = ${event.tokenKind}
    ) as tokens
    join unnest(${[...event.ids]}::text[]) with ordinality as ids (id, number) on ids.number = tokens.number
    returning 1`;
  return rows.length;
}

export type DueLiveMessage = LiveActivityName & {
  id: string;
  token: string;
  priority: 5 | 10;
  body: string;
  /** Including this one. */
  attempts: number;
  sendUntil: Date;
  /** Distinguishes this worker's lease from one that ended. */
  leaseUntil: Date;
};

/**
 * Claims messages that are due, oldest first, and counts the attempt before anything is sent: if a worker dies, they
 * are due again when its lease ends. Skips rows that others have locked. Index: live_activity_messages_due.
 */
export async function claimDueLiveMessages(
  tx: Queryable,
  claim: { at: Date; limit: number } & Lease,
): Promise<DueLiveMessage[]> {
  return tx<DueLiveMessage[]>`
    with due as (
      select id as due_id from live_activity_messages
      where state = 'WAITING' and next_at <= ${claim.at} and (lease_until is null or lease_until <= ${claim.leasedAt})
      order by next_at
      limit ${claim.limit}
      for update skip locked
    )
    update live_activity_messages
    set lease_until = ${claim.leaseUntil}, attempts = attempts + 1
    from due
    where id = due_id
    returning id, workspace_id as "workspaceId", app_id as "appId", activity_id as "activityId", token, priority, body,
      attempts, send_until as "sendUntil", lease_until as "leaseUntil"`;
}

export type LiveOutcome = 'ACCEPTED' | 'GONE' | 'REJECTED' | 'FAILED' | 'EXPIRED';

export type SettledLiveMessage = { code: string | null } & (
  | { state: LiveOutcome }
  /** `attempts`: the number of attempts that count so far. */
  | { state: 'WAITING'; nextAt: Date; attempts: number }
);

/**
 * Stores the outcome of an attempt. A worker whose lease ran out, or that a newer event overtook, changes nothing.
 * Index: primary key.
 *
 * @returns whether it was stored
 */
export async function settleLiveMessage(
  tx: Queryable,
  {
    id,
    leaseUntil,
    attempts,
    settled,
  }: Pick<DueLiveMessage, 'id' | 'leaseUntil' | 'attempts'> & { settled: SettledLiveMessage },
): Promise<boolean> {
  const isWaiting = settled.state === 'WAITING';
  const rows = await tx`
    update live_activity_messages
    set state = ${settled.state}, code = ${settled.code}, next_at = ${isWaiting ? settled.nextAt : null}, lease_until = null,
      attempts = ${isWaiting ? settled.attempts : attempts}
    where id = ${id} and state = 'WAITING' and lease_until = ${leaseUntil}
    returning 1`;
  return rows.length === 1;
}

export type LiveEventFigures = {
  event: LiveEventKind;
  timestamp: number;
  state: string;
  code: string | null;
  devices: number;
};

/** Returns the outcomes of an activity's events, newest first. Index: live_activity_messages_activity. */
export async function listLiveEvents(
  tx: Queryable,
  { workspaceId, appId, activityId, limit }: LiveActivityName & { limit: number },
): Promise<LiveEventFigures[]> {
  return tx<LiveEventFigures[]>`
    select event, "timestamp", state, code, count(*) as devices from live_activity_messages
    where workspace_id = ${workspaceId} and app_id = ${appId} and activity_id = ${activityId}
    group by event, "timestamp", state, code order by "timestamp" desc, state, code limit ${limit}`;
}

/** True if the activity exists. Index: primary key. */
export async function isLiveActivity(tx: Queryable, name: LiveActivityName): Promise<boolean> {
  const rows = await tx`
    select 1 from live_activities
    where workspace_id = ${name.workspaceId} and app_id = ${name.appId} and activity_id = ${name.activityId}`;
  return rows.length === 1;
}

/**
 * Deletes activities that last changed before `before`, with their tokens and messages. Index: live_activities_changed.
 * @returns the number of deleted activities
 */
export async function deleteOldLiveActivities(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    with old as (
      select workspace_id, app_id, activity_id from live_activities where changed_at < ${before}
      order by changed_at limit ${limit} for update skip locked
    ), tokens as (
      delete from live_activity_tokens as token using old
      where token.workspace_id = old.workspace_id and token.app_id = old.app_id and token.activity_id = old.activity_id
    ), messages as (
      delete from live_activity_messages as message using old
      where message.workspace_id = old.workspace_id and message.app_id = old.app_id
        and message.activity_id = old.activity_id
    )
    delete from live_activities using old
    where live_activities.workspace_id = old.workspace_id and live_activities.app_id = old.app_id
      and live_activities.activity_id = old.activity_id
    returning 1`;
  return rows.length;
}
