import type { Lease } from '../../domain/lease.ts';
import type { Database, Fragment, Queryable } from '../database.ts';
import { afterSilence, isNews, isPaused } from '../outbox/receiver-pause.ts';
import type { Contact, DueReceiver, Silence, Turn } from '../outbox/receiver-pause.ts';
import type { DueEventBatch } from './stream-batches.ts';

/** Receivers of events: a stream is one, by its id. What is known of its silence is in the row of the stream. */

type Claim = { at: Date; leasedAt: Date };

const isDue = (tx: Queryable, { at, leasedAt }: Claim): Fragment => tx`
  batches.state = 'PENDING' and batches.next_at <= ${at}
  and (batches.lease_until is null or batches.lease_until <= ${leasedAt})`;

/**
 * The next streams after one that batches are due for, by id. Nothing is locked. Indexes: event_streams primary key,
 * event_stream_batches_due.
 */
export async function listDueStreams(
  database: Database,
  page: Claim & { after: Pick<DueReceiver, 'key'> | undefined; limit: number },
): Promise<DueReceiver[]> {
  const row = database`streams`;
  return database<DueReceiver[]>`
    select streams.workspace_id as "workspaceId", streams.id as key, streams.url, batch.next_at as "dueAt",
      ${isPaused(database, { row, ...page })} as "isPaused"
    from event_streams as streams
    cross join lateral (
      select batches.next_at from event_stream_batches as batches
      where batches.stream_id = streams.id and ${isDue(database, page)}
      order by batches.next_at
      limit 1
    ) as batch
    where streams.id > ${page.after?.key ?? ''}
    order by streams.id
    limit ${page.limit}`;
}

/**
 * Claims the oldest batches of each stream, up to its count, with the attempt counted before anything is posted: a worker that
 * dies leaves them due again when its lease ends. A stream whose pause is over gets one, the probe; rows that another node
 * holds are skipped. Probes are locked in one order, and before batches. Indexes: event_streams primary key,
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
        where batches.stream_id = turn.stream_id and ${isDue(database, claim)}
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
      streams.user_attributes as "userAttributes", streams.device_attributes as "deviceAttributes", batches.events`;
}

/**
 * The receiver answered, whatever it said: its pause is over. Index: primary key.
 *
 * @returns the silence that this ends, if there was one
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
 * An attempt got no answer. Index: primary key.
 *
 * @returns the silence up to now; undefined where the attempt began before a pause that another one brought about
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
 * Gives up batches of a paused stream whose next attempt has been due since before a time. They can be sent again, as all
 * that were given up. Index: event_stream_batches_due.
 *
 * @returns how many
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
