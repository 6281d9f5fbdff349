export const platformNames = { ANDROID: 'Android', IOS: 'iOS', WEB: 'Web' } as const;
