import { randomUUID } from 'node:crypto';

/**
 * Makes a record id: 24 lower-case hexadecimal characters, ordered by creation time (decision D40). The first 12
 * are milliseconds since 1970, the last 12 are random, so an id cannot be guessed from its neighbour.
 *
 * @param now time of creation
 * @param random at least 6 random bytes, for ids that can be made again
 */
export function makeId(now: Date, random?: Uint8Array): string {
  return now.getTime().toString(16).padStart(12, '0') + (random ? hexOf(random) : randomHex());
}

function hexOf(random: Uint8Array): string {
  return Buffer.from(random.subarray(0, 6)).toString('hex');
}

/** The last 48 bits of a version 4 UUID are random (RFC 9562 §5.4), and Node generates UUIDs many at a time. */
function randomHex(): string {
  return randomUUID().slice(-12);
}

/**
 * Makes ids that are each greater than all ids before, even within a millisecond and when the clock goes back. They are for
 * readers that continue after the last id they saw.
 *
 * @param now time of creation
 * @param last the greatest existing id
 */
export function makeIdsInOrder(now: () => Date, last = ''): () => string {
  let milliseconds = Number.parseInt(last.slice(0, 12) || '0', 16);
  // Half of the range stays free for counting up.
  const drawTail = () => Number.parseInt(randomHex(), 16) % 2 ** 47;
  let tail = Number.parseInt(last.slice(12) || '0', 16);
  return () => {
    const shown = now().getTime();
    tail = shown > milliseconds ? drawTail() : tail + 1;
    milliseconds = Math.max(milliseconds, shown);
    return milliseconds.toString(16).padStart(12, '0') + tail.toString(16).padStart(12, '0');
  };
}

/** Returns the greatest id that can have been made at or before `at`: the frozen upper bound of an audience. */
export function lastIdAt(at: Date): string {
  return at.getTime().toString(16).padStart(12, '0') + 'ffffffffffff';
}

export function isId(text: string): boolean {
  return /^[0-9a-f]{24}$/.test(text);
}

/**
 * True if `text` can be a Workspace ID. Any other text is treated as unknown without a lookup (PostgreSQL rejects NUL).
 */
export function isWorkspaceId(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(text);
}

// How to decode the bytes. These numbers are stored in the ledger.
const asText = 0;
const asHex = 1;
const asFcm = 2;
const asUuid = 3;
const asUpperUuid = 4;

const fcmId = /^0:(0|[1-9][0-9]{0,18})%((?:[0-9a-f]{2})+)$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Packs a provider's message id into as few bytes as possible, because the ledger has one per device. FCM's id
 * (`projects/…/messages/0:<microseconds>%<hex>`) takes 18 bytes instead of 60, APNs' 17 instead of 36. The project in FCM's
 * name is left out; it is that of the credential. Every other text stays as it is. Pure.
 */
export function packMessageId(id: string): Buffer {
  return Buffer.from(packMessageIdAsHex(id), 'hex');
}

/** Returns the same bytes in hexadecimal. A campaign writes very many, and a buffer for each would cost more than the rest. */
export function packMessageIdAsHex(id: string): string {
  const text = afterFcmName(id);
  if (fcmId.test(text)) {
    const percent = text.indexOf('%');
    const number = text.slice(2, percent);
    // JavaScript's numbers are exact up to this length.
    const hex = number.length <= 15 ? Number(number).toString(16) : BigInt(number).toString(16);
    return tagged(asFcm, hex.padStart(16, '0') + text.slice(percent + 1));
  }
  if (uuid.test(text)) return tagged(asUuid, withoutHyphens(text));
  if (text === text.toUpperCase() && uuid.test(text.toLowerCase()))
    return tagged(asUpperUuid, withoutHyphens(text.toLowerCase()));
  return /^([0-9a-f]{2})+$/.test(text) ? tagged(asHex, text) : tagged(asText, Buffer.from(text).toString('hex'));
}

/** Returns the part after `projects/<project>/messages/`, or the whole id if it does not begin with that. */
function afterFcmName(id: string): string {
  if (!id.startsWith('projects/')) return id;
  const slash = id.indexOf('/', 'projects/'.length);
  const begin = slash + '/messages/'.length;
  const isName = slash > 'projects/'.length && id.startsWith('/messages/', slash) && begin < id.length;
  return isName ? id.slice(begin) : id;
}

function tagged(tag: number, hex: string): string {
  return `0${tag}${hex}`;
}

function withoutHyphens(text: string): string {
  return text.slice(0, 8) + text.slice(9, 13) + text.slice(14, 18) + text.slice(19, 23) + text.slice(24);
}

/** Returns the id that was packed. @throws RangeError for bytes that are not a packed id */
export function unpackMessageId(packed: Uint8Array): string {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
  const rest = bytes.subarray(1);
  switch (bytes[0]) {
    case asText:
      return rest.toString('utf8');
    case asHex:
      return rest.toString('hex');
    case asFcm:
      return `0:${rest.readBigUInt64BE(0)}%${rest.subarray(8).toString('hex')}`;
    case asUuid:
      return hyphened(rest.toString('hex'));
    case asUpperUuid:
      return hyphened(rest.toString('hex')).toUpperCase();
    default:
      throw new RangeError(`no message id: ${bytes.toString('hex')}`);
  }
}

function hyphened(hex: string): string {
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
