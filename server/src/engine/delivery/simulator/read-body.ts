import type { Readable } from 'node:stream';

const maxBodyBytes = 64 * 1024;

/** The body of a request, or as much of it as a simulator looks at. Never rejects. */
export function readBody(stream: Readable): Promise<Buffer> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    let bytes = 0;
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length;
      if (bytes <= maxBodyBytes) pieces.push(piece);
    });
    stream.on('end', () => resolve(Buffer.concat(pieces)));
    // A stream that ends early has no end event; its response is discarded.
    stream.on('close', () => resolve(Buffer.concat(pieces)));
  });
}
