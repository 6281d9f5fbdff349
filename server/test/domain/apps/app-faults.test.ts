import { describe, expect, test } from 'vitest';
import { findAppFaults, isAppId, noSuchApp, payloadOfApp } from '../../../src/domain/apps.ts';
import type { App, AppSettings } from '../../../src/domain/apps.ts';
import { appIds } from '../../../src/domain/campaign-document/delivery.ts';
import { makePushReader } from '../../../src/http/push/push-reader.ts';

const apps: Record<App['platform'], App> = {
  ANDROID: {
    ...{ platform: 'ANDROID', appId: 'shop', name: 'Shop', identifier: 'com.example.shop' },
    ...{ environment: null, restrictsPackage: true },
  },
  IOS: {
    ...{ platform: 'IOS', appId: 'shop', name: 'Shop', identifier: 'com.example.shop' },
    ...{ environment: 'sandbox', restrictsPackage: false },
  },
  WEB: {
    ...{ platform: 'WEB', appId: 'shop', name: 'Shop', identifier: 'https://shop.example' },
    ...{ environment: null, restrictsPackage: false },
  },
};
const faults = (platform: App['platform'], change: Partial<App> = {}) =>
  findAppFaults({ ...apps[platform], ...change }).map(({ field, reason }) => `${field}: ${reason}`);

describe('an app', () => {
  test.each(['ANDROID', 'IOS', 'WEB'] as const)('can be stored for %s', (platform) => {
    expect(faults(platform)).toEqual([]);
  });

  test.each<[string, App['platform'], Partial<App>]>([
    ['app: takes 1 to 64 letters, digits, dots, - and _', 'WEB', { appId: 'a b' }],
    ['app: is there already, in every workspace', 'IOS', { appId: 'default' }],
    ["environment: is one of Apple's, of apps on IOS", 'IOS', { environment: null }],
    ["environment: is one of Apple's, of apps on IOS", 'ANDROID', { environment: 'production' }],
    ['restrict-package: is of apps on ANDROID', 'WEB', { restrictsPackage: true }],
    ['name: takes 1 to 100 characters', 'WEB', { name: ' ' }],
    ['name: takes 1 to 100 characters', 'WEB', { name: 'x'.repeat(101) }],
    ['mode: is of apps on ANDROID', 'IOS', { settings: { mode: 'data' } }],
  ])('is invalid: %s (%s, %j)', (fault, platform, change) => {
    expect(faults(platform, change)).toEqual([fault]);
  });

  test('reports every fault at once', () => {
    expect(faults('WEB', { appId: '', name: '', restrictsPackage: true })).toHaveLength(3);
  });

  test('has a name of up to 100 characters', () => {
    expect(faults('WEB', { name: 'x'.repeat(100) })).toEqual([]);
  });

  type Identifiers = { platform: App['platform']; words: string; taken: string[]; refused: string[] };
  test.each<Identifiers>([
    {
      platform: 'ANDROID',
      words: 'the name of a package, such as com.example.shop',
      taken: ['com.example', 'C.d_1.e2', `a.${'b'.repeat(253)}`],
      refused: [
        ...['com', 'com.', '.com.a', '1com.a', 'com.1a', 'com.example/shop', 'com..a', ' com.a'],
        `a.${'b'.repeat(254)}`,
      ],
    },
    {
      platform: 'IOS',
      words: 'a bundle id, such as com.example.shop',
      taken: ['a', 'A-1.b', 'x'.repeat(155)],
      refused: ['', 'a_b', 'a b', 'a\n', 'x'.repeat(156)],
    },
    {
      platform: 'WEB',
      words: 'the origin of a site, such as https://shop.example',
      taken: [
        ...['https://shop.example:8443', 'http://localhost', 'http://localhost:8080'],
        `https://${'x.'.repeat(121)}xtest`,
      ],
      refused: [
        ...['shop.example', 'http://shop.example', 'https://shop.example/', 'https://Shop.example'],
        ...['https://shop.example:443', 'https://a@shop.example', 'ftp://localhost', 'blob:https://shop.example'],
        `https://${'x.'.repeat(122)}test`,
      ],
    },
  ])('has as its identifier for $platform $words', ({ platform, words, taken, refused }) => {
    for (const identifier of taken) expect([identifier, faults(platform, { identifier })]).toEqual([identifier, []]);
    for (const identifier of refused)
      expect([identifier, faults(platform, { identifier })]).toEqual([identifier, [`identifier: must be ${words}`]]);
  });

  test('has an id of 1 to 64 letters, digits, dots, dashes and underscores', () => {
    for (const id of ['a', 'Shop.de-1_x', 'x'.repeat(64)]) expect(isAppId(id)).toBe(true);
    for (const id of ['', 'a b', 'a/b', 'é', 'a\n', '\na', 'x'.repeat(65)]) expect(isAppId(id)).toBe(false);
    expect(noSuchApp('shop')).toBe('"shop" is no app of this workspace');
  });
});

