import { expect, test } from 'vitest';
import { providerOfCode } from '../../src/domain/delivery/providers.ts';
import { describeWaitingCause } from '../../src/domain/delivery/failures.ts';

test.each([
  ['ANDROID', '80300007', 'hms'],
  ['ANDROID', 'HMS_503', 'hms'],
  ['ANDROID', 'HMS_TOKEN_REFUSED', 'hms'],
  ['ANDROID', 'UNREGISTERED', 'fcm'],
  ['ANDROID', '503', 'fcm'],
  ['IOS', 'THIRD_PARTY_AUTH_ERROR', 'fcm'],
  ['IOS', 'BadDeviceToken', 'apns'],
  ['IOS', '80300007', 'apns'],
  ['WEB', 'QUOTA_EXCEEDED', 'fcm'],
  ['WEB', '410', 'webpush'],
] as const)('attributes on %s the code %s to %s', (platform, code, provider) => {
  expect(providerOfCode({ platform, code })).toBe(provider);
});

test('names the provider in the reason why a message waits', () => {
  expect(describeWaitingCause({ platform: 'ANDROID', code: 'HMS_503' }).words).toBe('Huawei Push Kit answered 503');
  expect(describeWaitingCause({ platform: 'IOS', code: 'UNAVAILABLE' }).words).toBe('FCM answered UNAVAILABLE');
});
