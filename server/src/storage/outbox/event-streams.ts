import type {
  StreamedDeviceAttribute,
  StreamedKind,
  StreamedEvent,
  BatchFacts,
  StreamedCampaign,
  StreamedDevice,
  StreamedUser,
} from '../../domain/events/event-streams.ts';
import type { Fragment, Queryable, Transaction } from '../database.ts';
import { isInBuckets } from '../users/buckets.ts';
import { lockWorkspace } from '../workspaces.ts';
import { attemptsPerRound } from './outbox.ts';

/** The access key of a bucket, without its secret. */
export type ObjectStoreKey = { region: string; keyId: string };

export type EventStream = {
  id: string;
  workspaceId: string;
  url: string;
  /** Null: the batches are posted to `url`. Otherwise it is a bucket, and they are stored in it. */
  objectStore: ObjectStoreKey | null;
  events: StreamedKind[];
  userAttributes: string[];
  deviceAttributes: StreamedDeviceAttribute[];
  /** Number of events in batches that the receiver answered with 2xx. */
  deliveredEvents: number;
  lastDeliveredAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
  /** Batches that are still to be delivered, and batches that were given up. */
  pendingBatches: number;
  deadBatches: number;
  /**
   * Start of the current run of attempts without a response. Null: the receiver responded last, or was not tried yet.
   */
  silentSince: Date | null;
  /** No batch is posted until then, because the receiver does not respond. */
  pausedUntil: Date | null;
};

/** The bucket's region and access key as one value; null for a receiver of requests. */
export const objectStoreColumn = (tx: Queryable): Fragment => tx`
  case when streams.s3_region is not null
    then jsonb_build_object('region', streams.s3_region, 'keyId', streams.s3_key_id) end as "objectStore"`;

const columns = (tx: Queryable): Fragment => tx`
  streams.id, streams.workspace_id as "workspaceId", streams.url, streams.events, ${objectStoreColumn(tx)},
  streams.user_attributes as "userAttributes", streams.device_attributes as "deviceAttributes",
  streams.delivered_events as "deliveredEvents", streams.last_delivered_at as "lastDeliveredAt",
  streams.created_at as "createdAt", streams.updated_at as "updatedAt",
  streams.silent_since as "silentSince", streams.paused_until as "pausedUntil",
  (select count(*) from event_stream_batches as batches
    where batches.stream_id = streams.id and batches.state = 'PENDING') as "pendingBatches",
  (select count(*) from event_stream_batches as batches
    where batches.stream_id = streams.id and batches.state = 'GIVEN_UP') as "deadBatches"`;

/** Lists the few streams of a workspace, oldest first. Index: event_streams_workspace. */
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

/** What only a stream to an object store has. */
type Stored = { objectStore?: ObjectStoreKey | undefined; encryptedSecret?: Buffer | undefined };

/**
 * Adds a stream unless the workspace already has `maxStreams`. Locks the workspace's row, so that two concurrent calls
 * are counted one after the other. Indexes: workspaces primary key, event_streams_workspace.
 *
 * @returns true if it was added
 */
