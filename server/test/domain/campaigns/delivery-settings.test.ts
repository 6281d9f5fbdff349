import { describe, expect, test } from 'vitest';
import {
  defaultDeliverySettings,
  deliverySettings,
  iosProvisional,
  queueUntil,
  runDevicesPerMinute,
  sendUntil,
} from '../../../src/domain/campaigns/delivery-settings.ts';
import type { DeliverySettings } from '../../../src/domain/campaigns/delivery-settings.ts';

const settings = (more: Partial<DeliverySettings>): DeliverySettings => ({ ...defaultDeliverySettings, ...more });
const minutes = (count: number): number => count * 60_000;
const at = new Date('2026-03-01T12:00:00Z');
const after = (count: number): Date => new Date(at.getTime() + minutes(count));

describe('a missing setting (fact 3.4)', () => {
  test('has the documented default', () => {
    expect(defaultDeliverySettings).toStrictEqual({
      ttlMinutes: { ANDROID: 2_160, IOS: 2_160, WEB: 2_160 },
      ...{ androidPriority: 'HIGH', iosPriority: 10, webUrgency: 'normal', iosDevices: 'ALL', templates: 'AUTO' },
      ...{ devicesPerMinute: null, spreadMinutes: null, inboxExpiryHours: null, ownDelayHours: null },
      ...{ bypassesQuietHours: false, ignoresCap: false, countsForCap: true, ignoresMinimumDelay: true },
      isSilent: false,
    });
  });

  test('keeps the literal meaning in settings that an older version stored', () => {
    expect(deliverySettings({})).toStrictEqual(settings({ templates: 'OFF' }));
    expect(deliverySettings({ templates: 'ON', iosPriority: 5, queueHours: 2 })).toStrictEqual(
      settings({ templates: 'ON', iosPriority: 5, queueHours: 2 }),
    );
  });
});

test.each([
  ['ALL', null],
  ['PROVISIONAL', true],
  ['NON_PROVISIONAL', false],
] as const)('selects iPhones of %s by provisional permission: %s', (iosDevices, provisional) => {
  expect(iosProvisional(settings({ iosDevices }))).toBe(provisional);
});

test.each<[string, Partial<DeliverySettings>, number, number | null]>([
  ['as the providers take it', {}, 1_000, null],
  ['at the rate of the campaign', { devicesPerMinute: 600 }, 1_000, 600],
  ['which wins over a span', { devicesPerMinute: 600, spreadMinutes: 10 }, 1_000, 600],
  ['spread over a span', { spreadMinutes: 10 }, 1_000, 100],
  ['which is not exceeded', { spreadMinutes: 10 }, 1_001, 101],
  ['and never stands still', { spreadMinutes: 360 }, 0, 1],
])('makes a run go %s', (_how, ...[more, devices, perMinute]) => {
  expect(runDevicesPerMinute(settings(more), devices)).toBe(perMinute);
});

describe('a run', () => {
  const ttl = (ANDROID: number, IOS: number, WEB: number) => ({ ttlMinutes: { ANDROID, IOS, WEB } });

  test.each([
    ['as long as a message lives', ttl(120, 120, 120), 120],
    ['by Android', ttl(300, 120, 120), 300],
    ['by iPhones', ttl(120, 300, 120), 300],
    ['by browsers', ttl(120, 120, 300), 300],
    ['for an hour, though a message is not stored', ttl(0, 0, 0), 60],
    ['with its queue before that', { ...ttl(120, 0, 0), queueHours: 3 }, 300],
  ])('stops sending %s', (_how, more, lives) => expect(sendUntil(settings(more), at)).toEqual(after(lives)));

  test('has a queue that ends before its messages expire', () => {
    expect(queueUntil(settings(ttl(120, 0, 0)), after(500))).toBeNull();
    expect(queueUntil(settings({ ...ttl(120, 0, 0), queueHours: 3 }), after(500))).toEqual(after(380));
    const own = settings({ ...ttl(0, 0, 0), queueHours: 2 });
    expect(queueUntil(own, sendUntil(own, at))).toEqual(after(120));
  });
});
