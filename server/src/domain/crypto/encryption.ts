import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import { defaultAppId } from '../apps.ts';

/**
 * Encrypts what must be readable again (provider credentials, push keys, stored answers) with AES-256-GCM under the
 * master key. `context` names the row (workspace, kind, id) and is authenticated with it, so a sealed value copied to
 * another row or another tenant does not open.
 */
export type Encryption = {
  encrypt(plain: string | Uint8Array, context: string): Buffer;
  /** @throws DecryptionError when the key, the context or a byte differs */
  decrypt(encrypted: Uint8Array, context: string): Buffer;
};

/** Encryption that knows up to two master keys: it decrypts with either and encrypts with one of them. */
export type Keyring = Encryption & {
  /** Ids of the keys that are known, first the one that encrypts. */
  masterKeyIds(): readonly string[];
  /** From now on this key encrypts. @returns whether it is known; otherwise nothing changes */
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
 * @param masterKey 32 bytes; encrypts until `encryptUnder` says otherwise
 * @param nextMasterKey the one that a rotation leads to
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
 * Names the key in each value, so that a rotation finds what is still under the old one; 8 hexadecimal characters, which
 * tell nothing of the key.
 */
export function masterKeyIdOf(masterKey: Uint8Array): string {
  if (masterKey.length !== 32) throw new RangeError('The master key must have 32 bytes.');
  return createHash('sha256')
    .update(masterKey)
    .digest('hex')
    .slice(0, 2 * idBytes);
}

/** What an installation encrypts to notice a wrong key at the start. */
export const masterKeyWord = 'carillon';

/**
 * What each encrypted value is bound to: everything that is encrypted takes its context from here, so that a rotation of
 * the master key finds the context of every row again (`storage/installation/encrypted-values.ts`).
 */
export const encryptionContext = {
  /** A push key: a copy in another workspace cannot be decrypted. */
  pushKey: ({ workspaceId, id }: { workspaceId: string; id: string }) => `push-key:${workspaceId}:${id}`,
  /** That of a default app is as it was before there were others: no app is called so, and what was stored is still read. */
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
  companySignIn: () => 'company-sign-in',
  demoSeed: () => 'demo-seed',
  /** The word that tells at the start whether the master key is the right one. */
  masterKeyCheck: () => 'installation',
  installationSecret: (purpose: InstallationPurpose) => `installation-secret:${purpose}`,
} as const;

/** What an installation keeps a secret of its own for. */
export type InstallationPurpose = 'interactions' | 'simulator';