export async function insertEventStream(
  tx: Transaction,
  stream: EventStreamSettings & {
    objectStore: ObjectStoreKey | undefined;
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
      id, workspace_id, url, secret_sealed, events, user_attributes, device_attributes, created_at, updated_at, s3_region,
      s3_key_id
    )
    select ${stream.id}, ${stream.workspaceId}, ${stream.url}, ${stream.encryptedSecret}, ${stream.events}::text[],
      ${stream.userAttributes}::text[], ${stream.deviceAttributes}::text[], ${stream.at}, ${stream.at},
      ${stream.objectStore?.region ?? null}::text, ${stream.objectStore?.keyId ?? null}::text
    where (select count(*) from event_streams where workspace_id = ${stream.workspaceId}) < ${stream.maxStreams}
    returning 1`;
  return rows.length === 1;
}

/**
 * Changes only the given settings, so that two concurrent changes both take effect. A new address is tried immediately,
 * whatever is known about the previous one. Index: primary key.
 *
 * @returns true if there is such a stream
 */
export async function updateEventStream(
  tx: Queryable,
  stream: Partial<EventStreamSettings> & Stored & { id: string; workspaceId: string; at: Date },
): Promise<boolean> {
  const rows = await tx`
    update event_streams
    set url = coalesce(${stream.url ?? null}, url), events = coalesce(${stream.events ?? null}::text[], events),
      user_attributes = coalesce(${stream.userAttributes ?? null}::text[], user_attributes),
      device_attributes = coalesce(${stream.deviceAttributes ?? null}::text[], device_attributes), updated_at = ${stream.at},
      s3_region = coalesce(${stream.objectStore?.region ?? null}, s3_region),
      s3_key_id = coalesce(${stream.objectStore?.keyId ?? null}, s3_key_id),
      secret_sealed = coalesce(${stream.encryptedSecret ?? null}::bytea, secret_sealed)
      ${stream.url === undefined && stream.objectStore === undefined ? tx`` : tx`, failures = 0, silent_since = null, paused_at = null, paused_until = null, probe_until = null`}
    where id = ${stream.id} and workspace_id = ${stream.workspaceId}
    returning 1`;
  return rows.length === 1;
}

/**
 * Deletes a stream with all its waiting events. Index: primary key.
 *
 * @returns true if there was such a stream
 */
export async function deleteEventStream(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<boolean> {
  const rows = await tx`delete from event_streams where id = ${id} and workspace_id = ${workspaceId} returning 1`;
  return rows.length === 1;
}

/** Returns the encrypted secret that signs a stream's requests. Index: primary key. */
export async function findEventStreamSecret(
  tx: Queryable,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<Buffer | undefined> {
  const [row] = await tx<{ encrypted: Buffer }[]>`
    select secret_sealed as encrypted from event_streams where id = ${id} and workspace_id = ${workspaceId}`;
  return row?.encrypted;
}

/** Stores batches, due immediately, in the transaction that took their marks. */
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
  objectStore: ObjectStoreKey | null;
  encryptedSecret: Buffer;
  appName: string;
  userAttributes: string[];
  deviceAttributes: StreamedDeviceAttribute[];
  events: StreamedEvent[];
};

type Settled = { id: string; attempts: number };

/**
 * Deletes a delivered batch and adds its events to the stream's count. Guarded by the attempt, so that a worker with an
 * expired lease changes nothing. Index: primary keys.
 *
 * @returns true if it was stored
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
 * Stores a failed attempt: the batch is due again or given up. Guarded like endEventBatch. Index: primary key.
 *
 * @returns true if it was stored
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

/** Lists batches that were given up, newest first. Index: event_stream_batches_given_up. */
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
 * Makes one batch or all batches that were given up due again, with a whole new retry schedule: their attempts continue
 * in the next round, like those of callbacks. Index: event_stream_batches_given_up.
 *
 * @returns the number of batches
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

/**
 * Returns the current facts about the runs, devices and users of a batch. Indexes: primary keys of
 * runs, campaigns, devices and users.
 */
export async function findBatchFacts(
  tx: Queryable,
  { workspaceId, events }: { workspaceId: string; events: readonly StreamedEvent[] },
): Promise<BatchFacts> {
  const campaigns = await tx<(StreamedCampaign & { runId: string })[]>`
    select runs.id as "runId", campaigns.campaign_id as id, campaigns.name, campaigns.delivery_type as type,
      campaigns.channel
    from runs join campaigns on campaigns.id = runs.campaign_id
    where runs.id = any(${[...new Set(events.map(({ runId }) => runId))]}) and runs.workspace_id = ${workspaceId}`;
  const devices = await findDevices(tx, { workspaceId, events });
  const users = await findUsers(tx, { workspaceId, events, devices });
  return {
    campaignOfRun: new Map(campaigns.map(({ runId, ...campaign }) => [runId, campaign])),
    devices: new Map(devices.map(({ id, ...device }) => [id, device])),
    users: new Map(users.map(({ id, ...user }) => [id, user])),
  };
}

type Of = { workspaceId: string; events: readonly StreamedEvent[] };
type FoundDevice = StreamedDevice & { id: string; bucket: number };

async function findDevices(tx: Queryable, { workspaceId, events }: Of): Promise<FoundDevice[]> {
  const named = events.filter(({ deviceId }) => deviceId !== null);
  if (named.length === 0) return [];
  const isThere = isInBuckets(tx, { column: tx`devices.bucket`, buckets: named.map(({ bucket }) => bucket) });
  return tx<FoundDevice[]>`
    select devices.id, devices.bucket, devices.user_id as "userId", devices.platform, devices.device_id,
      devices.app_id, devices.model, devices.app_version, devices.os_version, devices.locale, devices.push_id
    from devices
    where devices.workspace_id = ${workspaceId} and ${isThere}
      and devices.id = any(${named.map(({ deviceId }) => deviceId)}::text[])`;
}

type FoundUser = StreamedUser & { id: string };

/** A user is in the same bucket as the event and the device. */
async function findUsers(
  tx: Queryable,
  { workspaceId, events, devices }: Of & { devices: readonly FoundDevice[] },
): Promise<FoundUser[]> {
  const named = [...events, ...devices].filter(({ userId }) => userId !== null);
  if (named.length === 0) return [];
  const isThere = isInBuckets(tx, { column: tx`users.bucket`, buckets: named.map(({ bucket }) => bucket) });
  return tx<FoundUser[]>`
    select users.id, users.customer_id as "customerId", users.attributes
    from users
    where users.workspace_id = ${workspaceId} and ${isThere}
      and users.id = any(${[...new Set(named.map(({ userId }) => userId))]}::text[])`;
}
