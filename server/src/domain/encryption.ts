import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

/**
 * Encrypts what must be readable again (provider credentials, push keys, stored answers) with AES-256-GCM under the
 * master key. `context` names the row (workspace, kind, id) and is authenticated with it, so a sealed value copied to
 * another row or another tenant does not open.
 */
export type Encryption = {
  encrypt(plain: string | Uint8Array, context: string): Buffer;
  /** @throws SealBrokenError when the key, the context or a byte differs */
  decrypt(encrypted: Uint8Array, context: string): Buffer;
};

export class DecryptionError extends Error {
  override readonly name = 'SealBrokenError';
}

const version = 1;
const nonceBytes = 12;
const tagBytes = 16;

/** @param masterKey 32 bytes */
export function makeEncryption(masterKey: Uint8Array): Encryption {
  if (masterKey.length !== 32) throw new RangeError('The master key must have 32 bytes.');
  // Names the key in each value, so that a rotation can find what is still under the old one.
  const keyId = createHash('sha256').update(masterKey).digest().subarray(0, 4);
  return {
    encrypt(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(Buffer.from(context, 'utf8'));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.from([version]), keyId, nonce, cipher.getAuthTag(), body]);
    },
    decrypt(encrypted, context) {
      const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength);
      const header = 1 + keyId.length;
      if (bytes.length < header + nonceBytes + tagBytes || bytes[0] !== version)
        throw new DecryptionError('not a sealed value');
      if (!bytes.subarray(1, header).equals(keyId)) throw new DecryptionError('sealed under another master key');
      const nonce = bytes.subarray(header, header + nonceBytes);
      const tag = bytes.subarray(header + nonceBytes, header + nonceBytes + tagBytes);
      const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce)
        .setAAD(Buffer.from(context, 'utf8'))
        .setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(bytes.subarray(header + nonceBytes + tagBytes)), decipher.final()]);
      } catch (error) {
        throw new DecryptionError('the sealed value or its context was changed', { cause: error });
      }
    },
  };
}
