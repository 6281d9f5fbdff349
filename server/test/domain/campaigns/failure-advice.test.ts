import { describe, expect, test } from 'vitest';
import { adviseOnFailure } from '../../../src/domain/campaigns/failure-advice.ts';
import type { Platform } from '../../../src/domain/campaigns/content.ts';

const advise = (code: string, { platform = 'ANDROID' as Platform, outcome = 'REJECTED' } = {}) =>
  adviseOnFailure({ platform, outcome, code });
const unknown = 'Look up the code with the provider; the delivery log has its whole answer.';

describe('what to do about a failed delivery', () => {
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
    ['410', 'WEB', /^Nothing to do/],
    ['413', 'WEB', /4 KB/],
  ] as const)('%s on %s', (code, platform, words) => {
    expect(advise(code, { platform })).toMatch(words);
  });

  test('goes by the outcome where the code says nothing', () => {
    expect(advise('X', { outcome: 'GONE' })).toMatch(/^Nothing to do/);
    expect(advise('X', { outcome: 'EXPIRED' })).toMatch(/time to live/);
    expect(advise('X', { outcome: 'FAILED' })).toMatch(/^Eight attempts failed\. Duplicate/);
    expect(advise('X')).toBe(unknown);
  });

  test('what the code says goes before the outcome', () => {
    expect(advise('SENDER_ID_MISMATCH', { outcome: 'FAILED' })).toBe(advise('SENDER_ID_MISMATCH'));
  });

  test('a code of another platform’s provider says nothing', () => {
    expect(advise('410', { platform: 'ANDROID' })).toBe(unknown);
    expect(advise('80300008', { platform: 'IOS' })).toBe(unknown);
    expect(advise('BadDeviceToken', { platform: 'WEB' })).toBe(unknown);
    expect(advise('MY_TEMPLATE_', { platform: 'WEB' })).toBe(unknown);
  });
});
