import type { Database } from '../../storage/database.ts';
import { findFilePiece } from '../../storage/segments/segment-operations.ts';

/** The pieces of a file that was posted to us, in order. */
export async function* readPostedFile(database: Database, operationId: string): AsyncGenerator<Buffer> {
  for (let number = 0; ; number += 1) {
    const piece = await findFilePiece(database, { operationId, number });
    if (!piece) return;
    yield piece;
  }
}
