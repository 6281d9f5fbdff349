import { maxFileValueBytes, maxRejectsKept } from '../../domain/limits/segments.ts';
import { fileFault, parseFileNumber } from '../../domain/segments/file-operations.ts';
import type { RejectReason } from '../../domain/segments/file-operations.ts';

/** The file is not a column of values. */
export class FileUnreadableError extends Error {
  override readonly name = 'FileUnreadableError';
}

export type SegmentFileParser = {
  /** Parses the next bytes of the file. @returns lines ready for COPY, or undefined if there are none yet */
  push(piece: Buffer): Buffer | undefined;
  /** Parses the rest, because the file has ended. */
  end(): Buffer | undefined;
  /** Lines seen so far (interface 2.7, values_found). */
  found(): number;
  /** Lines passed on. */
  kept(): number;
  /** The first 10,000 skipped lines, in file order. */
  rejects(): { line: number; reason: RejectReason }[];
};

const headBytes = 512;
const [plain, lineEnd, forbidden, escaped, high] = [0, 1, 2, 3, 4];
const classes = new Uint8Array(256);
classes.fill(forbidden, 0, 0x20);
classes.fill(high, 0x80);
classes[0x0a] = lineEnd;
classes[0x0d] = lineEnd;
classes[0x7f] = forbidden;
for (const character of `,"'#`) classes[character.charCodeAt(0)] = forbidden;
classes[0x5c] = escaped;

/**
 * Converts the bytes of a file to lines for COPY: line number, tab, value. The rules are those of decision D23, D24. A line of
 * plain ASCII is copied as bytes, without becoming a string: 15 million lines would otherwise be 15 million strings. Memory use
 * is one piece and one line, however long the line is.
 *
 * @throws FileUnreadableError from `push` or `end`
 */
export function makeSegmentFileParser(type: 'string' | 'double'): SegmentFileParser {
  const out = makeOutput();
  const rejects: { line: number; reason: RejectReason }[] = [];
  const rest = Buffer.alloc(maxFileValueBytes);
  const head = makeHead();
  let found = 0;
  let kept = 0;
  // The current line: the part stored in `rest`, whether it is too long, and the byte classes seen in it.
  let restBytes = 0;
  let isLong = false;
  let seen = 0;
  let reason: RejectReason | undefined;
  let endedWithReturn = false;

  function reject(why: RejectReason): void {
    if (rejects.length < maxRejectsKept) rejects.push({ line: found, reason: why });
  }

  function finishLine(piece: Buffer, start: number, end: number): void {
    found += 1;
    const length = restBytes + end - start;
    if (length === 0 && !isLong) reject('empty');
    else if (isLong || length > maxFileValueBytes) reject('long');
    else if (reason !== undefined) reject(reason);
    else keepLine(piece, start, end);
    restBytes = 0;
    isLong = false;
    seen = 0;
    reason = undefined;
  }

  function keepLine(piece: Buffer, start: number, end: number): void {
    if (type === 'string' && seen === 0) {
      out.line(found, rest, 0, restBytes, piece, start, end);
      kept += 1;
      return;
    }
    const bytes = Buffer.concat([rest.subarray(0, restBytes), piece.subarray(start, end)]);
    const value = normalise(bytes, type);
    if ('reason' in value) return reject(value.reason);
    const text = escapeForCopy(value.text);
    out.line(found, rest, 0, 0, text, 0, text.length);
    kept += 1;
  }

  function keepRest(piece: Buffer, start: number): void {
    const bytes = piece.length - start;
    if (restBytes + bytes > maxFileValueBytes) isLong = true;
    else {
      piece.copy(rest, restBytes, start);
      restBytes += bytes;
    }
  }

  function scan(piece: Buffer): void {
    let start = 0;
    for (let index = 0; index < piece.length; index += 1) {
      const byte = piece[index]!;
      const kind = classes[byte]!;
      if (kind === plain) continue;
      if (kind === lineEnd) {
        // The second half of CR LF; the line ended at the CR.
        if (byte === 0x0a && endedWithReturn && index === start && restBytes === 0 && !isLong) {
          endedWithReturn = false;
          start = index + 1;
          continue;
        }
        finishLine(piece, start, index);
        start = index + 1;
        endedWithReturn = byte === 0x0d;
        continue;
      }
      if (kind === forbidden) reason ??= reasonOf(byte);
      else seen |= kind;
    }
    if (start < piece.length) {
      endedWithReturn = false;
      keepRest(piece, start);
    }
  }

  return {
    push(piece) {
      const bytes = head.push(piece);
      if (bytes) scan(bytes);
      return out.take();
    },
    end() {
      const bytes = head.end();
      if (bytes) scan(bytes);
      if (restBytes > 0 || isLong) finishLine(rest, 0, 0);
      return out.take();
    },
    found: () => found,
    kept: () => kept,
    rejects: () => rejects,
  };
}

