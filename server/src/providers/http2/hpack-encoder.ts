import { staticTable } from './hpack-tables.ts';
import { assertValue, headerOverheadBytes } from './requests.ts';
import type { Header, RequestHead } from './requests.ts';

/** The parts of a request that the encoder reads. `values` belong to `head.names`, in the same order. */
export type HeadersToEncode = { head: RequestHead; path: string; values: readonly string[] };

const ownTableBytes = 4096;
// RFC 7541 §4.1.
const entryOverheadBytes = 32;
/** Index of `:path` (RFC 7541 Appendix A). */
const pathIndex = 4;

const staticPairs = new Map(staticTable.map((pair, index) => [pair.join('\0'), index + 1]));
const staticNames = new Map(staticTable.map(([name], index) => [name, index + 1] as const).reverse());

type Entry = { key: string; bytes: number };
/** An encoded head, valid while the table does not change: the bytes before the path, and the bytes after it. */
type Written = { version: number; before: Buffer; after: Buffer };

/**
 * Writes the header blocks of one connection (RFC 7541). Blocks must be sent in the order in which they are encoded, because
 * they share a table with the peer. A head is encoded until the table contains all of it. From then on its bytes are copied,
 * until the table changes.
 */
export class HpackEncoder {
  readonly #pseudo: readonly Header[];
  readonly #entries: Entry[] = [];
  /** Number of the insertion, counted from 1 over the connection's life. */
  readonly #insertions = new Map<string, number>();
  readonly #written = new WeakMap<RequestHead, Written>();
  readonly #nameIndexes = new WeakMap<RequestHead, readonly number[]>();
  #lastHead: RequestHead | undefined;
  #lastWritten: Written | undefined;
  #lastNameIndexes: readonly number[] = [];
  #inserted = 0;
  #tableBytes = 0;
  #limitBytes = ownTableBytes;
  /** Table sizes that the next block begins with. */
  #announced: number[] = [];
  /** Changes with the table, and with anything else that changes the bytes of a head. */
  #version = 0;
  #into: Buffer = Buffer.alloc(0);
  #place = 0;

  /** `pseudo`: the headers before the path in every request of this connection. */
  constructor(pseudo: readonly Header[]) {
    for (const [name, value] of pseudo) assertValue(name, value);
    this.#pseudo = pseudo;
  }

