import { expect, test } from 'vitest';
import {
  encryptionContext,
  DecryptionError,
  makeEncryption,
  masterKeyIdOf,
} from '../../src/domain/crypto/encryption.ts';

// What is stored is bound to these words: another word, and it cannot be decrypted any more.
test('binds each encrypted value to its row', () => {
  const workspaceId = 'SHOP';
  const keyHash = Uint8Array.of(1, 255);
  expect([
    encryptionContext.pushKey({ workspaceId, id: 'k' }),
    encryptionContext.providerCredential({ workspaceId, provider: 'fcm', appId: 'default' }),
    encryptionContext.providerCredential({ workspaceId, provider: 'fcm', appId: 'courier' }),
    encryptionContext.providerToken({ key: 'k' }),
    encryptionContext.webhookSecret({ workspaceId }),
    encryptionContext.eventStreamSecret({ workspaceId, id: 's' }),
    encryptionContext.idempotentAnswer({ workspaceId, operation: 'push', keyHash }),
    ...[encryptionContext.companySignIn(), encryptionContext.demoSeed(), encryptionContext.masterKeyCheck()],
    encryptionContext.installationSecret('interactions'),
  ]).toEqual([
    ...['push-key:SHOP:k', 'provider-credential:SHOP:fcm', 'provider-credential:SHOP:fcm:courier'],
    ...['provider-token:k', 'webhook-secret:SHOP', 'event-stream-secret:SHOP:s', 'idempotency:SHOP:push:01ff'],
    ...['company-sign-in', 'demo-seed', 'installation', 'installation-secret:interactions'],
  ]);
});

const [oldKey, newKey] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
const [oldId, newId] = [masterKeyIdOf(oldKey), masterKeyIdOf(newKey)];

test('names a master key by eight characters, and requires 32 bytes', () => {
  // printf '\x01%.0s' $(seq 32) | sha256sum
  expect(oldId).toBe('72cd6e84');
  expect(() => masterKeyIdOf(Buffer.alloc(31))).toThrow(new RangeError('The master key must have 32 bytes.'));
});

test('decrypts with both master keys, and encrypts with the chosen one', () => {
  const keyring = makeEncryption(oldKey, newKey);
  const before = keyring.encrypt('secret', 'a');
  expect(keyring.masterKeyIds()).toEqual([oldId, newId]);
  expect(keyring.encryptUnder('00000000')).toBe(false);
  expect(keyring.masterKeyIds()).toEqual([oldId, newId]);
  expect(keyring.encryptUnder(newId)).toBe(true);
  expect(keyring.masterKeyIds()).toEqual([newId, oldId]);
  const after = keyring.encrypt('secret', 'a');
  expect([before, after].map((value) => value.toString('hex', 1, 5))).toEqual([oldId, newId]);
  for (const value of [before, after]) expect(keyring.decrypt(value, 'a').toString()).toBe('secret');
  expect(makeEncryption(newKey).decrypt(after, 'a').toString()).toBe('secret');
  expect(makeEncryption(oldKey).masterKeyIds()).toEqual([oldId]);
});

test('reports why a value cannot be decrypted; its first byte is the version of the format', () => {
  const value = makeEncryption(oldKey).encrypt('', 'a');
  expect([value[0], value.length]).toEqual([1, 33]);
  expect(makeEncryption(oldKey).decrypt(value, 'a')).toHaveLength(0);
  const reason = (decrypt: () => unknown) => {
    try {
      return decrypt();
    } catch (error) {
      expect(error).toBeInstanceOf(DecryptionError);
      return `${(error as Error).name}: ${(error as Error).message}`;
    }
  };
  const changed = Buffer.from(value);
  changed[0] = 2;
  expect([
    reason(() => makeEncryption(oldKey).decrypt(changed, 'a')),
    reason(() => makeEncryption(oldKey).decrypt(value.subarray(0, 32), 'a')),
    reason(() => makeEncryption(newKey).decrypt(value, 'a')),
    reason(() => makeEncryption(oldKey).decrypt(value, 'b')),
  ]).toEqual([
    ...Array.from({ length: 2 }, () => 'DecryptionError: not a sealed value'),
    'DecryptionError: sealed under another master key',
    'DecryptionError: the sealed value or its context was changed',
  ]);
});
