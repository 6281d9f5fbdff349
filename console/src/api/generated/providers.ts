// Generated from server/src/domain/providers by `npm run console:types`; edits are lost.

/** The providers, by name. */
export const providers = {
  fcm: { platform: 'ANDROID', short: 'FCM', inLists: 'FCM (Android)', counter: 'ANDROID' },
  apns: { platform: 'IOS', short: 'APNs', inLists: 'APNs (iOS)', counter: 'IOS' },
  webpush: { platform: 'WEB', short: 'Web Push', inLists: 'Web Push', counter: 'WEB' },
  hms: { platform: 'ANDROID', short: 'Huawei Push Kit', inLists: 'Huawei Push Kit (Android)', counter: 'HMS' },
  adm: { platform: 'ANDROID', short: 'Amazon', inLists: 'Amazon Device Messaging (Android)', counter: 'ADM' },
} as const;

type DeviceKind = { platform: 'ANDROID' | 'IOS' | 'WEB'; registeredAs: string; provider?: string; address: string };

/** The kinds of devices that can be registered. A kind without a provider uses the default provider of its platform. */
export const deviceKinds: readonly DeviceKind[] = [
  { platform: 'ANDROID', registeredAs: 'ANDROID', address: 'FCM token' },
  { platform: 'ANDROID', registeredAs: 'ANDROID', provider: 'hms', address: 'Huawei token' },
  { platform: 'ANDROID', registeredAs: 'ANDROID', provider: 'adm', address: 'Amazon registration id' },
  { platform: 'IOS', registeredAs: 'iOS', address: 'APNs token' },
  { platform: 'IOS', registeredAs: 'iOS', provider: 'fcm', address: 'FCM token' },
  { platform: 'WEB', registeredAs: 'web', address: 'PushSubscription' },
  { platform: 'WEB', registeredAs: 'web', provider: 'fcm', address: 'FCM token' },
];
