import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';

/** A line of a file; `tooLong` if it exceeded the limit and was not kept. */
export type FileLine = { text: string } | { tooLong: true };

// The API accepts 128 KB of body (fact 5); a line without an end must not fill the memory.
const maxLineBytes = 128 * 1024;

/** Splits a byte stream into lines at LF, CR LF or CR, without a byte-order mark. Memory is bounded for any input. */
export async function* readLines(stream: NodeJS.ReadableStream): AsyncGenerator<FileLine> {
  const splitter = makeSplitter();
  for await (const piece of stream) yield* splitter.push(piece as Buffer);
  yield* splitter.end();
}

function makeSplitter() {
  let kept: Buffer[] = [];
  let keptBytes = 0;
  let isTooLong = false;
  let isFirst = true;
  let endedWithReturn = false;

  function keep(part: Buffer): void {
    keptBytes += part.length;
    if (keptBytes > maxLineBytes) {
      isTooLong = true;
      kept = [];
    } else if (part.length > 0) kept.push(part);
  }

  function finish(): FileLine {
    const line: FileLine = isTooLong ? { tooLong: true } : { text: decode(Buffer.concat(kept)) };
    kept = [];
    keptBytes = 0;
    isTooLong = false;
    return line;
  }

  function decode(bytes: Buffer): string {
    const text = bytes.toString('utf8');
    const hasMark = isFirst && text.startsWith('\ufeff');
    isFirst = false;
    return hasMark ? text.slice(1) : text;
  }

  return {
    *push(piece: Buffer): Generator<FileLine> {
      let start = 0;
      for (let index = 0; index < piece.length; index += 1) {
        const byte = piece[index];
        if (byte !== 10 && byte !== 13) {
          endedWithReturn = false;
          continue;
        }
        if (byte === 10 && endedWithReturn) {
          // The second half of CR LF; the line ended at the first.
          endedWithReturn = false;
          start = index + 1;
          continue;
        }
        keep(piece.subarray(start, index));
        yield finish();
        start = index + 1;
        endedWithReturn = byte === 13;
      }
      keep(Buffer.from(piece.subarray(start)));
    },
    *end(): Generator<FileLine> {
      if (keptBytes > 0) yield finish();
    },
  };
}

/** Opens a file of lines, compressed or not, and counts the bytes read from it. */
export function openImportFile(path: string, progress: { bytes: number }): NodeJS.ReadableStream {
  const raw = createReadStream(path, { highWaterMark: 1024 * 1024 });
  raw.on('data', (piece) => {
    progress.bytes += piece.length;
  });
  // The returned stream reports read errors to its reader.
  return path.endsWith('.gz') ? pipeline(raw, createGunzip(), () => {}) : raw;
}

const maxKept = 10_000;

/** A rejected line of a file. */
export type Reject = { line: number; reason: string };

export type Rejects = {
  add(rejects: Reject[]): Promise<void>;
  close(): Promise<void>;
};

/** Creates the file of rejected lines at the first one; a continued import appends to it. Only the first 10,000 are kept. */
export function makeRejectsFile(path: string, { isContinued }: { isContinued: boolean }): Rejects {
  let handle: FileHandle | undefined;
  let kept = 0;
  return {
    async add(rejects) {
      const taken = rejects.slice(0, maxKept - kept);
      if (taken.length === 0) return;
      kept += taken.length;
      handle ??= await open(path, isContinued ? 'a' : 'w');
      await handle.write(taken.map((reject) => `${JSON.stringify(reject)}\n`).join(''));
    },
    async close() {
      await handle?.close();
    },
  };
}
