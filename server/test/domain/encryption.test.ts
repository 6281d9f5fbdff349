import { expect, test } from 'vitest';
import { SealBrokenError, makeSeal } from '../../src/domain/encryption.ts';

const seal = makeSeal(Buffer.alloc(32, 1));

test('what was sealed opens under the same key and context alone', () => {
  const sealed = seal.seal('secret', 'workspace:a');
  expect(seal.open(sealed, 'workspace:a').toString()).toBe('secret');
  expect(() => seal.open(sealed, 'workspace:b')).toThrow(SealBrokenError);
  expect(() => makeSeal(Buffer.alloc(32, 2)).open(sealed, 'workspace:a')).toThrow(SealBrokenError);
});

test('equal secrets are sealed differently, and show nothing of themselves', () => {
  const [one, two] = [seal.seal('secret', 'a'), seal.seal('secret', 'a')];
  expect(one.equals(two)).toBe(false);
  expect(one.includes('secret')).toBe(false);
});

test('a changed, cut or empty box is noticed, whichever byte it is', () => {
  const sealed = seal.seal('secret', 'a');
  for (let index = 0; index < sealed.length; index += 1) {
    const changed = Buffer.from(sealed);
    changed[index]! ^= 1;
    expect(() => seal.open(changed, 'a')).toThrow(SealBrokenError);
    expect(() => seal.open(sealed.subarray(0, index), 'a')).toThrow(SealBrokenError);
  }
});
