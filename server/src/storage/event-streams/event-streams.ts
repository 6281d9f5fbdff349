import type { StreamedDeviceAttribute, StreamedKind } from '../../domain/event-streams/streamed-event.ts';
import type { Fragment, Queryable, Transaction } from '../database.ts';
import { lockWorkspace } from '../installation/workspaces.ts';

export type EventStream = {
  id: string;
  workspaceId: string;
  url: string;
  events: StreamedKind[];
  userAttributes: string[];
  deviceAttributes: StreamedDeviceAttribute[];
  /** Receivers replied 2xx to batches with so many events. */
  deliveredEvents: number;
  lastDeliveredAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Batches that are still to be delivered, and that were given up. */
  pendingBatches: number;
  deadBatches: number;
  /** Since when the receiver has not answered. Null: it answered last, or was not tried yet. */
  silentSince: Date | null;
  /** Nothing is posted until then, because the receiver does not answer. */
  pausedUntil: Date | null;
};

const columns = (tx: Queryable): Fragment => tx`
  streams.id, streams.workspace_id as "workspaceId", streams.url, streams.events,
  streams.user_attributes as "userAttributes", streams.device_attributes as "deviceAttributes",
  streams.delivered_events as "deliveredEvents", streams.last_delivered_at as "lastDeliveredAt",
  streams.created_at as "createdAt", streams.updated_at as "updatedAt",
  streams.silent_since as "silentSince", streams.paused_until as "pausedUntil",
  (select count(*) from event_stream_batches as batches
    where batches.stream_id = streams.id and batches.state = 'PENDING') as "pendingBatches",
  (select count(*) from event_stream_batches as batches
    where batches.stream_id = streams.id and batches.state = 'GIVEN_UP') as "deadBatches"`;

/** A workspace's streams, oldest first: a few. Index: event_streams_workspace. */
export async function listEventStreams(tx: Queryable, workspaceId: string): Promise<EventStream[]> {
  return tx<EventStream[]>`
    select ${columns(tx)} from event_streams as streams
    where streams.workspace_id = ${workspaceId} order by streams.id`;
}

/** Index: primary key. */
export async function findEventStream(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<EventStream | undefined> {
  const [stream] = await tx<EventStream[]>`
    select ${columns(tx)} from event_streams as streams
    where streams.id = ${id} and streams.workspace_id = ${workspaceId}`;
  return stream;
}

export type EventStreamSettings = Pick<EventStream, 'url' | 'events' | 'userAttributes' | 'deviceAttributes'>;

/**
 * Adds a stream unless the workspace has `maxStreams` already. The workspace's row is locked, so that two at once are counted one
 * after the other. Indexes: workspaces primary key, event_streams_workspace.
 *
 * @returns whether it was added
 */
export async function insertEventStream(
  tx: Transaction,
  stream: EventStreamSettings & {
    id: string;
    workspaceId: string;
    encryptedSecret: Buffer;
    at: Date;
    maxStreams: number;
  },
): Promise<boolean> {
  await lockWorkspace(tx, stream.workspaceId);
  const rows = await tx`
    insert into event_streams (
      id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes, created_at, updated_at
    )
    select ${stream.id}, ${stream.workspaceId}, ${stream.url}, ${stream.encryptedSecret}, ${stream.events}::text[],
      ${stream.userAttributes}::text[], ${stream.deviceAttributes}::text[], ${stream.at}, ${stream.at}
    where (select count(*) from event_streams where workspace_id = ${stream.workspaceId}) < ${stream.maxStreams}
    returning 1`;
  return rows.length === 1;
}

/**
 * Changes what is given and nothing else, so that two changes at once both stand. A new address is tried at once, whatever
 * is known of the one before. Index: primary key.
 *
 * @returns whether there is such a stream
 */
export async function updateEventStream(
  tx: Queryable,
  stream: Partial<EventStreamSettings> & { id: string; workspaceId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update event_streams
    set url = coalesce(${stream.url ?? null}, url), events = coalesce(${stream.events ?? null}::text[], events),
      user_attributes = coalesce(${stream.userAttributes ?? null}::text[], user_attributes),
      device_attributes = coalesce(${stream.deviceAttributes ?? null}::text[], device_attributes), updated_at = ${stream.at}
      ${stream.url === undefined ? tx`` : tx`, failures = 0, silent_since = null, paused_at = null, paused_until = null, probe_until = null`}
    where id = ${stream.id} and workspace_id = ${stream.workspaceId}
    returning 1`;
  return rows.length === 1;
}

/** With all that waits in it. Index: primary key. @returns whether there was such a stream */
export async function deleteEventStream(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const rows = await tx`delete from event_streams where id = ${id} and workspace_id = ${workspaceId} returning 1`;
  return rows.length === 1;
}

/** The encrypted secret that signs what a stream posts. Index: primary key. */
export async function findEventStreamSecret(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<Buffer | undefined> {
  const [row] = await tx<{ encrypted: Buffer }[]>`
    select secret_sealed as encrypted from event_streams where id = ${id} and workspace_id = ${workspaceId}`;
  return row?.encrypted;
}
