import { randomBytes } from 'node:crypto';
import type { Clock } from '../clock.ts';
import { encryptionContext } from '../domain/crypto/encryption.ts';
import type { Encryption } from '../domain/crypto/encryption.ts';
import { ServiceError } from '../domain/errors.ts';
import { makeId } from '../domain/ids.ts';
import { maxEventStreams } from '../domain/limits/delivery.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database } from '../storage/database.ts';
import {
  deleteEventStream,
  findEventStream,
  findEventStreamSecret,
  insertEventStream,
  listEventStreams as listStreams,
  updateEventStream,
  listDeadBatches as listBatches,
  resendDeadBatches as resend,
} from '../storage/outbox/event-streams.ts';
import type { EventStream, EventStreamSettings, DeadBatch, ObjectStoreKey } from '../storage/outbox/event-streams.ts';
import { audit } from './accounts/audit.ts';
import type { Actor } from './accounts/audit.ts';
import { answerOnce } from './idempotency.ts';

export type { DeadBatch, EventStream, EventStreamSettings };
export type EventStreamDependencies = { database: Database; clock: Clock; encryption: Encryption };

type Of = { workspaceId: string; id: string };
type By = { actor: Actor };
/** Identifies a repeat of a request. */
type Once = { once?: { key: string | undefined; rawBody: string } };
const unnamed = { key: undefined, rawBody: '' };

/** The access key of a bucket, with its secret. */
export type ObjectStoreAccess = ObjectStoreKey & { secret: string };
type ToObjectStore = { objectStore?: ObjectStoreAccess | undefined };

// The Standard Webhooks specification asks for 24 to 64 bytes.
const secretBytes = 32;

/** Lists a workspace's streams, oldest first. */
export async function listEventStreams(
  { database }: EventStreamDependencies,
  workspaceId: string,
): Promise<EventStream[]> {
  return listStreams(database, workspaceId);
}

/** @throws ServiceError EVENT_STREAM_NOT_FOUND */
export async function findStream({ database }: EventStreamDependencies, of: Of): Promise<EventStream> {
  const stream = await findEventStream(database, of);
  if (!stream) throw new ServiceError('EVENT_STREAM_NOT_FOUND');
  return stream;
}

/**
 * Adds a stream with a separate secret, so that the receiver of one stream cannot sign for another. It begins with events
 * stored after this. A stream to an object store has no such secret: requests are signed with the access key that is given.
 *
 * @throws ServiceError EVENT_STREAM_LIMITED
 */
export async function createEventStream(
  deps: EventStreamDependencies,
  {
    workspaceId,
    actor,
    once = unnamed,
    objectStore,
    ...settings
  }: EventStreamSettings & ToObjectStore & { workspaceId: string } & By & Once,
): Promise<{ stream: EventStream; secret: string | undefined }> {
  const { clock, encryption } = deps;
  const at = clock.now();
  const made = await answerOnce(deps, { workspaceId, operation: 'event-stream', ...once, at }, async (tx) => {
    const id = makeId(at);
    const secret = objectStore?.secret ?? `whsec_${randomBytes(secretBytes).toString('base64')}`;
    const encryptedSecret = encryption.encrypt(secret, encryptionContext.eventStreamSecret({ workspaceId, id }));
    const row = { ...settings, objectStore, id, workspaceId, encryptedSecret, at, maxStreams: maxEventStreams };
    if (!(await insertEventStream(tx, row))) throw new ServiceError('EVENT_STREAM_LIMITED');
    await audit(tx, { actor, workspaceId, action: 'event-stream.add', object: { id }, at: clock.realNow() });
    return objectStore ? { id } : { id, secret };
  });
  return { stream: await findStream(deps, { workspaceId, id: made.id }), secret: made.secret };
}

/**
 * Changes the given settings. A stream keeps its kind.
 *
 * @throws ServiceError EVENT_STREAM_NOT_FOUND, CAMPAIGN_REQUEST_INVALID for an access key of a stream without a bucket, or a query of a bucket
 */
