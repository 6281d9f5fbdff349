import type { Database } from '../../storage/database.ts';
import type { ClaimedOperation } from '../../storage/segments/segment-operations.ts';
import type { OutgoingClient } from '../outgoing-http/outgoing-client.ts';
import { downloadFile } from './download-file.ts';
import { readPostedFile } from './read-posted-file.ts';

export type OpenFile = {
  pieces: AsyncIterable<Buffer>;
  /** Ends the download. Does nothing once the pieces were read to the end. */
  close(): Promise<void>;
};

/**
 * Opens the file of an operation. Resolves when its first piece has arrived: a server that never answers then holds a socket, and
 * neither a session nor the turn of another file.
 *
 * @throws DownloadFailedError, or the signal's reason
 */
export async function openFile(
  { database, outgoing }: { database: Database; outgoing: OutgoingClient },
  { operation, signal }: { operation: ClaimedOperation; signal: AbortSignal },
): Promise<OpenFile> {
  const source =
    operation.fileUrl === null
      ? readPostedFile(database, operation.id)
      : downloadFile(outgoing, { url: operation.fileUrl, signal });
  const first = await source.next();
  async function* pieces(): AsyncGenerator<Buffer> {
    if (first.done) return;
    yield first.value;
    yield* source;
  }
  return {
    pieces: pieces(),
    async close() {
      await source.return(undefined);
    },
  };
}
