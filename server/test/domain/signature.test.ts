import { expect, test } from 'vitest';
import { findSigningKey, signPush } from '../../src/domain/crypto/signatures.ts';

test.each([
  // Computed apart from this code: printf '%s' 'APP|NAME|KEY' | sha256sum (interface 5).
  [
    { appId: 'DAO6UGZ73D9RTK8B5W96TPYN', campaignName: 'Welcome', key: 'secret' },
    'a2a5b157b2e4cce9b396504ebdff1502632c24713ba0d994b2cbe6391b2ef407',
  ],
  [{ appId: 'WS', campaignName: 'A|B', key: 'C' }, 'fe7759e92b95e37e4a6442e06371e159a2b30efc283070d02628fbe908a49a31'],
  [
    { appId: 'WS', campaignName: 'Frühling 🌷', key: 'k' },
    '19865d9f0b63771b647a6a4c3ef82e32d9468976a069c5ce39d7130ebc504fa7',
  ],
])('signs %j as documented', (signed, digest) => expect(signPush(signed)).toBe(digest));

test('finds the signing key among several, and no other', () => {
  const keys = [{ secret: 'one' }, { secret: 'two' }, { secret: 'three' }];
  const signed = { appId: 'A', campaignName: 'Name one' };
  expect(findSigningKey({ ...signed, signature: signPush({ ...signed, key: 'two' }) }, keys)).toBe(keys[1]);
  expect(findSigningKey({ ...signed, signature: signPush({ ...signed, key: 'four' }) }, keys)).toBeUndefined();
  expect(
    findSigningKey({ ...signed, campaignName: 'Name two', signature: signPush({ ...signed, key: 'two' }) }, keys),
  ).toBeUndefined();
});
