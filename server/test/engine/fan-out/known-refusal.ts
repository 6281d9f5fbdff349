/** Of the app's credential for Firebase, in the words of its first refusal. */
export const refusal = {
  provider: 'fcm',
  appId: 'default',
  version: 'v1',
  platform: null,
  evidenceKey: null,
  words: 'SENDER_ID: wrong',
} as const;
