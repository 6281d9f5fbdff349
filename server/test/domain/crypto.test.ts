import { createHash, createHmac } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  DecryptionError,
  encryptionContext,
  makeEncryption,
  masterKeyIdOf,
} from '../../src/domain/crypto/encryption.ts';
import { KeyedHmacSha256, hmacSha256, messageStart } from '../../src/domain/crypto/hmac-sha256.ts';
import {
  findSigningKey,
  findSigningKeyV2,
  hashReportSignature,
  opensReport,
  signPush,
  signPushV2,
  signReport,
} from '../../src/domain/crypto/signatures.ts';
import * as limits from '../../src/domain/limits/campaigns.ts';
import { propertyRuns } from '../property-runs.ts';

describe('encryption context', () => {
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
});

describe('encryption', () => {
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
});

describe('hmac sha256', () => {
  // RFC 4231 §4.2 to §4.7.
  test.each([
    ['0b'.repeat(20), '4869205468657265', 'b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7'],
    [
      '4a656665',
      '7768617420646f2079612077616e7420666f72206e6f7468696e673f',
      '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    ],
    ['aa'.repeat(20), 'dd'.repeat(50), '773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe'],
    [
      'aa'.repeat(131),
      Buffer.from('Test Using Larger Than Block-Size Key - Hash Key First').toString('hex'),
      '60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54',
    ],
  ])('matches RFC 4231: key %s', (key, data, expected) =>
    expect(hmacSha256(Buffer.from(key, 'hex'), Buffer.from(data, 'hex')).toString('hex')).toBe(expected),
  );

  test('equals the platform’s result for any key and parts (property)', () => {
    const bytes = fc.uint8Array({ maxLength: 200 });
    fc.assert(
      fc.property(bytes, fc.array(bytes, { maxLength: 4 }), (key, parts) => {
        const expected = createHmac('sha256', key).update(Buffer.concat(parts)).digest();
        expect(hmacSha256(key, ...parts)).toEqual(expected);
      }),
      { numRuns: propertyRuns(100) },
    );
  });

  test('hashes a longer message completely under one key, and a short one after it', () => {
    const key = Buffer.alloc(64, 0xaa);
    const keyed = new KeyedHmacSha256(key);
    for (const length of [0, 256, 257, 100, 3_000, 3_000, 1]) {
      const message = Buffer.alloc(length, length % 251);
      const place = keyed.reserve(length);
      place.set(message, messageStart);
      expect(keyed.reserve(length)).toBe(place);
      const digest = Buffer.from(keyed.digest(messageStart + length), 'latin1');
      expect(digest).toEqual(createHmac('sha256', key).update(message).digest());
      expect(hmacSha256(key, message)).toEqual(digest);
    }
  });

  test('ignores a reserved but unused place for later messages under one key', () => {
    const keyed = new KeyedHmacSha256(Buffer.of(1));
    const digestOf = (text: string) => {
      keyed.reserve(text.length).write(text, messageStart);
      return Buffer.from(keyed.digest(messageStart + text.length), 'latin1').toString('hex');
    };
    const expected = (text: string) => createHmac('sha256', Buffer.of(1)).update(text).digest('hex');
    expect(digestOf('first')).toBe(expected('first'));
    keyed.reserve(3_000);
    expect(digestOf('other')).toBe(expected('other'));
  });

  test('is the same under one key for messages of any length, one after another (property)', () => {
    const bytes = fc.uint8Array({ maxLength: 400 });
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.array(bytes, { maxLength: 6 }), (key, messages) => {
        const keyed = new KeyedHmacSha256(key);
        for (const message of messages) {
          keyed.reserve(message.length).set(message, messageStart);
          const digest = Buffer.from(keyed.digest(messageStart + message.length), 'latin1');
          expect(digest).toEqual(hmacSha256(key, message));
        }
      }),
      { numRuns: propertyRuns(100) },
    );
  });
});

