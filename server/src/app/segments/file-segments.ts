import { randomBytes } from 'node:crypto';
import { ServiceError } from '../../domain/errors.ts';
import { makeId } from '../../domain/ids.ts';
import { maxFileBytes } from '../../domain/limits/segments.ts';
import { ringAfterCommit } from '../../engine/doorbell.ts';
import { inTransaction, withSession } from '../../storage/database.ts';
import type { Transaction, Session } from '../../storage/database.ts';
import {
  insertOperation,
  makeFileStaging,
  stageFilePiece,
  storeStagedFile,
} from '../../storage/segments/segment-operations.ts';
import {
  findSegmentById,
  findSegmentByName,
  insertSegment,
  lockSegment,
  lockSegmentsOfWorkspace,
  markSegmentFilling,
} from '../../storage/segments/segments.ts';
import type { Segment } from '../../storage/segments/segments.ts';
import { audit } from '../accounts/audit.ts';
import { answerOnce } from '../idempotency.ts';
import { requireWorkspace } from '../workspaces.ts';
import { countFileOperation, requireSegmentQuota } from './segment-limits.ts';
import type { Once, SegmentCaller, SegmentDependencies } from './segment-limits.ts';

export type FileSource = {
  /** Null if the file is posted to us. */
  fileUrl: string | null;
  callbackUrl: string | null;
  emails: string[];
};

export type CreateFileSegment = FileSource & {
  kind: 'CREATE';
  name: string;
  attributeName: string;
  attributeType: 'string' | 'double';
  expiryDays: number;
  source: 'API' | 'CONSOLE';
};

export type ChangeFileSegment = FileSource & {
  kind: 'ADD' | 'REMOVE' | 'REPLACE';
  name: string;
  /** Takes precedence over the name if both are given (fact 2.1). */
  segmentId: string | undefined;
  attributeName: string;
  attributeType: 'string' | 'double';
};

export type FileOperationCommand = CreateFileSegment | ChangeFileSegment;

export type AcceptedOperation = { segmentId: string; segmentName: string; operationId: string; requestId: string };

/**
 * Accepts a file operation (interface 4.3): segment, operation and the count against the limits in one transaction; a rejected
 * operation leaves nothing. The download starts after the commit.
 *
 * @throws ServiceError SEGMENT_NAME_TAKEN, SEGMENT_NOT_FOUND, SEGMENT_NOT_OF_FILES, SEGMENT_ARCHIVED, SEGMENT_FIELD_INVALID,
 * SEGMENT_ACTIVE_LIMITED, SEGMENT_OPERATIONS_LIMITED, IDEMPOTENCY_KEY_INVALID, IDEMPOTENCY_CONFLICT
 */
export async function requestFileOperation(
  deps: SegmentDependencies,
  request: SegmentCaller & Once & { command: FileOperationCommand },
): Promise<AcceptedOperation> {
  const { workspaceId, command } = request;
  const at = deps.clock.now();
  const once = { workspaceId, operation: `segment:${command.kind}`, key: request.idempotencyKey };
  return answerOnce(deps, { ...once, rawBody: request.rawBody, at }, (tx) =>
    storeFileOperation(deps, tx, { ...request, at }),
  );
}

/** Does the same in the caller's transaction, for posted files. */
export async function storeFileOperation(
  { clock, limits }: Pick<SegmentDependencies, 'clock' | 'limits'>,
  tx: Transaction,
  request: SegmentCaller & { command: FileOperationCommand; at: Date },
): Promise<AcceptedOperation> {
  const { actor, workspaceId, command, at } = request;
  await requireWorkspace(tx, workspaceId);
  const segment =
    command.kind === 'CREATE'
      ? await createSegment(tx, { ...request, command, limits })
      : await takeSegment(tx, { workspaceId, command, at, limits });
  await countFileOperation(tx, { workspaceId, at, limits });
  const operationId = makeId(at);
  const requestId = randomBytes(16).toString('hex');
  await insertOperation(tx, {
    id: operationId,
    workspaceId,
    segmentId: segment.id,
    kind: command.kind,
    requestId,
    fileUrl: command.fileUrl,
    callbackUrl: command.callbackUrl,
    emails: command.emails,
    requestedBy: actor.name,
    at,
  });
  const action = command.fileUrl === null ? 'segment.upload' : 'segment.fetch';
  const object = { id: segment.id, name: segment.name };
  const detail = { operation: operationId };
  await audit(tx, { actor, workspaceId, action, object, detail, at: clock.realNow() });
  ringAfterCommit(tx, 'segments');
  return { segmentId: segment.id, segmentName: segment.name, operationId, requestId };
}

type Creation = SegmentCaller & { command: CreateFileSegment; at: Date; limits: SegmentDependencies['limits'] };

async function createSegment(
  tx: Transaction,
  { workspaceId, actor, command, at, limits }: Creation,
): Promise<Pick<Segment, 'id' | 'name'>> {
  // A used name is reported before a reached limit of active segments (fact 2.1: 409); the insert decides between two
  // concurrent requests.
  if (await findSegmentByName(tx, { workspaceId, name: command.name }))
    throw new ServiceError('SEGMENT_NAME_TAKEN', { field: command.name });
  await requireSegmentQuota(tx, { workspaceId, limits });
  const id = makeId(at);
  const isNew = await insertSegment(tx, {
    id,
    workspaceId,
    name: command.name,
    kind: 'FILE',
    state: 'FILLING',
    source: command.source,
    attributeName: command.attributeName,
    attributeType: command.attributeType,
    includedFilters: null,
    excludedFilters: null,
    description: null,
    filtersDigest: null,
    usesSegments: [],
    partner: null,
    cohortId: null,
    userCount: 0,
    expiryDays: command.expiryDays,
    expiresAt: new Date(at.getTime() + command.expiryDays * 24 * 3_600_000),
    createdBy: actor.name,
    at,
  });
  if (!isNew) throw new ServiceError('SEGMENT_NAME_TAKEN', { field: command.name });
  return { id, name: command.name };
}

