import { describe, expect, test } from 'vitest';
import { adviseOnFailure } from '../../../src/domain/delivery/failures.ts';
import type { Platform } from '../../../src/domain/content/content.ts';

const advise = (code: string, { platform = 'ANDROID' as Platform, outcome = 'REJECTED' } = {}) =>
  adviseOnFailure({ platform, outcome, code });
const unknown = 'Look up the code with the provider; the delivery log has its whole answer.';

describe('the advice for a failed delivery', () => {
  test.each([
    ['TEMPLATE_USER_ATTRIBUTE', 'ANDROID', /fallback/],
    ['TEMPLATE_', 'WEB', /fallback/],
    ['NOT_CONNECTED', 'ANDROID', /firewall/],
    ['HOST_NOT_FOUND', 'WEB', /DNS/],
    ['NO_CREDENTIAL', 'IOS', /carillon credentials set/],
    ['CAMPAIGN_CONTROL_GROUP', 'WEB', /^Nothing to do/],
    ['UNREGISTERED', 'ANDROID', /^Nothing to do/],
    ['SENDER_ID_MISMATCH', 'ANDROID', /Firebase project/],
    // By Huawei Push Kit, which Android has beside FCM.
    ['HMS_503', 'ANDROID', /Huawei/],
    // By FCM, which reaches all three.
    ['UNREGISTERED', 'WEB', /^Nothing to do/],
    ['BadDeviceToken', 'IOS', /sandbox/],
    ['PayloadTooLarge', 'IOS', /4 KB/],
    ['413', 'WEB', /4 KB/],
  ] as const)('exists for %s on %s', (code, platform, words) => {
    expect(advise(code, { platform })).toMatch(words);
  });

  test.each([
    ['BadDeviceToken', 'IOS'],
    ['DeviceTokenNotForTopic', 'IOS'],
    ['INVALID_ARGUMENT', 'ANDROID'],
    ['SENDER_ID_MISMATCH', 'ANDROID'],
    ['400', 'WEB'],
    ['401', 'WEB'],
    ['403', 'WEB'],
    ['HOST_NOT_FOUND', 'WEB'],
  ] as const)('explains for %s on %s when the device leaves the audience, not that it has left', (code, platform) => {
    expect(advise(code, { platform })).toMatch(/leaves the audience after 3 such sends over 72 hours/);
    expect(advise(code, { platform })).not.toMatch(/The devices are out/);
  });

  test.each([
    ['404', 'WEB'],
    ['410', 'WEB'],
    ['80100000', 'ANDROID'],
    ['80300007', 'ANDROID'],
  ] as const)(
    'asks nothing for a dropped device and explains one that was not dropped, for %s on %s',
    (code, platform) => {
      expect(advise(code, { platform, outcome: 'GONE' })).toMatch(/^Nothing to do/);
      expect(advise(code, { platform })).toMatch(/too few other devices were accepted to be sure/);
    },
  );

  test('does not call a key that Firebase lacks a wrong credential of the workspace', () => {
    expect(advise('THIRD_PARTY_AUTH_ERROR', { platform: 'IOS' })).toMatch(/upload a valid key in the Firebase console/);
  });

  test('follows the outcome if there is none for the code', () => {
    expect(advise('X', { outcome: 'GONE' })).toMatch(/^Nothing to do/);
    expect(advise('X', { outcome: 'EXPIRED' })).toMatch(/time to live/);
    expect(advise('X', { outcome: 'FAILED' })).toMatch(/^Eight attempts failed\. Duplicate/);
    expect(advise('X')).toBe(unknown);
  });

  test('follows the code before the outcome', () => {
    expect(advise('SENDER_ID_MISMATCH', { outcome: 'FAILED' })).toBe(advise('SENDER_ID_MISMATCH'));
  });

  test('ignores a code of another platform’s provider', () => {
    expect(advise('410', { platform: 'ANDROID' })).toBe(unknown);
    expect(advise('80300008', { platform: 'IOS' })).toBe(unknown);
    expect(advise('BadDeviceToken', { platform: 'WEB' })).toBe(unknown);
    expect(advise('MY_TEMPLATE_', { platform: 'WEB' })).toBe(unknown);
  });
});
