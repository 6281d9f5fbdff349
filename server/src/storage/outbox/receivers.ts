import type { Lease, Fragment, Queryable, Database } from '../database.ts';
import { failuresBeforePause, firstPauseSeconds, maxPauseSeconds } from '../../domain/limits/delivery.ts';
import { objectStoreColumn } from './event-streams.ts';
import type { DueEventBatch } from './event-streams.ts';
import type { DueCallback } from './outbox.ts';

/** Start and end of an attempt to reach a receiver, by the clock that attempts are scheduled by. */
type Contact = { startedAt: Date; endedAt: Date };

/** The state of a receiver that does not respond. */
export type Silence = { failures: number; silentSince: Date; pausedUntil: Date | null };

/** A receiver with due messages. */
export type DueReceiver = {
  workspaceId: string;
  /** Identifies the receiver in its workspace: the origin of callbacks, the id of an event stream. */
  key: string;
  /** One of its addresses, for its host. */
  url: string;
  /** Due time of its oldest message. */
  dueAt: Date;
  /** No message may be posted to it now: it is paused, or another attempt is probing it. */
  isPaused: boolean;
};

/** How many messages may be posted to a receiver. */
export type Turn = { workspaceId: string; key: string; count: number };

/**
 * The assignments that count one more attempt without a response, for an `update` of a row with the columns of a
 * receiver. From the third attempt on, they pause the receiver, longer each time.
 */
function afterSilence(tx: Queryable, { row, contact }: { row: Fragment; contact: Contact }): Fragment {
  const { startedAt, endedAt } = contact;
  const isEnough = tx`${row}.failures + 1 >= ${failuresBeforePause}::int`;
  return tx`
    failures = ${row}.failures + 1,
    silent_since = coalesce(${row}.silent_since, ${startedAt}::timestamptz),
    paused_at = case when ${isEnough} then ${endedAt}::timestamptz end,
    paused_until = case when ${isEnough} then ${endedAt}::timestamptz + interval '1 second' * least(
      ${maxPauseSeconds}::int, ${firstPauseSeconds}::int * 2 ^ least(${row}.failures + 1 - ${failuresBeforePause}::int, 10)
    ) end,
    probe_until = null`;
}

/**
 * True if an attempt is new evidence about a receiver. Attempts that began before its pause end one after another
 * without a response. They are not new evidence and must not lengthen the pause.
 */
function isNews(tx: Queryable, { row, contact }: { row: Fragment; contact: Contact }): Fragment {
  return tx`(${row}.paused_at is null or ${row}.paused_at <= ${contact.startedAt}::timestamptz)`;
}

/** True if no message may be posted to a receiver: it is paused, or another attempt is probing it. */
function isPaused(tx: Queryable, { row, at, leasedAt }: { row: Fragment; at: Date; leasedAt: Date }): Fragment {
  return tx`(
    ${row}.paused_until is not null and (${row}.paused_until > ${at} or coalesce(${row}.probe_until > ${leasedAt}, false))
  )`;
}

/**
 * A receiver of callbacks: the origin of their addresses, in one workspace. Callbacks are claimed by receiver, so that
 * a thousand callbacks to an unresponsive receiver do not delay the only one to another. `callback_receivers` has rows
 * only for receivers that recently did not respond.
 */
export type CallbackReceiver = { workspaceId: string; origin: string };

type CallbackClaim = { at: Date; leasedAt: Date };

const isCallbackReceiverDue = (tx: Queryable, { at, leasedAt }: CallbackClaim): Fragment => tx`
  state = 'PENDING' and next_at <= ${at} and (lease_until is null or lease_until <= ${leasedAt})`;

/**
 * Lists the next receivers with due callbacks after `after`, by workspace and origin. Finds each with one index step,
 * so the number of callbacks that wait for a receiver does not matter. Locks nothing. Indexes: callbacks_receivers,
 * callback_receivers primary key.
 */
