// Generated from server/src/domain/providers by `npm run console:types`; edits are lost.

/** The providers, by name. */
export const providers = {
  fcm: { platform: 'ANDROID', short: 'FCM', inLists: 'FCM (Android)', counter: 'ANDROID' },
  apns: { platform: 'IOS', short: 'APNs', inLists: 'APNs (iOS)', counter: 'IOS' },
  webpush: { platform: 'WEB', short: 'Web Push', inLists: 'Web Push', counter: 'WEB' },
  hms: { platform: 'ANDROID', short: 'Huawei Push Kit', inLists: 'Huawei Push Kit (Android)', counter: 'HMS' },
} as const;
