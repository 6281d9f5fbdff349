/** A line of a file; `tooLong` when it was over the limit and not kept. */
export type FileLine = { text: string } | { tooLong: true };

// The API takes 128 KB of body (fact 5); a line without end must not fill the memory.
const maxLineBytes = 128 * 1024;

/** Splits a byte stream into lines at LF, CR LF or CR; a byte-order mark is dropped. Bounded memory whatever comes. */
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
