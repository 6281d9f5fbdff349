import { describe, expect, test } from 'vitest';
import type { ProviderCredentials } from '../../../src/domain/delivery/providers.ts';
import { sendAccountOf } from '../../../src/providers/send-account.ts';

const credentials = {
  fcm: { projectId: 'shop', simulated: false },
  apns: { teamId: 'TEAM000001' },
  webpush: { publicKey: 'B'.repeat(87) },
  hms: { clientId: '10', owner: { kind: 'app', id: '42' } },
} as unknown as ProviderCredentials;
// The keys of the example in RFC 8291 §5.
const keys = {
  p256dh: 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4',
  auth: 'BTBZMqHH6r4Tts7J_aSIgg',
};
const subscription = JSON.stringify({ endpoint: 'https://push.example:8443/x', keys });
const unlimited = { perMinute: undefined, throttledPerMinute: undefined };

describe('the account by which a device is reached', () => {
  test('FCM counts 600,000 messages a minute and project (delivery 1)', () => {
    expect(sendAccountOf({ platform: 'ANDROID', pushId: 't' }, credentials)).toEqual({
      ...unlimited,
      key: 'fcm:shop',
      perMinute: 600_000,
    });
  });

  test('the simulators have no quota', () => {
    const fcm = { ...credentials.fcm!, simulated: true };
    expect(sendAccountOf({ platform: 'ANDROID', pushId: 't' }, { fcm })).toEqual({ ...unlimited, key: 'fcm:shop' });
  });

  test('Apple counts by team, Huawei by what messages are addressed to', () => {
    expect(sendAccountOf({ platform: 'IOS', pushId: 't' }, credentials)).toEqual({
      ...unlimited,
      key: 'apns:TEAM000001',
    });
    expect(sendAccountOf({ platform: 'ANDROID', provider: 'hms', pushId: 't' }, credentials)).toEqual({
      ...unlimited,
      key: 'hms:42',
    });
  });

  test('a push service knows a site by its key, and lets a noisy one send 1,000 a minute (delivery 3)', () => {
    expect(sendAccountOf({ platform: 'WEB', pushId: subscription }, credentials)).toEqual({
      key: `webpush:${'B'.repeat(22)}:https://push.example:8443`,
      perMinute: undefined,
      throttledPerMinute: 1_000,
      isChosenByDevice: true,
    });
    const known = JSON.parse(subscription) as { endpoint: string };
    for (const host of ['fcm.googleapis.com', 'wns2-par02p.notify.windows.com', 'web.push.apple.com']) {
      const pushId = JSON.stringify({ ...known, endpoint: `https://${host}/1` });
      expect(sendAccountOf({ platform: 'WEB', pushId }, credentials)).not.toHaveProperty('isChosenByDevice');
    }
  });

  test('a device that names a provider has the account of that one', () => {
    expect(sendAccountOf({ platform: 'WEB', provider: 'fcm', pushId: 't' }, credentials)!.key).toBe('fcm:shop');
    expect(sendAccountOf({ platform: 'IOS', provider: 'fcm', pushId: 't' }, credentials)!.key).toBe('fcm:shop');
  });

  test('there is none without a credential, nor for what is no subscription', () => {
    for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
      expect(sendAccountOf({ platform, pushId: subscription }, {})).toBeUndefined();
    expect(sendAccountOf({ platform: 'ANDROID', provider: 'hms', pushId: 't' }, {})).toBeUndefined();
    expect(sendAccountOf({ platform: 'WEB', pushId: '{}' }, credentials)).toBeUndefined();
  });
});
