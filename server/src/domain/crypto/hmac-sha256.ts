import { hash } from 'node:crypto';

const blockBytes = 64;
const digestBytes = 32;

/**
 * Computes HMAC-SHA-256 (RFC 2104) for values that each message needs. Node makes a key object of every key it is given,
 * which costs more than the two digests (measured in docs/decisions/0027).
 */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const short = shorten(key);
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  const inner = Buffer.alloc(blockBytes + bytes);
  const outer = Buffer.alloc(blockBytes + 32);
  inner.set(short);
  outer.set(short);
  for (let place = 0; place < blockBytes; place += 1) {
    inner[place]! ^= 0x36;
    outer[place]! ^= 0x5c;
  }
  let place = blockBytes;
  for (const part of parts) {
    inner.set(part, place);
    place += part.length;
  }
  // As a text of bytes: a digest in a separate buffer costs three times as much.
  outer.write(hash('sha256', inner, 'binary'), blockBytes, 'latin1');
  return Buffer.from(hash('sha256', outer, 'binary'), 'latin1');
}

function shorten(key: Uint8Array): Uint8Array {
  return key.length > blockBytes ? hash('sha256', key, 'buffer') : key;
}

export const messageStart = blockBytes;

/**
 * The same under one key, for values that every device of a campaign needs. The paddings are made once, and a message is
 * written into the buffer in which it is hashed.
 */
export class KeyedHmacSha256 {
  readonly #outer = Buffer.alloc(blockBytes + digestBytes);
  #padded: Buffer;
  #hashed: Buffer;

  constructor(key: Uint8Array) {
    this.#padded = Buffer.alloc(blockBytes + 256);
    this.#hashed = this.#padded;
    const short = shorten(key);
    for (let place = 0; place < blockBytes; place += 1) {
      this.#padded[place] = (short[place] ?? 0) ^ 0x36;
      this.#outer[place] = (short[place] ?? 0) ^ 0x5c;
    }
  }

  /** Returns the buffer to write a message of this many bytes to, from `messageStart` on. Earlier content is still there. */
  reserve(bytes: number): Buffer {
    if (messageStart + bytes > this.#padded.length) {
      const longer = Buffer.alloc(messageStart + 2 * bytes);
      this.#padded.copy(longer);
      this.#padded = longer;
    }
    return this.#padded;
  }

  /** Computes the digest of the bytes up to `end`. @returns its bytes as the characters of a text (latin1) */
  digest(end: number): string {
    // Nearly all messages have the same length.
    if (this.#hashed.length !== end || this.#hashed.buffer !== this.#padded.buffer)
      this.#hashed = this.#padded.subarray(0, end);
    this.#outer.write(hash('sha256', this.#hashed, 'binary'), blockBytes, 'latin1');
    return hash('sha256', this.#outer, 'binary');
  }
}
