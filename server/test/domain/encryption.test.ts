import { expect, test } from 'vitest';
import { DecryptionError, makeEncryption } from '../../src/domain/crypto/encryption.ts';

const encryption = makeEncryption(Buffer.alloc(32, 1));

test('a ciphertext can be decrypted only with the same key and context', () => {
  const encrypted = encryption.encrypt('secret', 'workspace:a');
  expect(encryption.decrypt(encrypted, 'workspace:a').toString()).toBe('secret');
  expect(() => encryption.decrypt(encrypted, 'workspace:b')).toThrow(DecryptionError);
  expect(() => makeEncryption(Buffer.alloc(32, 2)).decrypt(encrypted, 'workspace:a')).toThrow(DecryptionError);
});

test('equal secrets encrypt differently, and reveal nothing', () => {
  const [one, two] = [encryption.encrypt('secret', 'a'), encryption.encrypt('secret', 'a')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('secret')).toBe(false);
});

test('a changed, cut or empty box is noticed, whichever byte it is', () => {
  const encrypted = encryption.encrypt('secret', 'a');
  for (let index = 0; index < encrypted.length; index += 1) {
    const changed = Buffer.from(encrypted);
    changed[index]! ^= 1;
    expect(() => encryption.decrypt(changed, 'a')).toThrow(DecryptionError);
    expect(() => encryption.decrypt(encrypted.subarray(0, index), 'a')).toThrow(DecryptionError);
  }
});
