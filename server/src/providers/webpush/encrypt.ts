import { createCipheriv, createECDH, createSecretKey, randomBytes } from 'node:crypto';
import { hmacSha256 } from '../../domain/crypto/hmac-sha256.ts';

export type SubscriptionKeys = {
  /** The browser's public key, uncompressed P-256 point, 65 bytes. */
  p256dh: Buffer;
  /** 16 bytes. */
  auth: Buffer;
};

/** Set in tests, to reproduce the example of RFC 8291 §5 byte for byte. */
export type EncryptionRandomness = { salt: Buffer; senderPrivateKey: Buffer };

// 4096 minus the header (86), the tag (16) and the delimiter (1): RFC 8291 §4.
export const maxPlainBytes = 3993;
/**
 * Mozilla's service forwards messages for Android through FCM, and responds 413 "This message is intended for a constrained
 * device and is limited to 3070 bytes" (autopush errno 104, webpush-go issue 23). The limit is for the encrypted message.
 */
export const maxConstrainedBytes = 3070 - (4096 - maxPlainBytes);
const recordSize = 4096;

/**
 * Encrypts a message for one browser: `aes128gcm` with a key agreed for this message only (RFC 8291 §3.4, RFC 8188 §2). Exactly
 * one record.
 *
 * @throws if the browser's key is not a point of the curve
 */
export function encryptWebPush(plain: Uint8Array, keys: SubscriptionKeys, randomness?: EncryptionRandomness): Buffer {
  const salt = randomness?.salt ?? randomBytes(16);
  if (randomness) sender.setPrivateKey(randomness.senderPrivateKey);
  else sender.generateKeys();
  const senderPublic = sender.getPublicKey();
  const shared = sender.computeSecret(keys.p256dh);
  // HKDF by hand, because each of the four steps yields at most one SHA-256 block: expand is one HMAC.
  const pseudoRandom = hmacSha256(keys.auth, shared);
  const contentSecret = hmacSha256(salt, hmacSha256(pseudoRandom, webPushInfo, keys.p256dh, senderPublic, one));
  const key = hmacSha256(contentSecret, keyLabel).subarray(0, 16);
  const nonce = hmacSha256(contentSecret, nonceLabel).subarray(0, 12);
  const cipher = createCipheriv('aes-128-gcm', createSecretKey(key), nonce);
  const header = Buffer.alloc(21);
  salt.copy(header, 0);
  header.writeUInt32BE(recordSize, 16);
  header.writeUInt8(senderPublic.length, 20);
  // 0x02 ends the last record (RFC 8188 §2).
  return Buffer.concat([
    header,
    senderPublic,
    cipher.update(plain),
    cipher.update(lastRecord),
    cipher.final(),
    cipher.getAuthTag(),
  ]);
}

/** Made once, because making one costs as much as generating its keys. Each message has new keys. */
const sender = createECDH('prime256v1');
const one = Buffer.from([1]);
const lastRecord = Buffer.from([2]);
const webPushInfo = Buffer.from('WebPush: info\0');
const keyLabel = Buffer.from('Content-Encoding: aes128gcm\0\x01', 'latin1');
const nonceLabel = Buffer.from('Content-Encoding: nonce\0\x01', 'latin1');

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
 * Encrypts messages that are packed into one piece of memory, which passes between threads without a copy. Packs the results in
 * the same way.
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
      // One bad key must not end the thread, which has the messages of other devices. The gap in the results marks the failure.
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

/** Returns the results for the messages, in order; undefined for a message that could not be encrypted. */
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

export type Subscription = { endpoint: URL; keys: SubscriptionKeys };

/** Parses the JSON text of a browser's PushSubscription; undefined if it is not one. */
export function parseSubscription(text: string): Subscription | undefined {
  try {
    const value = JSON.parse(text) as { endpoint?: unknown; keys?: { p256dh?: unknown; auth?: unknown } };
    const endpoint = new URL(String(value.endpoint));
    const p256dh = Buffer.from(String(value.keys?.p256dh), 'base64url');
    const auth = Buffer.from(String(value.keys?.auth), 'base64url');
    if (endpoint.protocol !== 'https:' || p256dh.length !== 65 || p256dh[0] !== 4 || auth.length !== 16)
      return undefined;
    return { endpoint, keys: { p256dh, auth } };
  } catch {
    return undefined;
  }
}
