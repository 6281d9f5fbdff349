import { staticTable } from './hpack-tables.ts';

export type Header = readonly [name: string, value: string];

export type HpackEncoder = {
  /**
   * Writes a header block (RFC 7541) into `into` and says where it ends. Blocks must be sent in the order in which they
   * are encoded: they share a table with the peer.
   *
   * @throws RangeError when it does not fit, TypeError for a value that is no header value
   */
  encode(headers: readonly Header[], into: Buffer): number;
  /** The peer's SETTINGS_HEADER_TABLE_SIZE. */
  limitTable(bytes: number): void;
};

/** What does not differ from one message to the next is sent once a connection, then as one byte (RFC 7541 §6.2.1). */
const repeated = new Set([
  ':authority',
  'authorization',
  'content-type',
  'content-encoding',
  'ttl',
  'urgency',
  'user-agent',
  'apns-topic',
  'apns-push-type',
  'apns-priority',
]);
const ownTableBytes = 4096;
// RFC 7541 §4.1.
const entryOverheadBytes = 32;

const staticPairs = new Map(staticTable.map((pair, index) => [pair.join('\0'), index + 1]));
const staticNames = new Map(staticTable.map(([name], index) => [name, index + 1] as const).reverse());

type Entry = { key: string; bytes: number };

export function makeHpackEncoder(): HpackEncoder {
  const entries: Entry[] = [];
  /** Number of the insertion, counted from 1 over the connection's life. */
  const insertions = new Map<string, number>();
  let inserted = 0;
  let tableBytes = 0;
  let limitBytes = ownTableBytes;
  let announce: number | undefined;

  function evictTo(bytes: number): void {
    while (tableBytes > bytes) {
      const oldest = entries.shift()!;
      tableBytes -= oldest.bytes;
      insertions.delete(oldest.key);
    }
  }

  function insert(key: string): void {
    const bytes = Buffer.byteLength(key, 'latin1') - 1 + entryOverheadBytes;
    evictTo(Math.max(0, limitBytes - bytes));
    if (bytes > limitBytes) return;
    inserted += 1;
    tableBytes += bytes;
    entries.push({ key, bytes });
    insertions.set(key, inserted);
  }

  return {
    encode(headers, into) {
      // First, because a block that is given up half-way would leave the table ahead of the peer's.
      assertBlock(headers, into.length);
      let place = 0;
      if (announce !== undefined) {
        place = writeInteger(into, place, { value: announce, prefixBits: 5, flags: 0x20 });
        announce = undefined;
      }
      for (const [name, value] of headers) {
        const key = `${name}\0${value}`;
        const insertion = insertions.get(key);
        // The newest entry is 62 (RFC 7541 §2.3.3).
        const index = insertion === undefined ? staticPairs.get(key) : staticTable.length + 1 + inserted - insertion;
        if (index !== undefined) {
          place = writeInteger(into, place, { value: index, prefixBits: 7, flags: 0x80 });
          continue;
        }
        const isRepeated = repeated.has(name);
        const nameIndex = staticNames.get(name) ?? 0;
        place = isRepeated
          ? writeInteger(into, place, { value: nameIndex, prefixBits: 6, flags: 0x40 })
          : writeInteger(into, place, { value: nameIndex, prefixBits: 4, flags: 0 });
        if (nameIndex === 0) place = writeText(into, place, name);
        place = writeText(into, place, value);
        if (isRepeated) insert(key);
      }
      return place;
    },
    limitTable(bytes) {
      limitBytes = Math.min(ownTableBytes, bytes);
      evictTo(limitBytes);
      announce = limitBytes;
    },
  };
}

/** Index and lengths take six bytes at most, a table size update three. */
const maxOverheadBytes = 12;

function assertBlock(headers: readonly Header[], maxBytes: number): void {
  let bytes = maxOverheadBytes;
  for (const [name, value] of headers) {
    assertValue(name, value);
    bytes += name.length + value.length + maxOverheadBytes;
  }
  if (bytes > maxBytes) throw new RangeError(`headers of ${bytes} bytes`);
}

/**
 * A line break in a value would be a header of its own behind a translating proxy (RFC 9113 §8.2.1, fault 3.12 check
 * 41).
 */
function assertValue(name: string, value: string): void {
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value) || /^[\t ]|[\t ]$/.test(value))
    throw new TypeError(`not a value of header ${name}`);
}

type Integer = { value: number; prefixBits: number; flags: number };

function writeInteger(into: Buffer, place: number, { value, prefixBits, flags }: Integer): number {
  const most = 2 ** prefixBits - 1;
  if (value < most) return into.writeUInt8(flags | value, place);
  let at = into.writeUInt8(flags | most, place);
  let rest = value - most;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) at = into.writeUInt8((rest & 0x7f) | 0x80, at);
  return into.writeUInt8(rest, at);
}

function writeText(into: Buffer, place: number, text: string): number {
  const at = writeInteger(into, place, { value: text.length, prefixBits: 7, flags: 0 });
  return at + into.write(text, at, 'latin1');
}