export async function changeEventStream(
  deps: EventStreamDependencies,
  { actor, workspaceId, id, objectStore, ...changed }: Partial<EventStreamSettings> & ToObjectStore & Of & By,
): Promise<EventStream> {
  const { database, clock, encryption } = deps;
  const at = clock.now();
  const isBucket = (await findStream(deps, { workspaceId, id })).objectStore !== null;
  if (objectStore && !isBucket) throw faultOf('object_store', 'is of a stream to a bucket; create another stream');
  if (isBucket && changed.url !== undefined && /[?#]/.test(changed.url))
    throw faultOf('url', 'must be the address of a bucket, without a query');
  const context = encryptionContext.eventStreamSecret({ workspaceId, id });
  const encryptedSecret = objectStore && encryption.encrypt(objectStore.secret, context);
  await inTransaction(database, async (tx) => {
    const isThere = await updateEventStream(tx, { ...changed, objectStore, encryptedSecret, workspaceId, id, at });
    if (!isThere) throw new ServiceError('EVENT_STREAM_NOT_FOUND');
    await audit(tx, { actor, workspaceId, action: 'event-stream.change', object: { id }, at: clock.realNow() });
  });
  return findStream(deps, { workspaceId, id });
}

/** Also deletes the batches that wait for delivery. @throws ServiceError EVENT_STREAM_NOT_FOUND */
export async function removeEventStream(
  { database, clock }: EventStreamDependencies,
  { actor, workspaceId, id }: Of & By,
): Promise<void> {
  await inTransaction(database, async (tx) => {
    if (!(await deleteEventStream(tx, { workspaceId, id }))) throw new ServiceError('EVENT_STREAM_NOT_FOUND');
    await audit(tx, { actor, workspaceId, action: 'event-stream.remove', object: { id }, at: clock.realNow() });
  });
}

function faultOf(field: string, reason: string): ServiceError {
  return new ServiceError('CAMPAIGN_REQUEST_INVALID', { faults: [{ field, reason }] });
}

/**
 * Returns the secret that signs the requests of a stream, but never that of a bucket's access key.
 *
 * @throws ServiceError EVENT_STREAM_NOT_FOUND, CAMPAIGN_REQUEST_INVALID
 */
export async function readEventStreamSecret(deps: EventStreamDependencies, { actor, ...of }: Of & By): Promise<string> {
  const { database, clock, encryption } = deps;
  if ((await findStream(deps, of)).objectStore !== null)
    throw faultOf('stream', 'stores its batches in a bucket; the secret of an access key is not shown');
  const encrypted = await findEventStreamSecret(database, of);
  if (!encrypted) throw new ServiceError('EVENT_STREAM_NOT_FOUND');
  const { workspaceId, id } = of;
  await inTransaction(database, (tx) =>
    audit(tx, { actor, workspaceId, action: 'event-stream.secret', object: { id }, at: clock.realNow() }),
  );
  return encryption.decrypt(encrypted, encryptionContext.eventStreamSecret(of)).toString('utf8');
}

/** Lists the batches that no receiver accepted, newest first. @throws ServiceError EVENT_STREAM_NOT_FOUND */
export async function listDeadBatches(
  deps: EventStreamDependencies,
  { limit, before, ...of }: Of & { limit: number; before?: string | undefined },
): Promise<DeadBatch[]> {
  const { id } = await findStream(deps, of);
  return listBatches(deps.database, { streamId: id, limit, before });
}

/** Resends one of them, or all, with the full number of attempts. @throws ServiceError EVENT_STREAM_NOT_FOUND */
export async function resendDeadBatches(
  deps: EventStreamDependencies,
  { batchId, actor, once = unnamed, ...of }: Of & { batchId?: string | undefined } & By & Once,
): Promise<number> {
  const { id } = await findStream(deps, of);
  const at = deps.clock.now();
  const { workspaceId } = of;
  return answerOnce(deps, { workspaceId, operation: `event-batches:${id}`, ...once, at }, async (tx) => {
    const batches = await resend(tx, { streamId: id, id: batchId, at });
    if (batchId !== undefined && batches === 0) throw new ServiceError('EVENT_STREAM_NOT_FOUND');
    const object = { id };
    await audit(tx, { actor, workspaceId, action: 'event-stream.resend', object, at: deps.clock.realNow() });
    return batches;
  });
}
