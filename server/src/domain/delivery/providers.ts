import type { Platform } from '../content/content.ts';

/** Who carries messages to devices. */
export const providerNames = ['fcm', 'apns', 'webpush', 'hms'] as const;
export type ProviderName = (typeof providerNames)[number];

/** By whom devices of a platform may be reached; the first where a device names none. */
export const providersOf: Record<Platform, readonly [usual: ProviderName, ...others: ProviderName[]]> = {
  ANDROID: ['fcm', 'hms'],
  IOS: ['apns', 'fcm'],
  WEB: ['webpush', 'fcm'],
};

/** Whose devices a provider reaches, those that are usually its own first. */
export const platformsOf: Record<ProviderName, readonly [usual: Platform, ...others: Platform[]]> = {
  fcm: ['ANDROID', 'IOS', 'WEB'],
  apns: ['IOS'],
  webpush: ['WEB'],
  hms: ['ANDROID'],
};

/** What an address at Firebase is: a registration token of an app, or the id of its installation (FID). */
export const pushIdTypes = ['token', 'fid'] as const;

/** How a device is reached: its platform, and the provider that it names; the usual one where it names none. */
export type Reachable = {
  platform: Platform;
  provider?: ProviderName | null | undefined;
  /** Null: a token, as all have but those of Firebase. */
  pushIdType?: 'fid' | null | undefined;
};

export function providerOf({ platform, provider }: Reachable): ProviderName {
  return provider ?? providersOf[platform][0];
}

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
