import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';

type Shape = { width: number; height: number; isInterlaced: boolean };

/** Makes a PNG of noise: as large as a file of its size can be, and slow to decode if it is interlaced. */
export function makeNoisyPng({ width, height, isInterlaced = false }: Partial<Shape> & Omit<Shape, 'isInterlaced'>) {
  const rows = (isInterlaced ? interlacedPasses : wholePass).map(([left, top, across, down]) => {
    const rowBytes = 1 + 3 * Math.ceil((width - left) / across);
    const bytes = randomBytes(rowBytes * Math.ceil((height - top) / down));
    // The filter of a row is one of five.
    for (let at = 0; at < bytes.length; at += rowBytes) bytes[at] = 4;
    return bytes;
  });
  return joinPng({ width, height, isInterlaced }, deflateSync(Buffer.concat(rows), { level: 1 }));
}

/** First column, first row, and the distances of columns and rows (the specification of PNG, section 8.1). */
type Pass = readonly [number, number, number, number];
const wholePass: readonly Pass[] = [[0, 0, 1, 1]];
const interlacedPasses: readonly Pass[] = [
  [0, 0, 8, 8],
  [4, 0, 8, 8],
  [0, 4, 4, 8],
  [2, 0, 4, 4],
  [0, 2, 2, 4],
  [1, 0, 2, 2],
  [0, 1, 1, 2],
];

/** Returns a PNG of three channels of eight bits with these compressed rows. */
export function joinPng({ width, height, isInterlaced }: Shape, compressed: Buffer): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, isInterlaced ? 1 : 0], 8);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    pngChunk('IHDR', header),
    pngChunk('IDAT', compressed),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

export function pngChunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}
