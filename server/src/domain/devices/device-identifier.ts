import { createHash } from 'node:crypto';
import type { Identifier } from '../users/identifier.ts';

export type DeviceIdentity = { pushId: string; gaid?: string | null | undefined; idfv?: string | null | undefined };

/**
 * The identifiers a device gives its user: push address and advertising ids, under reserved names that no attribute
 * can have. An address too long for a look-up (a browser's subscription) is stored as its SHA-256.
 */
export function deviceIdentifiersOf({ pushId, gaid, idfv }: DeviceIdentity): Identifier[] {
  const found: Identifier[] = [{ attribute: 'device:push_id', type: 'string', value: pushIdValue(pushId) }];
  if (gaid) found.push({ attribute: 'device:gaid', type: 'string', value: gaid });
  if (idfv) found.push({ attribute: 'device:idfv', type: 'string', value: idfv });
  return found;
}

export function pushIdValue(pushId: string): string {
  return Buffer.byteLength(pushId) <= 512 ? pushId : createHash('sha256').update(pushId).digest('hex');
}

/** Names a push address over all users. */
export function addressHash(pushId: string): Buffer {
  return createHash('sha256').update(pushId, 'utf8').digest();
}
