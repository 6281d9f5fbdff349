import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { messageIdentity } from '../../../src/domain/content/message.ts';

const run = '65a1b2c3d4e5f60718293a4b';
const device = '75a1b2c3d4e5f60718293a4b';
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

describe('the identity of a message', () => {
  test('is the digest of its run and its device, as a UUID of version 8 and in 32 characters', () => {
    const digest = sha256(`${run}:${device}`);
    const { id, collapseId } = messageIdentity(run, device);
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/);
    // Every digit is the digest's, but for the two that a UUID sets.
    const hex = digest.toString('hex');
    const own = `${hex.slice(0, 12)}8${hex.slice(13, 16)}a${hex.slice(17, 32)}`;
    expect(id.replaceAll('-', '')).toBe(own);
    expect(collapseId).toBe(digest.subarray(0, 24).toString('base64url'));
    expect(collapseId).toHaveLength(32);
  });

  test('is the same on every attempt, and different for another run or device', () => {
    const identity = messageIdentity(run, device);
    expect(messageIdentity(run, device)).toEqual(identity);
    for (const other of [messageIdentity(device, run), messageIdentity(run, run)]) {
      expect(other.id).not.toBe(identity.id);
      expect(other.collapseId).not.toBe(identity.collapseId);
    }
  });

  test('changes neither with the collapse key, which defines what replaces what in every run and on every device', () => {
    const keyed = messageIdentity(run, device, 'score');
    expect(keyed.id).toBe(messageIdentity(run, device).id);
    expect(keyed.collapseId).toBe(sha256('key:score').subarray(0, 24).toString('base64url'));
    expect(messageIdentity(device, run, 'score').collapseId).toBe(keyed.collapseId);
    expect(messageIdentity(run, device, '').collapseId).not.toBe(messageIdentity(run, device).collapseId);
  });
});
