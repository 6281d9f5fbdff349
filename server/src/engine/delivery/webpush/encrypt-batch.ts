import { encryptWebPush } from './encrypt-web-push.ts';
import type { SubscriptionKeys } from './encrypt-web-push.ts';

/** A message to be encrypted. */
export type PlainMessage = { plain: Uint8Array; keys: SubscriptionKeys };

const pointBytes = 65;
const authBytes = 16;
const lengthBytes = 2;
const headBytes = lengthBytes + pointBytes + authBytes;
/** Header, sender's key, delimiter and tag: RFC 8188 §2. */
const addedBytes = 86 + 1 + 16;
const keyLengthPlace = 20;

/**
 * Encrypts messages that were packed into one piece of memory, which passes from one thread to another without a copy, and
 * packs the results likewise.
 */
export function encryptBatch(packed: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  const sizes: number[] = [];
  for (let place = 0; place < bytes.length; place += headBytes + sizes.at(-1)!) sizes.push(bytes.readUInt16BE(place));
  const results = new Uint8Array(sizes.reduce((sum, size) => sum + size + addedBytes, 0));
  let [from, to] = [0, 0];
  for (const size of sizes) {
    const p256dh = bytes.subarray(from + lengthBytes, from + lengthBytes + pointBytes);
    const auth = bytes.subarray(from + lengthBytes + pointBytes, from + headBytes);
    const plain = bytes.subarray(from + headBytes, from + headBytes + size);
    try {
      results.set(encryptWebPush(plain, { p256dh, auth }), to);
    } catch {
      // One bad key must not end the thread, which has the messages of others; the gap says so.
    }
    from += headBytes + size;
    to += size + addedBytes;
  }
  return results;
}

export function packMessages(messages: readonly PlainMessage[]): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(messages.reduce((sum, { plain }) => sum + headBytes + plain.length, 0));
  let place = 0;
  for (const { plain, keys } of messages) {
    packed[place] = plain.length >>> 8;
    packed[place + 1] = plain.length;
    packed.set(keys.p256dh, place + lengthBytes);
    packed.set(keys.auth, place + lengthBytes + pointBytes);
    packed.set(plain, place + headBytes);
    place += headBytes + plain.length;
  }
  return packed;
}

/** The results for the messages, in their order; undefined for one that could not be encrypted. */
export function unpackResults(
  results: Uint8Array<ArrayBuffer>,
  messages: readonly PlainMessage[],
): (Buffer | undefined)[] {
  let place = results.byteOffset;
  return messages.map(({ plain }) => {
    const bytes = plain.length + addedBytes;
    place += bytes;
    const result = Buffer.from(results.buffer, place - bytes, bytes);
    return result[keyLengthPlace] === pointBytes ? result : undefined;
  });
}