export async function listDueCallbackReceivers(
  database: Database,
  page: CallbackClaim & { after: Pick<DueReceiver, 'workspaceId' | 'key'> | undefined; limit: number },
): Promise<DueReceiver[]> {
  const due = isCallbackReceiverDue(database, page);
  const { workspaceId: afterWorkspace, key: afterOrigin } = page.after ?? { workspaceId: '', key: '' };
  const silent = database`silent`;
  return database<DueReceiver[]>`
    with recursive receivers as (
      (
        select workspace_id, origin, url, next_at, 1 as number from callbacks
        where ${due} and (workspace_id, origin) > (${afterWorkspace}::text, ${afterOrigin}::text)
        order by workspace_id, origin, next_at
        limit 1
      )
      union all
      select following.workspace_id, following.origin, following.url, following.next_at, receivers.number + 1
      from receivers cross join lateral (
        select workspace_id, origin, url, next_at from callbacks
        where ${due} and (workspace_id, origin) > (receivers.workspace_id, receivers.origin)
        order by workspace_id, origin, next_at
        limit 1
      ) as following
      where receivers.number < ${page.limit}::int
    )
    select receivers.workspace_id as "workspaceId", receivers.origin as key, receivers.url,
      receivers.next_at as "dueAt", coalesce(${isPaused(database, { row: silent, ...page })}, false) as "isPaused"
    from receivers
    left join callback_receivers as silent
      on silent.workspace_id = receivers.workspace_id and silent.origin = receivers.origin
    order by receivers.number`;
}

/**
 * Claims the oldest callbacks of each receiver, up to its count, and counts the attempt before anything is sent: if the
 * worker dies, they become due again when its lease ends. A receiver at the end of its pause gets one callback, the
 * probe. Skips rows that another node holds. Locks probes in one order and before callbacks, for which no transaction
 * waits here. Indexes: callbacks_receivers, callback_receivers primary key.
 */
export async function claimCallbacks(
  database: Database,
  claim: { turns: readonly Turn[]; at: Date; probeUntil: Date } & Lease,
): Promise<DueCallback[]> {
  const silent = database`silent`;
  return database<DueCallback[]>`
    with turn as (
      select "workspaceId" collate "C" as workspace_id, key collate "C" as origin, count
      from jsonb_to_recordset(${JSON.stringify(claim.turns)}::text::jsonb)
        as given ("workspaceId" text, key text, count integer)
    ), rested as (
      select silent.workspace_id, silent.origin
      from callback_receivers as silent
      join turn on turn.workspace_id = silent.workspace_id and turn.origin = silent.origin
      where silent.paused_until is not null and not ${isPaused(database, { row: silent, ...claim })}
      order by silent.workspace_id, silent.origin
      for update of silent skip locked
    ), probed as (
      update callback_receivers as receiver set probe_until = ${claim.probeUntil}
      from rested where receiver.workspace_id = rested.workspace_id and receiver.origin = rested.origin
      returning receiver.workspace_id, receiver.origin
    ), due as (
      select callback.id as due_id
      from turn
      left join callback_receivers as silent
        on silent.workspace_id = turn.workspace_id and silent.origin = turn.origin and silent.paused_until is not null
      left join probed on probed.workspace_id = turn.workspace_id and probed.origin = turn.origin
      cross join lateral (
        select id from callbacks
        where callbacks.workspace_id = turn.workspace_id and callbacks.origin = turn.origin and ${isCallbackReceiverDue(database, claim)}
        order by next_at
        limit case when silent.origin is null then turn.count when probed.origin is null then 0 else 1 end
        for update skip locked
      ) as callback
    )
    update callbacks
    set lease_until = ${claim.leaseUntil}, attempts = attempts + 1
    from due
    where id = due_id
    returning id, workspace_id as "workspaceId", origin, url, body, attempts`;
}

/**
 * Ends a receiver's pause because it responded, with whatever status. Index: primary key.
 *
 * @returns the period without responses that ends now, if there was one
 */
export async function endCallbackSilence(
  tx: Queryable,
  { workspaceId, origin }: CallbackReceiver,
): Promise<Silence | undefined> {
  const [ended] = await tx<Silence[]>`
    delete from callback_receivers where workspace_id = ${workspaceId} and origin = ${origin}
    returning failures, silent_since as "silentSince", paused_until as "pausedUntil"`;
  return ended;
}

