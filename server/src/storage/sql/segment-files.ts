import type { Queryable } from '../pool.ts';

/** Stores the next piece of a file that is posted to us. */
export async function insertFilePiece(
  tx: Queryable,
  piece: { operationId: string; number: number; bytes: Buffer },
): Promise<void> {
  await tx`
    insert into segment_file_pieces (operation_id, number, bytes)
    values (${piece.operationId}, ${piece.number}, ${piece.bytes})`;
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
