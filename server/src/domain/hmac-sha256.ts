import { hash } from 'node:crypto';

const blockBytes = 64;

/**
 * HMAC-SHA-256 (RFC 2104) for what is computed for each message. Node makes a key object of every key it is given, which
 * costs more than the two digests (measured in docs/decisions/0027).
 */
export function hmacSha256(key: Uint8Array, ...parts: readonly Uint8Array[]): Buffer {
  const short = key.length > blockBytes ? hash('sha256', key, 'buffer') : key;
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
  outer.set(hash('sha256', inner, 'buffer'), blockBytes);
  return hash('sha256', outer, 'buffer');
}
