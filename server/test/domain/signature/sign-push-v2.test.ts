import { expect, test } from 'vitest';
import { findSigningKey, signPush, findSigningKeyV2, signPushV2 } from '../../../src/domain/crypto/signatures.ts';

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
