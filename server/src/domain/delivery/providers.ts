import type { Platform } from '../content/content.ts';

/** The services that carry messages to devices. */
export const providerNames = ['fcm', 'apns', 'webpush', 'hms'] as const;
export type ProviderName = (typeof providerNames)[number];

/** The providers that can reach devices of a platform. The first is used if a device names none. */
export const providersOf: Record<Platform, readonly [usual: ProviderName, ...others: ProviderName[]]> = {
  ANDROID: ['fcm', 'hms'],
  IOS: ['apns', 'fcm'],
  WEB: ['webpush', 'fcm'],
};

/** The platforms that a provider can reach, its usual one first. */
export const platformsOf: Record<ProviderName, readonly [usual: Platform, ...others: Platform[]]> = {
  fcm: ['ANDROID', 'IOS', 'WEB'],
  apns: ['IOS'],
  webpush: ['WEB'],
  hms: ['ANDROID'],
};

/** The types of address at Firebase: a registration token of an app, or the id of its installation (FID). */
export const pushIdTypes = ['token', 'fid'] as const;

/** How a device is reached: its platform and the provider it names, or the usual provider if it names none. */
export type Reachable = {
  platform: Platform;
  provider?: ProviderName | null | undefined;
  /** Null: a token, as on all devices except some of Firebase. */
  pushIdType?: 'fid' | null | undefined;
};

export function providerOf({ platform, provider }: Reachable): ProviderName {
  return provider ?? providersOf[platform][0];
}

/** Firebase's codes, and those that its classification gives to a bare status. Apple and browsers' services use other codes. */
const ofFirebase = new Set([
  ...['UNREGISTERED', 'INVALID_ARGUMENT', 'SENDER_ID_MISMATCH', 'QUOTA_EXCEEDED', 'UNAVAILABLE', 'INTERNAL'],
  ...['THIRD_PARTY_AUTH_ERROR', 'TOKEN_REFUSED', 'UNAUTHENTICATED', 'PERMISSION_DENIED', 'NOT_FOUND'],
]);
/** Huawei's numbers. Its classification gives an `HMS_` code to responses without a number. */
const ofHuawei = /^(HMS_[A-Z0-9_]+|8\d{7})$/;

/**
 * Returns the provider that a code comes from. The ledger knows the platform of a delivery but not its provider. If the code
 * does not identify the provider, it is the platform's usual one.
 */
export function providerOfCode({ platform, code }: { platform: Platform; code: string }): ProviderName {
  const [usual, ...others] = providersOf[platform];
  if (others.includes('hms') && ofHuawei.test(code)) return 'hms';
  return others.includes('fcm') && (ofFirebase.has(code) || code.startsWith('FCM_')) ? 'fcm' : usual;
}
