import { ServiceError } from '../../domain/errors.ts';
import { maxFileBytes } from '../../domain/segments/limits.ts';
import { inTransaction, withSession } from '../../storage/database.ts';
import type { Session, Transaction } from '../../storage/database.ts';
import { makeFileStaging, stageFilePiece, storeStagedFile } from '../../storage/segments/segment-operations.ts';
import { storeFileOperation } from './request-file-operation.ts';
import type { AcceptedOperation, FileOperationCommand } from './request-file-operation.ts';
import type { SegmentCaller, SegmentDependencies } from './segment-dependencies.ts';
import { requireWorkspace } from '../workspaces/require-workspace.ts';

export type PostFileDependencies = Pick<SegmentDependencies, 'database' | 'clock' | 'limits'>;

export type PostedFile = SegmentCaller & {
  command: FileOperationCommand & { fileUrl: null };
  /** The file as it comes; read once, and not at all when the operation is refused anyway. */
  bytes: AsyncIterable<Uint8Array>;
  /** What is written with the operation, in its transaction. */
  note?: (tx: Transaction, accepted: AcceptedOperation) => Promise<void>;
};

/**
 * Accepts a file operation whose file is posted to us: file, segment, operation and the count against the limits in one
 * transaction, so a file that is refused or interrupted leaves nothing behind. One piece is held in memory.
 *
 * That transaction begins when all of the file has come. Its locks (the workspace's segments, its limits) must
 * not be held for as long as a slow upload takes, and a long transaction would hold back VACUUM (fault F20).
 *
 * @throws ServiceError as requestFileOperation without the idempotency ones; NOT_FOUND for an unknown workspace;
 * SEGMENT_FIELD_INVALID for a file over 150 MB; and whatever the bytes throw
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
  { note, ...request }: Omit<PostedFile, 'bytes'>,
): Promise<AcceptedOperation> {
  return inTransaction(session, async (tx) => {
    const accepted = await storeFileOperation(deps, tx, { ...request, at: deps.clock.now() });
    await storeStagedFile(tx, accepted.operationId);
    await note?.(tx, accepted);
    return accepted;
  });
}

/** The refusal of a file over the limit, for callers that know its size before reading it. */
export function fileTooLarge(): ServiceError {
  return new ServiceError('SEGMENT_FIELD_INVALID', { field: 'file', reason: 'cannot be greater than 150MB' });
}

const pieceBytes = 1024 * 1024;

/** Pieces of 1 MiB, the last one shorter; ends at the first byte beyond the limit (decision D25). */
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

/** Throws what the operation would be refused with now. It is stored and undone, which also ends its locks. */
async function refuseBeforeReading(deps: PostFileDependencies, request: Omit<PostedFile, 'bytes'>): Promise<void> {
  try {
    await inTransaction(deps.database, async (tx) => {
      await requireWorkspace(tx, request.workspaceId);
      await storeFileOperation(deps, tx, { ...request, at: deps.clock.now() });
      throw new WouldBeAccepted();
    });
  } catch (error) {
    if (!(error instanceof WouldBeAccepted)) throw error;
  }
}
