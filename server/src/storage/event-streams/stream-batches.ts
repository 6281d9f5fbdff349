import type { StreamedDeviceAttribute, StreamedEvent } from '../../domain/event-streams/streamed-event.ts';
import type { Queryable, Transaction } from '../database.ts';
import { attemptsPerRound } from '../outbox/outbox.ts';

/** Stores batches, due at once, in the transaction that took their marks. */
export async function insertEventBatches(
  tx: Transaction,
  { stream, batches, at }: { stream: { id: string; workspaceId: string }; batches: NewEventBatch[]; at: Date },
): Promise<void> {
  if (batches.length === 0) return;
  await tx`
    insert into event_stream_batches (id, stream_id, workspace_id, events, state, next_at, created_at)
    select batch.id, ${stream.id}, ${stream.workspaceId}, batch.events, 'PENDING', ${at}, ${at}
    from jsonb_to_recordset(${JSON.stringify(batches)}::text::jsonb) as batch (id text, events jsonb)`;
}

export type NewEventBatch = { id: string; events: StreamedEvent[] };

export type DueEventBatch = {
  id: string;
  streamId: string;
  workspaceId: string;
  attempts: number;
  url: string;
  encryptedSecret: Buffer;
  appName: string;
  userAttributes: string[];
  deviceAttributes: StreamedDeviceAttribute[];
  events: StreamedEvent[];
};

type Settled = { id: string; attempts: number };

/**
 * A batch was taken: it goes, and its stream counts its events. Guarded by the attempt, so that a worker whose lease ran out
 * changes nothing. Index: primary keys.
 *
 * @returns whether it was stored
 */
export async function endEventBatch(tx: Queryable, { id, attempts, at }: Settled & { at: Date }): Promise<boolean> {
  const rows = await tx`
    with taken as (
      delete from event_stream_batches where id = ${id} and attempts = ${attempts} and state = 'PENDING'
      returning stream_id, jsonb_array_length(events) as events
    )
    update event_streams set delivered_events = delivered_events + taken.events, last_delivered_at = ${at}
    from taken where event_streams.id = taken.stream_id
    returning 1`;
  return rows.length === 1;
}

export type MissedAttempt = Settled & { status: number | null; error: string | null } & (
    { state: 'PENDING'; nextAt: Date } | { state: 'GIVEN_UP'; endedAt: Date }
  );

/**
 * A batch was not taken: it is due again, or was given up. Guarded as endEventBatch. Index: primary key.
 *
 * @returns whether it was stored
 */
export async function keepEventBatch(tx: Queryable, batch: MissedAttempt): Promise<boolean> {
  const rows = await tx`
    update event_stream_batches
    set state = ${batch.state}, lease_until = null, last_status = ${batch.status}, last_error = ${batch.error},
      next_at = ${batch.state === 'PENDING' ? batch.nextAt : null},
      ended_at = ${batch.state === 'PENDING' ? null : batch.endedAt}
    where id = ${batch.id} and attempts = ${batch.attempts} and state = 'PENDING'
    returning 1`;
  return rows.length === 1;
}

export type DeadBatch = {
  id: string;
  events: number;
  firstEventAt: string;
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  endedAt: Date;
};

/** Batches that were given up, newest first. Index: event_stream_batches_given_up. */
export async function listDeadBatches(
  tx: Queryable,
  { streamId, limit, before }: { streamId: string; limit: number; before: string | undefined },
): Promise<DeadBatch[]> {
  return tx<DeadBatch[]>`
    select id, jsonb_array_length(events) as events, events -> 0 ->> 'at' as "firstEventAt", attempts,
      last_status as "lastStatus", last_error as "lastError", ended_at as "endedAt"
    from event_stream_batches
    where stream_id = ${streamId} and state = 'GIVEN_UP' ${before === undefined ? tx`` : tx`and id < ${before}`}
    order by id desc limit ${limit}`;
}

/**
 * Makes batches that were given up due again, one or all, with the whole schedule before them: their attempts go on in the
 * next round, as those of callbacks do. Index: event_stream_batches_given_up.
 *
 * @returns how many
 */
export async function resendDeadBatches(
  tx: Queryable,
  { streamId, id, at }: { streamId: string; id: string | undefined; at: Date },
): Promise<number> {
  const rows = await tx`
    update event_stream_batches
    set state = 'PENDING', next_at = ${at}, ended_at = null,
      attempts = (attempts / ${attemptsPerRound}::int + 1) * ${attemptsPerRound}::int
    where stream_id = ${streamId} and state = 'GIVEN_UP' and attempts < 32000
      ${id === undefined ? tx`` : tx`and id = ${id}`}`;
  return rows.count;
}