type Change = { workspaceId: string; command: ChangeFileSegment; at: Date; limits: SegmentDependencies['limits'] };

async function takeSegment(tx: Transaction, { workspaceId, command, at, limits }: Change): Promise<Segment> {
  const shown = command.segmentId ?? command.name;
  // Locked before the segment, as in the creation of one.
  await lockSegmentsOfWorkspace(tx, workspaceId);
  const found = command.segmentId
    ? await findSegmentById(tx, { workspaceId, id: command.segmentId })
    : await findSegmentByName(tx, { workspaceId, name: command.name });
  if (!found) throw new ServiceError('SEGMENT_NOT_FOUND', { field: shown });
  if (found.kind !== 'FILE') throw new ServiceError('SEGMENT_NOT_OF_FILES', { field: shown });
  const segment = (await lockSegment(tx, { workspaceId, id: found.id }))!;
  if (segment.state === 'FAILED') await requireSegmentQuota(tx, { workspaceId, limits });
  if (segment.state === 'ARCHIVED') throw new ServiceError('SEGMENT_ARCHIVED', { field: shown });
  for (const [field, own, sent] of [
    ['attribute_name', segment.attributeName, command.attributeName],
    ['attribute_type', segment.attributeType, command.attributeType],
  ] as const) {
    if (own !== sent)
      throw new ServiceError('SEGMENT_FIELD_INVALID', { field, reason: `the segment was created with ${own}` });
  }
  await markSegmentFilling(tx, { id: segment.id, at });
  return segment;
}

export type PostFileDependencies = Pick<SegmentDependencies, 'database' | 'clock' | 'limits'>;

export type PostedFile = SegmentCaller & {
  command: FileOperationCommand & { fileUrl: null };
  /** The bytes of the file as they arrive; read once, and not at all if the operation is rejected anyway. */
  bytes: AsyncIterable<Uint8Array>;
};

/**
 * Accepts a file operation with a posted file: file, segment, operation and the count against the limits in one transaction, so
 * a rejected or interrupted file leaves nothing behind. One piece is held in memory.
 *
 * That transaction begins when the whole file has arrived. Its locks (the workspace's segments, its limits) must not be held
 * for the duration of a slow upload, and a long transaction would hold back VACUUM (fault F20).
 *
 * @throws ServiceError as requestFileOperation without the idempotency errors; NOT_FOUND for an unknown workspace;
 * SEGMENT_FIELD_INVALID for a file over 150 MB; and everything that the bytes throw
 */
export async function postFile(
  deps: PostFileDependencies,
  { bytes, ...request }: PostedFile,
): Promise<AcceptedOperation> {
  await refuseBeforeReading(deps, request);
  return withSession(deps.database, async (session) => {
    await makeFileStaging(session);
    let number = 0;
    for await (const piece of cutPieces(bytes)) {
      await stageFilePiece(session, { number, bytes: piece });
      number += 1;
    }
    return storeFile(deps, session, request);
  });
}

function storeFile(
  deps: PostFileDependencies,
  session: Session,
  request: Omit<PostedFile, 'bytes'>,
): Promise<AcceptedOperation> {
  return inTransaction(session, async (tx) => {
    const accepted = await storeFileOperation(deps, tx, { ...request, at: deps.clock.now() });
    await storeStagedFile(tx, accepted.operationId);
    return accepted;
  });
}

/** Returns the error for a file over the limit, for callers that know its size before reading it. */
export function fileTooLarge(): ServiceError {
  return new ServiceError('SEGMENT_FIELD_INVALID', { field: 'file', reason: 'cannot be greater than 150MB' });
}

const pieceBytes = 1024 * 1024;

/** Yields pieces of 1 MiB, the last one shorter; throws at the first byte beyond the limit (decision D25). */
async function* cutPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const piece = Buffer.allocUnsafe(pieceBytes);
  let used = 0;
  let total = 0;
  for await (const chunk of bytes) {
    total += chunk.length;
    if (total > maxFileBytes) throw fileTooLarge();
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + pieceBytes - used);
      piece.set(part, used);
      used += part.length;
      from += part.length;
      if (used < pieceBytes) continue;
      yield piece;
      used = 0;
    }
  }
  if (used > 0) yield piece.subarray(0, used);
}

class WouldBeAccepted extends Error {}

/**
 * Throws the error with which the operation would be rejected now. It is stored and rolled back, which also releases its locks.
 */
async function refuseBeforeReading(deps: PostFileDependencies, request: Omit<PostedFile, 'bytes'>): Promise<void> {
  try {
    await inTransaction(deps.database, async (tx) => {
      await storeFileOperation(deps, tx, { ...request, at: deps.clock.now() });
      throw new WouldBeAccepted();
    });
  } catch (error) {
    if (!(error instanceof WouldBeAccepted)) throw error;
  }
}
