import { decodeHuffman, isHuffmanText, HpackError, staticTable } from './hpack-tables.ts';

/** More than any provider sends, and far from what would do harm. */
const maxHeaders = 200;
const maxTextBytes = 16 * 1024;

/**
 * Decodes one header block (RFC 7541). There is no dynamic table: this client announces a table of size 0, so a compression
 * bomb cannot grow, and a block that refers to the table is an error.
 *
 * @returns pairs in order
 * @throws HpackError
 */
export function decodeHeaders(block: Buffer): [name: string, value: string][] {
  const headers: [string, string][] = [];
  const reader = new BlockReader(block);
  while (!reader.isAtEnd()) {
    const first = reader.peek();
    if ((first & 0x80) !== 0) headers.push([...fromTable(reader.integer(7))]);
    // A table size update: any size except 0 exceeds the announced one (RFC 7541 §4.2).
    else if ((first & 0xe0) === 0x20) {
      if (reader.integer(5) !== 0) throw new HpackError('table size beyond the one announced');
    } else {
      // With incremental indexing (6 bits), without it or never indexed (4 bits): no difference with a table of size 0.
      const index = reader.integer((first & 0x40) !== 0 ? 6 : 4);
      const name = index === 0 ? reader.text() : fromTable(index)[0];
      headers.push([name, reader.text()]);
    }
    if (headers.length > maxHeaders) throw new HpackError('too many headers');
  }
  return headers;
}

/**
 * Returns the status of a block that begins with a 2xx of the static table, without decoding a text: fields are only checked
 * and skipped.
 *
 * @returns 0 for any other block, which must be decoded
 */
export function findSuccess(bytes: Buffer, from: number, to: number): number {
  let place = from;
  // RFC 7541 §4.2: the peer's reaction to a table size of 0.
  if (place < to && bytes[place] === 0x20) place += 1;
  if (place >= to) return 0;
  const status = successes[bytes[place]! & 0x7f]!;
  if (bytes[place]! < 0x80 || status === 0) return 0;
  place += 1;
  for (let fields = 1; place < to; fields += 1) {
    const first = bytes[place]!;
    // A table size, or more headers than any provider sends.
    if (fields >= maxHeaders || (first >= 0x20 && first < 0x40)) return 0;
    place += 1;
    if (first >= 0x80) {
      if (first === 0x80 || first > 0x80 + staticTable.length) return 0;
      continue;
    }
    const full = first >= 0x40 ? 0x3f : 0x0f;
    let nameIndex = first & full;
    if (nameIndex === full) {
      nameIndex += bytes[place]!;
      // A larger index would be beyond the static table.
      if (place >= to || bytes[place]! >= 0x80) return 0;
      place += 1;
    }
    if (nameIndex > staticTable.length) return 0;
    for (let texts = nameIndex === 0 ? 2 : 1; texts > 0; texts -= 1) {
      if (place >= to) return 0;
      const isHuffman = bytes[place]! >= 0x80;
      let length = bytes[place]! & 0x7f;
      place += 1;
      if (length === 0x7f) {
        // At most two bytes of length; a block with a longer text is decoded.
        if (place >= to || bytes[place]! >= 0x80) return 0;
        length += bytes[place]!;
        place += 1;
      }
      const end = place + length;
      if (end > to || (isHuffman && !isHuffmanText(bytes, place, end))) return 0;
      place = end;
    }
  }
  return status;
}

/** Success statuses by index of the static table: 200, 204 and 206. */
const successes = Uint16Array.from({ length: 128 }, (_, index) => {
  const [name, value] = staticTable[index - 1] ?? ['', ''];
  return name === ':status' && value.startsWith('2') ? Number(value) : 0;
});

function fromTable(index: number): readonly [string, string] {
  const entry = staticTable[index - 1];
  if (!entry) throw new HpackError(`no table entry ${index}`);
  return entry;
}

class BlockReader {
  readonly #block: Buffer;
  #place = 0;

  constructor(block: Buffer) {
    this.#block = block;
  }

  isAtEnd(): boolean {
    return this.#place >= this.#block.length;
  }

  peek(): number {
    return this.#block[this.#place]!;
  }

  /** Reads an integer (RFC 7541 §5.1); four continuation bytes are more than any length needs here. */
  integer(prefixBits: number): number {
    const most = 2 ** prefixBits - 1;
    let value = this.#byte() & most;
    if (value < most) return value;
    for (let shift = 0; shift < 28; shift += 7) {
      const byte = this.#byte();
      value += (byte & 0x7f) * 2 ** shift;
      if ((byte & 0x80) === 0) return value;
    }
    throw new HpackError('an integer without end');
  }

  /** Reads a text (RFC 7541 §5.2). */
  text(): string {
    const isHuffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const end = this.#place + length;
    if (length > maxTextBytes || end > this.#block.length) throw new HpackError('a text beyond its block');
    const from = this.#place;
    this.#place = end;
    return isHuffman ? decodeHuffman(this.#block, from, end) : this.#block.toString('latin1', from, end);
  }

  #byte(): number {
    if (this.isAtEnd()) throw new HpackError('a block that breaks off');
    return this.#block[this.#place++]!;
  }
}
