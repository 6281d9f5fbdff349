export const platformNames = { ANDROID: 'Android', IOS: 'iOS', WEB: 'Web' } as const;

export const providerNames = { fcm: 'FCM', apns: 'APNs', webpush: 'Web Push', hms: 'Huawei Push Kit' } as const;
