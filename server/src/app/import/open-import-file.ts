import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** Opens a file of lines, compressed or not, and counts the bytes that were read of it. */
export function openImportFile(path: string, progress: { bytes: number }): NodeJS.ReadableStream {
  const raw = createReadStream(path, { highWaterMark: 1024 * 1024 });
  raw.on('data', (piece) => {
    progress.bytes += piece.length;
  });
  // What cannot be read is told by the stream that is returned, to whoever reads it.
  return path.endsWith('.gz') ? pipeline(raw, createGunzip(), () => {}) : raw;
}
