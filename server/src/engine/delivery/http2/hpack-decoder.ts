import { endOfString, huffmanTree, staticTable } from './hpack-tables.ts';

export class HpackError extends Error {
  override readonly name = 'HpackError';
}

/** More than any provider sends, and far from what would hurt. */
const maxHeaders = 200;
const maxTextBytes = 16 * 1024;

/**
 * Decodes one header block (RFC 7541). There is no dynamic table: this client announces a table of size 0, so a
 * compression bomb has nothing to grow in, and a block that refers to one is an error.
 *
 * @returns pairs in their order
 * @throws HpackError
 */
export function decodeHeaders(block: Buffer): [name: string, value: string][] {
  const headers: [string, string][] = [];
  const reader = new BlockReader(block);
  while (!reader.isAtEnd()) {
    const first = reader.peek();
    if ((first & 0x80) !== 0) headers.push([...fromTable(reader.integer(7))]);
    // A table size update: anything but 0 would be more than was announced (RFC 7541 §4.2).
    else if ((first & 0xe0) === 0x20) {
      if (reader.integer(5) !== 0) throw new HpackError('table size beyond the one announced');
    } else {
      // With incremental indexing (6 bits), without and never indexed (4 bits): the same to a table of size 0.
      const index = reader.integer((first & 0x40) !== 0 ? 6 : 4);
      const name = index === 0 ? reader.text() : fromTable(index)[0];
      headers.push([name, reader.text()]);
    }
    if (headers.length > maxHeaders) throw new HpackError('too many headers');
  }
  return headers;
}

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

  /** RFC 7541 §5.1; four continuation bytes are more than any length here. */
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

  /** RFC 7541 §5.2. */
  text(): string {
    const isHuffman = (this.peek() & 0x80) !== 0;
    const length = this.integer(7);
    const end = this.#place + length;
    if (length > maxTextBytes || end > this.#block.length) throw new HpackError('a text beyond its block');
    const bytes = this.#block.subarray(this.#place, end);
    this.#place = end;
    return isHuffman ? decodeHuffman(bytes) : bytes.toString('latin1');
  }

  #byte(): number {
    if (this.isAtEnd()) throw new HpackError('a block that breaks off');
    return this.#block[this.#place++]!;
  }
}

/** The rest of the last byte must be ones, at most seven (RFC 7541 §5.2). */
function decodeHuffman(bytes: Buffer): string {
  const symbols: number[] = [];
  let node = 0;
  let bitsSince = 0;
  let areOnes = true;
  for (const byte of bytes) {
    for (let bit = 7; bit >= 0; bit -= 1) {
      const value = (byte >>> bit) & 1;
      bitsSince += 1;
      areOnes &&= value === 1;
      const next = huffmanTree[node + value]!;
      if (next >= 0) {
        node = next;
        continue;
      }
      const symbol = -1 - next;
      if (symbol === endOfString) throw new HpackError('an end of string within a text');
      symbols.push(symbol);
      node = 0;
      bitsSince = 0;
      areOnes = true;
    }
  }
  if (bitsSince > 7 || !areOnes) throw new HpackError('a text padded wrongly');
  return Buffer.from(symbols).toString('latin1');
}
