import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { defaultAppId } from '../apps.ts';

/**
 * Encrypts data that must be readable again (provider credentials, push keys, stored responses) with AES-256-GCM under the
 * master key. `context` names the row (workspace, kind, id) and is authenticated with the data, so an encrypted value that
 * is copied to another row or another tenant cannot be decrypted.
 */
export type Encryption = {
  encrypt(plain: string | Uint8Array, context: string): Buffer;
  /** @throws DecryptionError when the key, the context or a byte differs */
  decrypt(encrypted: Uint8Array, context: string): Buffer;
};

/** Encryption that knows up to two master keys: it decrypts with either and encrypts with one of them. */
export type Keyring = Encryption & {
  /** Ids of the known keys; the key that encrypts comes first. */
  masterKeyIds(): readonly string[];
  /** Makes this key encrypt from now on. @returns whether it is known; otherwise nothing changes */
  encryptUnder(masterKeyId: string): boolean;
};

export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

const version = 1;
const idBytes = 4;
const nonceBytes = 12;
const tagBytes = 16;
const header = 1 + idBytes;

/**
 * @param masterKey 32 bytes; encrypts until `encryptUnder` selects another key
 * @param nextMasterKey the key that a rotation changes to
 */
export function makeEncryption(masterKey: Uint8Array, nextMasterKey?: Uint8Array): Keyring {
  const masterKeys = new Map([masterKey, nextMasterKey ?? masterKey].map((key) => [masterKeyIdOf(key), key]));
  let active = masterKeyIdOf(masterKey);
  return {
    encrypt(plain, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', masterKeys.get(active)!, nonce).setAAD(Buffer.from(context, 'utf8'));
      const body = Buffer.concat([cipher.update(plain), cipher.final()]);
      return Buffer.concat([Buffer.from([version]), Buffer.from(active, 'hex'), nonce, cipher.getAuthTag(), body]);
    },
    decrypt(encrypted, context) {
      const bytes = Buffer.from(encrypted.buffer, encrypted.byteOffset, encrypted.byteLength);
      if (bytes.length < header + nonceBytes + tagBytes || bytes[0] !== version)
        throw new DecryptionError('not a sealed value');
      const key = masterKeys.get(bytes.toString('hex', 1, header));
      if (!key) throw new DecryptionError('sealed under another master key');
      const nonce = bytes.subarray(header, header + nonceBytes);
      const tag = bytes.subarray(header + nonceBytes, header + nonceBytes + tagBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(context, 'utf8')).setAuthTag(tag);
      try {
        return Buffer.concat([decipher.update(bytes.subarray(header + nonceBytes + tagBytes)), decipher.final()]);
      } catch (error) {
        throw new DecryptionError('the sealed value or its context was changed', { cause: error });
      }
    },
    masterKeyIds: () => [active, ...[...masterKeys.keys()].filter((id) => id !== active)],
    encryptUnder(masterKeyId) {
      if (!masterKeys.has(masterKeyId)) return false;
      active = masterKeyId;
      return true;
    },
  };
}

/**
 * Returns the id of a key, which each value contains, so that a rotation finds the values still under the old key. It has 8
 * hexadecimal characters, which reveal nothing about the key.
 */
export function masterKeyIdOf(masterKey: Uint8Array): string {
  if (masterKey.length !== 32) throw new RangeError('The master key must have 32 bytes.');
  return createHash('sha256')
    .update(masterKey)
    .digest('hex')
    .slice(0, 2 * idBytes);
}

/** The word that an installation encrypts to detect a wrong key at startup. */
export const masterKeyWord = 'carillon';

/**
 * The context that each encrypted value is bound to. All encrypted values take their context from here, so that a rotation
 * of the master key finds the context of every row again (`storage/installation/encrypted-values.ts`).
 */
export const encryptionContext = {
  /** A push key: a copy in another workspace cannot be decrypted. */
  pushKey: ({ workspaceId, id }: { workspaceId: string; id: string }) => `push-key:${workspaceId}:${id}`,
  /** A default app keeps the context from before apps existed: stored values stay readable, and no app can have its id. */
  providerCredential: ({ workspaceId, provider, appId }: { workspaceId: string; provider: string; appId: string }) =>
    appId === defaultAppId
      ? `provider-credential:${workspaceId}:${provider}`
      : `provider-credential:${workspaceId}:${provider}:${appId}`,
  /** The provider token that all nodes share, by the key it was signed with. */
  providerToken: ({ key }: { key: string }) => `provider-token:${key}`,
  webhookSecret: ({ workspaceId }: { workspaceId: string }) => `webhook-secret:${workspaceId}`,
  eventStreamSecret: ({ workspaceId, id }: { workspaceId: string; id: string }) =>
    `event-stream-secret:${workspaceId}:${id}`,
  idempotentAnswer: (row: { workspaceId: string; operation: string; keyHash: Uint8Array }) =>
    `idempotency:${row.workspaceId}:${row.operation}:${Buffer.from(row.keyHash).toString('hex')}`,
  /** The secret of an account's authenticator app. */
  authenticator: ({ accountId }: { accountId: string }) => `authenticator:${accountId}`,
  identityKey: ({ workspaceId, id }: { workspaceId: string; id: string }) => `identity-key:${workspaceId}:${id}`,
  companySignIn: () => 'company-sign-in',
  demoSeed: () => 'demo-seed',
  /** The word that shows at startup whether the master key is the right one. */
  masterKeyCheck: () => 'installation',
  /** A secret that signs tokens. */
  tokenSecret: ({ number }: { number: number }) => `token-secret:${number}`,
  installationSecret: (purpose: InstallationPurpose) => `installation-secret:${purpose}`,
} as const;

/** The purposes for which an installation has a separate secret. */
export type InstallationPurpose = 'interactions' | 'simulator';

/** Returns a new secret that signs tokens: 256 random bits, encrypted. */
export function makeTokenSecret(encryption: Encryption, number: number): Buffer {
  return encryption.encrypt(randomBytes(32), encryptionContext.tokenSecret({ number }));
}
