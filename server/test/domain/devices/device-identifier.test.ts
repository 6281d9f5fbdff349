import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { addressHash, deviceIdentifiersOf, pushIdValue, deviceNameKinds } from '../../../src/domain/users/devices.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest();

test('identifies a user by the address and the advertising ids of a device, as far as they exist', () => {
  const pushId = { attribute: 'device:push_id', type: 'string', value: 't' };
  expect(deviceIdentifiersOf({ pushId: 't' })).toEqual([pushId]);
  expect(deviceIdentifiersOf({ pushId: 't', gaid: null, idfv: '' })).toEqual([pushId]);
  expect(deviceIdentifiersOf({ pushId: 't', gaid: 'g', idfv: 'v' })).toEqual([
    pushId,
    { attribute: 'device:gaid', type: 'string', value: 'g' },
    { attribute: 'device:idfv', type: 'string', value: 'v' },
  ]);
});

test('looks up an address of more than 512 bytes by its SHA-256', () => {
  expect(pushIdValue('é'.repeat(256))).toBe('é'.repeat(256));
  const long = `${'é'.repeat(256)}x`;
  expect(pushIdValue(long)).toBe(sha256(long).toString('hex'));
  expect(deviceIdentifiersOf({ pushId: long })[0]!.value).toBe(sha256(long).toString('hex'));
});

test('identifies an address over all users by its SHA-256', () => {
  expect(addressHash('é')).toEqual(sha256('é'));
});

test('finds devices of a block by address, advertising id or the caller’s own id (fact 5)', () => {
  expect(Object.fromEntries(deviceNameKinds(['acme', 'svc']))).toEqual({
    ...{ acme_gaid: 'gaid', svc_gaid: 'gaid', push_id: 'push-id' },
    ...{ unique_id: 'unique-id', device_unique_id: 'unique-id' },
  });
});