/**
 * Records an attempt without a response. Index: primary key.
 *
 * @returns the period without responses so far; undefined if the attempt began before a pause that another attempt caused
 */
export async function noteCallbackSilence(
  tx: Queryable,
  { workspaceId, origin, ...contact }: CallbackReceiver & Contact,
): Promise<Silence | undefined> {
  const row = tx`receiver`;
  const [silence] = await tx<Silence[]>`
    insert into callback_receivers as receiver (workspace_id, origin, failures, silent_since, failed_at)
    values (${workspaceId}, ${origin}, 1, ${contact.startedAt}, ${contact.endedAt})
    on conflict (workspace_id, origin) do update
    set failed_at = excluded.failed_at, ${afterSilence(tx, { row, contact })}
    where ${isNews(tx, { row, contact })}
    returning failures, silent_since as "silentSince", paused_until as "pausedUntil"`;
  return silence;
}

/**
 * Gives up callbacks to a paused receiver whose next attempt has been due since before `dueBefore`. They can be resent,
 * like all callbacks that were given up. Index: callbacks_receivers.
 *
 * @returns the number of callbacks
 */
export async function giveUpPausedCallbacks(
  tx: Queryable,
  { workspaceId, origin, dueBefore, at, limit }: CallbackReceiver & { dueBefore: Date; at: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    update callbacks set state = 'GIVEN_UP', next_at = null, ended_at = ${at}, lease_until = null
    where id in (
      select id from callbacks
      where workspace_id = ${workspaceId} and origin = ${origin} and state = 'PENDING' and next_at < ${dueBefore}
        and lease_until is null
      order by next_at
      limit ${limit}
      for update skip locked
    )`;
  return rows.count;
}

/**
 * Deletes receivers whose last failure was before `before`: no message was posted to them since. Index:
 * callback_receivers_failed.
 */
export async function deleteOldCallbackReceivers(
  tx: Queryable,
  { before, limit }: { before: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    delete from callback_receivers where (workspace_id, origin) in (
      select workspace_id, origin from callback_receivers where failed_at < ${before}
      order by failed_at limit ${limit} for update skip locked
    )`;
  return rows.count;
}

/** Receivers of events: each stream is one, identified by its id. The stream's row stores the state of its silence. */

type BatchClaim = { at: Date; leasedAt: Date };

const isStreamDue = (tx: Queryable, { at, leasedAt }: BatchClaim): Fragment => tx`
  batches.state = 'PENDING' and batches.next_at <= ${at}
  and (batches.lease_until is null or batches.lease_until <= ${leasedAt})`;

/**
 * Lists the next streams with due batches after `after`, by id. Locks nothing. Indexes: event_streams primary key,
 * event_stream_batches_due.
 */
export async function listDueStreams(
  database: Database,
  page: BatchClaim & { after: Pick<DueReceiver, 'key'> | undefined; limit: number },
): Promise<DueReceiver[]> {
  const row = database`streams`;
  return database<DueReceiver[]>`
    select streams.workspace_id as "workspaceId", streams.id as key, streams.url, batch.next_at as "dueAt",
      ${isPaused(database, { row, ...page })} as "isPaused"
    from event_streams as streams
    cross join lateral (
      select batches.next_at from event_stream_batches as batches
      where batches.stream_id = streams.id and ${isStreamDue(database, page)}
      order by batches.next_at
      limit 1
    ) as batch
    where streams.id > ${page.after?.key ?? ''}
    order by streams.id
    limit ${page.limit}`;
}

/**
 * Claims the oldest batches of each stream, up to its count, and counts the attempt before anything is posted: if the
 * worker dies, they become due again when its lease ends. A stream at the end of its pause gets one batch, the probe.
 * Skips rows that another node holds. Locks probes in one order and before batches. Indexes: event_streams primary key,
 * event_stream_batches_due.
 */
export async function claimEventBatches(
  database: Database,
  claim: { turns: readonly Turn[]; at: Date; probeUntil: Date } & Lease,
): Promise<DueEventBatch[]> {
  const row = database`streams`;
  return database<DueEventBatch[]>`
    with turn as (
      select key collate "C" as stream_id, count
      from jsonb_to_recordset(${JSON.stringify(claim.turns)}::text::jsonb) as given (key text, count integer)
    ), rested as (
      select streams.id
      from event_streams as streams join turn on turn.stream_id = streams.id
      where streams.paused_until is not null and not ${isPaused(database, { row, ...claim })}
      order by streams.id
      for no key update of streams skip locked
    ), probed as (
      update event_streams as streams set probe_until = ${claim.probeUntil}
      from rested where streams.id = rested.id
      returning streams.id
    ), due as (
      select batch.id
      from turn
      join event_streams as streams on streams.id = turn.stream_id
      left join probed on probed.id = turn.stream_id
      cross join lateral (
        select batches.id from event_stream_batches as batches
        where batches.stream_id = turn.stream_id and ${isStreamDue(database, claim)}
        order by batches.next_at, batches.id
        limit case when streams.paused_until is null then turn.count when probed.id is null then 0 else 1 end
        for update skip locked
      ) as batch
    )
    update event_stream_batches as batches
    set lease_until = ${claim.leaseUntil}, attempts = batches.attempts + 1
    from due, event_streams as streams, workspaces
    where batches.id = due.id and streams.id = batches.stream_id and workspaces.id = batches.workspace_id
    returning batches.id, batches.stream_id as "streamId", batches.workspace_id as "workspaceId", batches.attempts,
      streams.url, streams.secret_sealed as "encryptedSecret", workspaces.name as "appName",
      streams.user_attributes as "userAttributes", streams.device_attributes as "deviceAttributes", batches.events,
      ${objectStoreColumn(database)}`;
}

/**
 * Ends a receiver's pause because it responded, with whatever status. Index: primary key.
 *
 * @returns the period without responses that ends now, if there was one
 */
export async function endStreamSilence(tx: Queryable, streamId: string): Promise<Silence | undefined> {
  const [ended] = await tx<Silence[]>`
    with silent as (
      select id, failures, silent_since, paused_until from event_streams where id = ${streamId} and failures > 0
      for no key update
    )
    update event_streams as streams
    set failures = 0, silent_since = null, paused_at = null, paused_until = null, probe_until = null
    from silent where streams.id = silent.id
    returning silent.failures, silent.silent_since as "silentSince", silent.paused_until as "pausedUntil"`;
  return ended;
}

/**
 * Records an attempt without a response. Index: primary key.
 *
 * @returns the period without responses so far; undefined if the attempt began before a pause that another attempt caused
 */
export async function noteStreamSilence(
  tx: Queryable,
  { streamId, ...contact }: { streamId: string } & Contact,
): Promise<Silence | undefined> {
  const row = tx`event_streams`;
  const [silence] = await tx<Silence[]>`
    update event_streams set ${afterSilence(tx, { row, contact })}
    where id = ${streamId} and ${isNews(tx, { row, contact })}
    returning failures, silent_since as "silentSince", paused_until as "pausedUntil"`;
  return silence;
}

/**
 * Gives up batches of a paused stream whose next attempt has been due since before `dueBefore`. They can be resent,
 * like all batches that were given up. Index: event_stream_batches_due.
 *
 * @returns the number of batches
 */
export async function giveUpPausedBatches(
  tx: Queryable,
  { streamId, dueBefore, at, limit }: { streamId: string; dueBefore: Date; at: Date; limit: number },
): Promise<number> {
  const rows = await tx`
    update event_stream_batches
    set state = 'GIVEN_UP', next_at = null, ended_at = ${at}, lease_until = null, last_status = null, last_error = 'timeout'
    where id in (
      select id from event_stream_batches
      where stream_id = ${streamId} and state = 'PENDING' and next_at < ${dueBefore} and lease_until is null
      order by next_at
      limit ${limit}
      for update skip locked
    )`;
  return rows.count;
}
