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
import type { EventStream, EventStreamSettings, DeadBatch } from '../storage/outbox/event-streams.ts';
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
 * stored after this.
 *
 * @throws ServiceError EVENT_STREAM_LIMITED
 */
export async function createEventStream(
  deps: EventStreamDependencies,
  { workspaceId, actor, once = unnamed, ...settings }: EventStreamSettings & { workspaceId: string } & By & Once,
): Promise<{ stream: EventStream; secret: string }> {
  const { clock, encryption } = deps;
  const at = clock.now();
  const made = await answerOnce(deps, { workspaceId, operation: 'event-stream', ...once, at }, async (tx) => {
    const id = makeId(at);
    const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`;
    const encryptedSecret = encryption.encrypt(secret, encryptionContext.eventStreamSecret({ workspaceId, id }));
    const row = { ...settings, id, workspaceId, encryptedSecret, at, maxStreams: maxEventStreams };
    if (!(await insertEventStream(tx, row))) throw new ServiceError('EVENT_STREAM_LIMITED');
    await audit(tx, { actor, workspaceId, action: 'event-stream.add', object: { id }, at: clock.realNow() });
    return { id, secret };
  });
  return { stream: await findStream(deps, { workspaceId, id: made.id }), secret: made.secret };
}

/** Changes the given settings. @throws ServiceError EVENT_STREAM_NOT_FOUND */
export async function changeEventStream(
  deps: EventStreamDependencies,
  { actor, workspaceId, id, ...changed }: Partial<EventStreamSettings> & Of & By,
): Promise<EventStream> {
  const { database, clock } = deps;
  const at = clock.now();
  await inTransaction(database, async (tx) => {
    const isThere = await updateEventStream(tx, { ...changed, workspaceId, id, at });
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

/** @throws ServiceError EVENT_STREAM_NOT_FOUND */
export async function readEventStreamSecret(
  { database, clock, encryption }: EventStreamDependencies,
  { actor, ...of }: Of & By,
): Promise<string> {
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
