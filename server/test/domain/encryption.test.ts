import { expect, test } from 'vitest';
import { DecryptionError, makeEncryption } from '../../src/domain/crypto/encryption.ts';

const encryption = makeEncryption(Buffer.alloc(32, 1));

test('decrypts a ciphertext only with the same key and context', () => {
  const encrypted = encryption.encrypt('secret', 'workspace:a');
  expect(encryption.decrypt(encrypted, 'workspace:a').toString()).toBe('secret');
  expect(() => encryption.decrypt(encrypted, 'workspace:b')).toThrow(DecryptionError);
  expect(() => makeEncryption(Buffer.alloc(32, 2)).decrypt(encrypted, 'workspace:a')).toThrow(DecryptionError);
});

test('encrypts equal secrets differently, and reveals nothing', () => {
  const [one, two] = [encryption.encrypt('secret', 'a'), encryption.encrypt('secret', 'a')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('secret')).toBe(false);
});

test('detects a changed, cut or empty ciphertext, whichever byte differs', () => {
  const encrypted = encryption.encrypt('secret', 'a');
  for (let index = 0; index < encrypted.length; index += 1) {
    const changed = Buffer.from(encrypted);
    changed[index]! ^= 1;
    expect(() => encryption.decrypt(changed, 'a')).toThrow(DecryptionError);
    expect(() => encryption.decrypt(encrypted.subarray(0, index), 'a')).toThrow(DecryptionError);
  }
});