describe('signatures', () => {
  test.each([
    // Computed apart from this code: printf '%s' 'APP|NAME|KEY' | sha256sum (interface 5).
    [
      { appId: 'DAO6UGZ73D9RTK8B5W96TPYN', campaignName: 'Welcome', key: 'secret' },
      'a2a5b157b2e4cce9b396504ebdff1502632c24713ba0d994b2cbe6391b2ef407',
    ],
    [
      { appId: 'WS', campaignName: 'A|B', key: 'C' },
      'fe7759e92b95e37e4a6442e06371e159a2b30efc283070d02628fbe908a49a31',
    ],
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
});

describe('signatures of pushes, version 2', () => {
  // Made apart from this code:
  // printf '%s' 'msg_1.1772366400.{"campaignName":"Frühling"}' | openssl dgst -sha256 -hmac cpk_key -binary | base64
  const signature = 'v1,eqBBhpIfVvgO3SFYgSNot1lDgwoLrYwMPVPfPAHs6m4=';
  const signed = { id: 'msg_1', timestamp: '1772366400', rawBody: '{"campaignName":"Frühling"}' };
  const now = new Date(1_772_366_400_000);
  const keys = [{ secret: 'other' }, { secret: 'cpk_key' }, { secret: 'cpk_key' }];
  const found = (change: object) => findSigningKeyV2({ ...signed, signature, now, ...change }, keys);

  test('signs id, time and body (decision D35a)', () => {
    expect(signPushV2(signed, 'cpk_key')).toBe(signature);
  });

  test('finds the signing key, the first of equal ones', () => {
    expect(found({})).toBe(keys[1]);
    expect(findSigningKeyV2({ ...signed, signature, now }, [keys[0]!])).toBeUndefined();
  });

  test.each([
    [{ id: 'msg_2' }],
    [{ rawBody: '{"campaignName":"Fruhling"}' }],
    [{ timestamp: '1772366401' }],
    [{ signature: signature.slice(0, -1) }],
    [{ signature: `${signature}=` }],
    [{ signature: signature.replace('v1', 'v2') }],
    [{ signature: '' }],
  ])('finds no key with %j', (change) => {
    expect(found(change)).toBeUndefined();
  });

  test.each([
    [300, true],
    [-300, true],
    [300.001, false],
    [-300.001, false],
  ])('accepts a time up to five minutes off, in both directions: %s s, %s (decision D35a)', (seconds, isFound) => {
    expect(found({ now: new Date(now.getTime() + seconds * 1_000) }) !== undefined).toBe(isFound);
  });

  test.each<[object, boolean]>([
    [{ id: '!~' }, true],
    [{ id: 'x'.repeat(128) }, true],
    [{ id: 'x'.repeat(129) }, false],
    [{ id: '' }, false],
    [{ id: 'a b' }, false],
    [{ id: ' a' }, false],
    [{ id: 'é' }, false],
    [{ id: 'a\n' }, false],
    [{ timestamp: '001772366400' }, true],
    [{ timestamp: '0001772366400' }, false],
    [{ timestamp: ' 1772366400' }, false],
    [{ timestamp: '1772366400.0' }, false],
    [{ timestamp: '1772366400\n' }, false],
    [{ timestamp: '' }, false],
  ])('accepts an id of 1 to 128 printable characters and a time of up to 12 digits: %j, %s', (change, isFound) => {
    const sent = { ...signed, ...change };
    expect(found({ ...sent, signature: signPushV2(sent, 'cpk_key') }) !== undefined).toBe(isFound);
  });

  test('accepts exactly 64 lower-case hexadecimal characters of the first signature (decision D35)', () => {
    const push = { appId: 'SHOP', campaignName: 'Spring' };
    const own = signPush({ ...push, key: 'k' });
    const keysOfPush = [{ secret: 'k' }, { secret: 'k' }];
    expect(findSigningKey({ ...push, signature: own }, keysOfPush)).toBe(keysOfPush[0]);
    for (const other of [own.toUpperCase(), `${own}00`, ` ${own}`, `${own}\n`, own.slice(2), ''])
      expect(findSigningKey({ ...push, signature: other }, keysOfPush)).toBeUndefined();
  });
});

describe('signatures of report files', () => {
  // printf '%s' 'SHOP|2026-03-01_é.csv.gz|s3cret' | sha256sum
  const signature = '21f8d5336bbfbcccc67280ecfd049328da38285c26af1933d15aef49010cccb1';

  test('opens a report file by the SHA-256 of workspace, name and secret, joined by pipes (fact 7)', () => {
    expect(signReport({ workspaceId: 'SHOP', name: '2026-03-01_é.csv.gz', secret: 's3cret' })).toBe(signature);
  });

  test('limits statistics as in fact 7', () => {
    expect(limits).toMatchObject({
      ...{ statsRequestsPerMinute: 100, maxStatsCampaigns: 10, maxStatsDays: 30, maxReportDays: 90, reportFileDays: 7 },
    });
  });

  test('stores only the SHA-256 of a signature, and opens the file only with the signature', () => {
    const stored = hashReportSignature(signature);
    expect(stored).toEqual(createHash('sha256').update(signature).digest());
    expect(opensReport(signature, stored)).toBe(true);
    for (const other of ['', signature.toUpperCase(), `${signature}0`]) expect(opensReport(other, stored)).toBe(false);
  });
});