/** Holds back a file's first bytes until there are enough to detect its type. Passes them on without the byte order mark. */
function makeHead() {
  let held: Buffer | undefined = Buffer.alloc(0);

  function judge(bytes: Buffer): Buffer {
    held = undefined;
    const fault = fileFault(bytes.subarray(0, headBytes));
    if (fault !== undefined) throw new FileUnreadableError(fault);
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return hasMark ? bytes.subarray(3) : bytes;
  }

  return {
    push(piece: Buffer): Buffer | undefined {
      if (!held) return piece;
      held = Buffer.concat([held, piece]);
      return held.length < headBytes ? undefined : judge(held);
    },
    end: (): Buffer | undefined => held && judge(held),
  };
}

function reasonOf(byte: number): RejectReason {
  if (byte === 0x2c) return 'comma';
  if (byte === 0x23) return 'hash';
  return byte === 0x22 || byte === 0x27 ? 'quote' : 'control';
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
// C1 controls are two bytes in UTF-8, so the byte table does not detect them.

const laterControls = /[\u0080-\u009f]/;

function normalise(bytes: Buffer, type: 'string' | 'double'): { text: string } | { reason: RejectReason } {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return { reason: 'encoding' };
  }
  if (type === 'double') {
    const number = parseFileNumber(text);
    return number === undefined ? { reason: 'number' } : { text: number };
  }
  if (laterControls.test(text)) return { reason: 'control' };
  const normal = text.normalize('NFC');
  return Buffer.byteLength(normal) > maxFileValueBytes ? { reason: 'long' } : { text: normal };
}

/** Escapes backslashes, which are COPY's escape character. */
function escapeForCopy(text: string): Buffer {
  return Buffer.from(text.replaceAll('\\', '\\\\'), 'utf8');
}

/** Collects lines in one growing buffer. Line numbers are written in ASCII. */
function makeOutput() {
  let buffer = Buffer.allocUnsafe(1024 * 1024);
  let used = 0;

  function ensure(bytes: number): void {
    if (used + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + bytes));
    buffer.copy(larger, 0, 0, used);
    buffer = larger;
  }

  function digits(number: number): void {
    let length = 1;
    for (let power = 10; power <= number; power *= 10) length += 1;
    let left = number;
    for (let at = used + length - 1; at >= used; at -= 1) {
      const next = Math.floor(left / 10);
      buffer[at] = 0x30 + left - next * 10;
      left = next;
    }
    used += length;
  }

  function bytes(from: Buffer, start: number, end: number): void {
    // For short values a loop is faster than a call into native code.
    if (end - start < 48) for (let index = start; index < end; index += 1) buffer[used++] = from[index]!;
    else used += from.copy(buffer, used, start, end);
  }

  return {
    // eslint-disable-next-line max-params -- called once a line, 15 million times a file
    line(number: number, first: Buffer, fromFirst: number, toFirst: number, second: Buffer, from: number, to: number) {
      ensure(12 + toFirst - fromFirst + to - from);
      digits(number);
      buffer[used++] = 0x09;
      bytes(first, fromFirst, toFirst);
      bytes(second, from, to);
      buffer[used++] = 0x0a;
    },
    take(): Buffer | undefined {
      if (used === 0) return undefined;
      // Copied, because the caller's stream keeps it while this buffer is reused for the next lines.
      const taken = Buffer.from(buffer.subarray(0, used));
      used = 0;
      return taken;
    },
  };
}