describe('the settings of an app', () => {
  const settingFaults = (platform: App['platform'], settings: object) =>
    faults(platform, { settings: settings as AppSettings });

  test.each<[App['platform'], AppSettings]>([
    ['ANDROID', { mode: 'both', pushFrom: 'Shop.de-1_x', dataPrefix: 'shop' }],
    ['ANDROID', { defaults: { channelId: 'c', sound: 's', icon: 'i', color: '#0a7D5a' } }],
    ['IOS', { dataPrefix: 'shop1', criticalAlerts: true, defaults: { sound: 'x'.repeat(255) } }],
    ['WEB', { declarative: 'always' }],
  ])('accept for %s: %j', (platform, settings) => {
    expect(settingFaults(platform, settings)).toEqual([]);
  });

  test.each<[App['platform'], object, string]>([
    ['ANDROID', { mode: 'loud' }, 'mode: must be data, notification, both'],
    ['WEB', { declarative: 'on' }, 'declarative: must be auto, always, never'],
    ['ANDROID', { pushFrom: 'a b' }, 'pushFrom: takes 1 to 64 letters, digits, dots, - and _'],
    [
      'IOS',
      { dataPrefix: 'gcm' },
      'dataPrefix: takes 1 to 16 lower-case letters and digits, but not gcm, google or kv',
    ],
    ['ANDROID', { defaults: { color: '#0a7d5' } }, 'defaults.color: must be a colour such as #0a7d5a'],
    ['ANDROID', { defaults: { color: '#0a7d5a0' } }, 'defaults.color: must be a colour such as #0a7d5a'],
    ['ANDROID', { defaults: { color: 'x#0a7d5a' } }, 'defaults.color: must be a colour such as #0a7d5a'],
    ['ANDROID', { defaults: { channelId: ' ' } }, 'defaults.channel_id: takes 1 to 255 characters'],
    ['IOS', { defaults: { sound: 'x'.repeat(256) } }, 'defaults.sound: takes 1 to 255 characters'],
    ['ANDROID', { defaults: { icon: '\ud800' } }, 'defaults.icon: takes 1 to 255 characters'],
    ['WEB', { dataPrefix: 'shop' }, 'dataPrefix: is of apps on ANDROID or IOS'],
    ['WEB', { mode: 'data' }, 'mode: is of apps on ANDROID'],
    ['IOS', { pushFrom: 'shop' }, 'pushFrom: is of apps on ANDROID'],
    ['ANDROID', { criticalAlerts: true }, 'criticalAlerts: is of apps on IOS'],
    ['IOS', { declarative: 'auto' }, 'declarative: is of apps on WEB'],
    ['WEB', { defaults: { sound: 's' } }, 'defaults.sound: is of apps on ANDROID or IOS'],
    ['IOS', { defaults: { channelId: 'c' } }, 'defaults.channel_id: is of apps on ANDROID'],
    ['IOS', { defaults: { icon: 'i' } }, 'defaults.icon: is of apps on ANDROID'],
    ['IOS', { defaults: { color: '#000000' } }, 'defaults.color: is of apps on ANDROID'],
  ])('reject for %s: %j', (platform, settings, fault) => {
    expect(settingFaults(platform, settings)).toEqual([fault]);
  });

  test('default to the settings of the workspace', () => {
    const ofWorkspace = { mode: 'data', pushFrom: 'carillon', dataPrefix: null } as const;
    expect(payloadOfApp(ofWorkspace)).toEqual(ofWorkspace);
    expect(payloadOfApp(ofWorkspace, { declarative: 'auto' })).toEqual(ofWorkspace);
    const own = { mode: 'both', pushFrom: 'shop', dataPrefix: 'shop' } as const;
    expect(payloadOfApp(ofWorkspace, own)).toEqual(own);
  });
});

test('accepts up to 20 apps for a campaign, and rejects an empty list, which would reach all users', () => {
  const read = (sent: unknown) => {
    const reader = makePushReader({ appIds: sent }, { mode: 'OFF', bodies: 'lenient' });
    return { read: appIds.read(reader, 'appIds'), faults: reader.faults };
  };
  expect(read(undefined)).toEqual({ read: undefined, faults: [] });
  expect(read(['shop', 'courier'])).toEqual({ read: ['shop', 'courier'], faults: [] });
  expect(read([])).toEqual({ read: undefined, faults: [{ field: 'appIds', reason: 'must name an app' }] });
  const ids = Array.from({ length: 20 }, (_, index) => `${index}`.padEnd(64, 'x'));
  expect(read(ids)).toEqual({ read: ids, faults: [] });
  expect(read([...ids, 'shop']).faults).toEqual([{ field: 'appIds', reason: 'must have at most 20 items' }]);
  expect(read(['x'.repeat(65)]).faults).toHaveLength(1);
  expect(read({}).faults).toEqual([]);
});
