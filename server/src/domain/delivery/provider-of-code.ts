import type { Platform } from '../campaigns/content.ts';
import { providersOf } from './provider-name.ts';
import type { ProviderName } from './provider-name.ts';

/** What Firebase says of itself, and what its classification calls a bare status; Apple and the services of browsers have no such words. */
const ofFirebase = new Set([
  ...['UNREGISTERED', 'INVALID_ARGUMENT', 'SENDER_ID_MISMATCH', 'QUOTA_EXCEEDED', 'UNAVAILABLE', 'INTERNAL'],
  ...['THIRD_PARTY_AUTH_ERROR', 'TOKEN_REFUSED', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND'],
]);
/** Numbers of its own; what comes without one is named so by its classification. */
const ofHuawei = /^(HMS_[A-Z0-9_]+|8\d{7})$/;

/**
 * Whose word a code is. The ledger knows the platform of a delivery and not its provider; where the code does not tell, it
 * is the usual one.
 */
export function providerOfCode({ platform, code }: { platform: Platform; code: string }): ProviderName {
  const [usual, ...others] = providersOf[platform];
  if (others.includes('hms') && ofHuawei.test(code)) return 'hms';
  return others.includes('fcm') && (ofFirebase.has(code) || code.startsWith('FCM_')) ? 'fcm' : usual;
}
