import { createCipheriv, createECDH, createSecretKey, randomBytes } from 'node:crypto';
import { hmacSha256 } from '../../../domain/hmac-sha256.ts';

export type SubscriptionKeys = {
  /** The browser's public key, uncompressed P-256 point, 65 bytes. */
  p256dh: Buffer;
  /** 16 bytes. */
  auth: Buffer;
};

/** Given in tests, so that the example of RFC 8291 §5 comes out byte for byte. */
export type EncryptionRandomness = { salt: Buffer; senderPrivateKey: Buffer };

// 4096 less the header (86), the tag (16) and the delimiter (1): RFC 8291 §4.
export const maxPlainBytes = 3993;
/**
 * Mozilla's service hands messages for Android on through FCM, and answers 413 "This message is intended for a constrained
 * device and is limited to 3070 bytes" (autopush errno 104, webpush-go issue 23), encrypted.
 */
export const maxConstrainedBytes = 3070 - (4096 - maxPlainBytes);
const recordSize = 4096;

/**
 * Encrypts a message for one browser: `aes128gcm` with a key agreed for this message only (RFC 8291 §3.4, RFC 8188 §2).
 * Exactly one record.
 *
 * @throws when the browser's key is not a point of the curve
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

/** Made once, because making one costs as much as its keys; each message has new ones. */
const sender = createECDH('prime256v1');
const one = Buffer.from([1]);
const lastRecord = Buffer.from([2]);
const webPushInfo = Buffer.from('WebPush: info\0');
const keyLabel = Buffer.from('Content-Encoding: aes128gcm\0\x01', 'latin1');
const nonceLabel = Buffer.from('Content-Encoding: nonce\0\x01', 'latin1');
