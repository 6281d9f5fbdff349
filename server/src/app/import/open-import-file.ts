import { createReadStream } from 'node:fs';
import { createGunzip } from 'node:zlib';

/** Opens a file of lines, compressed or not, and counts the bytes that were read of it. */
export function openImportFile(path: string, progress: { bytes: number }): NodeJS.ReadableStream {
  const raw = createReadStream(path, { highWaterMark: 1024 * 1024 });
  raw.on('data', (piece) => {
    progress.bytes += piece.length;
  });
  return path.endsWith('.gz') ? raw.pipe(createGunzip()) : raw;
}