  /** Returns the maximum length of a block for this request. */
  maxBytes({ head, path, values }: HeadersToEncode): number {
    let bytes = head.maxBytes + path.length + 2 * headerOverheadBytes;
    for (const [name, value] of this.#pseudo) bytes += name.length + value.length + headerOverheadBytes;
    for (let number = 0; number < values.length; number += 1) bytes += values[number]!.length;
    return bytes;
  }

  /**
   * Writes a block and returns where it ends; `into` has room for `maxBytes`.
   *
   * @throws TypeError for an invalid header value; the table is then unchanged
   */
  encode(request: HeadersToEncode, into: Buffer, place: number): number {
    const { head, path, values } = request;
    if (values.length !== head.names.length) throw new TypeError('as many values as names are needed');
    if (head !== this.#lastHead) this.#remember(head);
    this.#into = into;
    this.#place = place;
    const written = this.#lastWritten;
    if (written?.version === this.#version) {
      this.#copy(written.before);
      this.#literal(pathIndex, ':path', path);
      this.#copy(written.after);
    } else this.#encodeHead(request);
    for (let number = 0; number < values.length; number += 1)
      this.#literal(this.#lastNameIndexes[number]!, head.names[number]!, values[number]!);
    return this.#place;
  }

  /** Applies the peer's SETTINGS_HEADER_TABLE_SIZE. */
  limitTable(bytes: number): void {
    this.#limitBytes = Math.min(ownTableBytes, bytes);
    this.#evictTo(this.#limitBytes);
    // The smallest size since the last block comes first, if it was smaller than the final one (RFC 7541 §4.2).
    const smallest = Math.min(this.#limitBytes, ...this.#announced);
    this.#announced = smallest < this.#limitBytes ? [smallest, this.#limitBytes] : [this.#limitBytes];
    this.#version += 1;
  }

  #remember(head: RequestHead): void {
    let indexes = this.#nameIndexes.get(head);
    if (!indexes) {
      indexes = head.names.map((name) => staticNames.get(name) ?? 0);
      this.#nameIndexes.set(head, indexes);
    }
    this.#lastHead = head;
    this.#lastNameIndexes = indexes;
    this.#lastWritten = this.#written.get(head);
  }

  #encodeHead({ head, path, values }: HeadersToEncode): void {
    // Checked first, because an abandoned block would leave the table ahead of the peer's.
    assertValue(':path', path);
    for (const [number, value] of values.entries()) assertValue(head.names[number]!, value);
    const version = this.#version;
    const start = this.#place;
    if (this.#announced.length > 0) {
      for (const bytes of this.#announced) this.#integer(bytes, 5, 0x20);
      this.#announced = [];
      this.#version += 1;
    }
    for (const header of this.#pseudo) this.#field(header);
    const beforePath = this.#place;
    this.#literal(pathIndex, ':path', path);
    const afterPath = this.#place;
    for (const header of head.headers) this.#field(header);
    if (this.#version !== version) return;
    const before = Buffer.from(this.#into.subarray(start, beforePath));
    const after = Buffer.from(this.#into.subarray(afterPath, this.#place));
    this.#lastWritten = { version, before, after };
    this.#written.set(head, this.#lastWritten);
  }

  /** Writes a header as its index, or as a literal that gets one (RFC 7541 §6.1, §6.2.1). */
  #field([name, value]: Header): void {
    const key = `${name}\0${value}`;
    const insertion = this.#insertions.get(key);
    // The newest entry is 62 (RFC 7541 §2.3.3).
    const index = insertion === undefined ? staticPairs.get(key) : staticTable.length + 1 + this.#inserted - insertion;
    if (index !== undefined) return this.#integer(index, 7, 0x80);
    const nameIndex = staticNames.get(name) ?? 0;
    const bytes = name.length + value.length + entryOverheadBytes;
    // An entry larger than the table would empty it (RFC 7541 §4.4).
    if (bytes > this.#limitBytes) return this.#literal(nameIndex, name, value);
    this.#integer(nameIndex, 6, 0x40);
    if (nameIndex === 0) this.#text(name, name);
    this.#text(name, value);
    this.#insert({ key, bytes });
  }

  /** Writes a literal that gets no table entry (RFC 7541 §6.2.2). */
  #literal(nameIndex: number, name: string, value: string): void {
    this.#integer(nameIndex, 4, 0);
    if (nameIndex === 0) this.#text(name, name);
    this.#text(name, value);
  }

  #insert(entry: Entry): void {
    this.#evictTo(this.#limitBytes - entry.bytes);
    this.#inserted += 1;
    this.#tableBytes += entry.bytes;
    this.#entries.push(entry);
    this.#insertions.set(entry.key, this.#inserted);
    this.#version += 1;
  }

  #evictTo(bytes: number): void {
    while (this.#tableBytes > bytes) {
      const oldest = this.#entries.shift()!;
      this.#tableBytes -= oldest.bytes;
      this.#insertions.delete(oldest.key);
      this.#version += 1;
    }
  }

  #copy(bytes: Buffer): void {
    const into = this.#into;
    let place = this.#place;
    // For a few bytes, a loop costs less than a call of `set`.
    if (bytes.length < 32) for (let at = 0; at < bytes.length; at += 1) into[place++] = bytes[at]!;
    else {
      into.set(bytes, place);
      place += bytes.length;
    }
    this.#place = place;
  }

  /** Writes an integer (RFC 7541 §5.1). */
  #integer(value: number, prefixBits: number, flags: number): void {
    const into = this.#into;
    const full = (1 << prefixBits) - 1;
    if (value < full) {
      into[this.#place++] = flags | value;
      return;
    }
    into[this.#place++] = flags | full;
    let rest = value - full;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) into[this.#place++] = (rest & 0x7f) | 0x80;
    into[this.#place++] = rest;
  }

  /** Checks and writes a text in one pass. `name`: the header that it belongs to. */
  #text(name: string, text: string): void {
    const { length } = text;
    this.#integer(length, 7, 0);
    const into = this.#into;
    let place = this.#place;
    let isText = length === 0 || (isInner(text.charCodeAt(0)) && isInner(text.charCodeAt(length - 1)));
    for (let at = 0; at < length; at += 1) {
      const code = text.charCodeAt(at);
      if (code < 0x20 ? code !== 0x09 : code === 0x7f || code > 0xff) isText = false;
      into[place++] = code;
    }
    if (!isText) throw new TypeError(`not a value of header ${name}`);
    this.#place = place;
  }
}

/** True unless the character is white space, with which no value begins or ends (RFC 9113 §8.2.1). */
function isInner(code: number): boolean {
  return code !== 0x20 && code !== 0x09;
}
