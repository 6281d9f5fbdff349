import type { UserKey } from '../../domain/users/bucket.ts';
import type { DropReason } from '../../domain/triggers/drop-reason.ts';
import type { Queryable, Transaction } from '../database.ts';

/** What names a trigger: an event that is sent twice is one. */
export type TriggerKey = UserKey & { workspaceId: string; campaignId: string; eventName: string; occurredAt: Date };

export type NewTrigger = Omit<TriggerKey, 'workspaceId'> & {
  attributes: Record<string, unknown>;
  due: { at: Date } | { reason: DropReason };
};

/** Inserts triggers, in one statement; one that is there already stays as it is. Index: primary key. */
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

/** Makes this transaction the one that releases triggers, if none is. Ends with the transaction. */
export async function tryHoldRelease(tx: Transaction): Promise<boolean> {
  const [row] = await tx<{ isHeld: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtextextended('release-triggers', 0)) as "isHeld"`;
  return row!.isHeld;
}

export type DueTrigger = TriggerKey & { dueAt: Date };

/** Of all campaigns but these, or of one. */
export type TriggersOf = { except: readonly string[] } | { only: string };

/** Triggers that are due, longest first. Locks nothing: tryHoldRelease keeps other nodes out. Index: triggers_due. */
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

/** What a due trigger becomes: part of a run, nothing, or held while its campaign is paused. */
export type Settlement = { trigger: TriggerKey } & (
  { state: 'SENT'; runId: string } | { state: 'DROPPED'; reason: DropReason } | { state: 'HELD' }
);

/**
 * WAITING → what was decided, in one statement. A trigger that was moved or erased meanwhile is left out. Index: primary
 * key.
 *
 * @returns the runs of those that are in one now
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

/** HELD → WAITING: the campaign goes on, or is over. Index: triggers_held. */
export async function freeHeldTriggers(tx: Queryable, campaignId: string): Promise<void> {
  await tx`update triggers set state = 'WAITING' where campaign_id = ${campaignId} and state = 'HELD'`;
}

/** Triggers that ended before, oldest first. Index: triggers_ended. */
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
