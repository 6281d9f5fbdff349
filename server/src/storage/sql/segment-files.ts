import type postgres from 'postgres';
import type { Queryable } from '../pool.ts';

/** One connection, because the file waits in a table of its own. */
export type PostingSession = postgres.ReservedSql<Record<string, never>>;

/**
 * Makes the empty place where a file waits until all of it has come: a temporary table, not logged, seen by this
 * connection alone, gone with it. Nothing is locked and no transaction is open while the rest of the file is awaited.
 */
export async function makeFileStaging(session: PostingSession): Promise<void> {
  await session`create temporary table posted_file_pieces (number integer primary key, bytes bytea not null)`;
}

/** Keeps the next piece of a file that is being posted. */
export async function stageFilePiece(
  session: PostingSession,
  { number, bytes }: { number: number; bytes: Uint8Array },
): Promise<void> {
  await session`insert into posted_file_pieces (number, bytes) values (${number}, ${bytes})`;
}

/** The connection goes back to the pool: it must hold nothing of the file. */
export async function dropFileStaging(session: PostingSession): Promise<void> {
  await session`drop table if exists posted_file_pieces`;
}

/** Stores the file that waits on this connection as the file of an operation, which must exist. */
export async function storeStagedFile(tx: Queryable, operationId: string): Promise<void> {
  await tx`
    insert into segment_file_pieces (operation_id, number, bytes)
    select ${operationId}, number, bytes from posted_file_pieces`;
}

/** One piece, or undefined after the last. Index: primary key. */
export async function findFilePiece(
  tx: Queryable,
  { operationId, number }: { operationId: string; number: number },
): Promise<Buffer | undefined> {
  const [piece] = await tx<{ bytes: Buffer }[]>`
    select bytes from segment_file_pieces where operation_id = ${operationId} and number = ${number}`;
  return piece?.bytes;
}

/** The operation has ended: its file is no longer needed. */
export async function deleteFilePieces(tx: Queryable, operationId: string): Promise<void> {
  await tx`delete from segment_file_pieces where operation_id = ${operationId}`;
}
