import { describe, expect, test } from 'vitest';
import {
  contentForApp,
  findAppFaults,
  findCriticalSounds,
  isAppId,
  noSuchApp,
  payloadOfApp,
} from '../../src/domain/apps.ts';
import type { App, AppSettings } from '../../src/domain/apps.ts';
import { appIds } from '../../src/domain/campaign-document/delivery.ts';
import { keyOfApp, makeCredentialsOfApps, ownerOfCredential } from '../../src/domain/credentials/credentials.ts';
import type { CredentialOfApp } from '../../src/domain/credentials/credentials.ts';
import type { ProviderCredential } from '../../src/domain/delivery/providers.ts';
import { makePushReader } from '../../src/http/push/push-reader.ts';

describe('app faults', () => {
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
});

describe('contents and credentials', () => {
  describe('content without its own appearance takes the settings of its app', () => {
    const content = { title: 'T', message: 'M', richContent: [], additionalActions: [] };
    const madeFor = (defaults: AppSettings['defaults'], own: object = {}) =>
      contentForApp({ ...content, ...own }, { platform: 'ANDROID', settings: defaults ? { defaults } : {} });

    test('for each setting separately', () => {
      expect(madeFor(undefined)).toEqual(content);
      expect(madeFor({ icon: 'van' })).toEqual({ ...content, options: { icon: 'van' } });
      expect(madeFor({ color: '#0a7d5a' })).toEqual({ ...content, options: { color: '#0a7d5a' } });
      expect(madeFor({ channelId: 'orders' })).toEqual({ ...content, channelId: 'orders' });
      expect(madeFor({ sound: 'bell' })).toEqual({ ...content, richContent: [{ type: 'sound', value: 'bell' }] });
    });

    test('in addition to its own settings', () => {
      const image = { type: 'image', value: 'https://shop.example/i.png' };
      expect(madeFor({ sound: 'bell' }, { richContent: [image] }).richContent).toEqual([
        image,
        { type: 'sound', value: 'bell' },
      ]);
      const own = { richContent: [image, { type: 'sound', value: 'horn' }], options: { sticky: true } };
      expect(madeFor({ sound: 'bell', icon: 'van' }, own)).toEqual({
        ...{ ...content, ...own },
        options: { icon: 'van', sticky: true },
      });
      expect(madeFor({}, { channelId: 'news' })).toEqual({ ...content, channelId: 'news' });
      expect(Object.keys(madeFor({ sound: 'bell' }))).toEqual(Object.keys(content));
    });

    test('on iPhones the sound, on sites whether a browser shows the message without its service worker', () => {
      const ios = { ...content, enableBadge: false };
      expect(contentForApp(ios, { platform: 'IOS', settings: {} })).toEqual(ios);
      expect(contentForApp(ios, { platform: 'IOS', settings: { defaults: { sound: 'bell' } } }).richContent).toEqual([
        { type: 'sound', value: 'bell' },
      ]);
      const plain = { ...ios, options: { sound: { name: 'horn.caf' } } };
      expect(contentForApp(plain, { platform: 'IOS', settings: { criticalAlerts: true } })).toBe(plain);
      const web = { title: 'T', message: 'M', redirectUrl: 'https://a.example', iconUrl: 'i', autoDismiss: false };
      expect(contentForApp(web, { platform: 'WEB', settings: {} })).toBe(web);
    });
  });

  test('plays a critical sound only in iOS apps', () => {
    const own = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [] };
    const loud = { ...own, options: { sound: { name: 'bell', critical: true as const } } };
    const android = { platform: 'ANDROID', appId: 'pager', settings: { criticalAlerts: true as const } } as const;
    expect(findCriticalSounds({ IOS: loud }, { apps: [android], appIds: undefined })).toEqual(['content']);
    const unset = { platform: 'IOS', appId: 'shop' } as const;
    expect(findCriticalSounds({ IOS: { ...own, fallback: loud } }, { apps: [unset], appIds: undefined })).toEqual([
      'fallback',
    ]);
    expect(findCriticalSounds({ IOS: { ...own, options: {} } }, { apps: [], appIds: undefined })).toEqual([]);
    expect(findCriticalSounds({}, { apps: [], appIds: undefined })).toEqual([]);
  });

  describe('the credential of a device', () => {
    test.each<[string, { owners: string[]; others: string[] }, string | undefined]>([
      ['shop', { owners: ['shop', 'default'], others: ['shop'] }, 'shop'],
      ['shop', { owners: ['courier', 'default'], others: ['shop', 'courier'] }, 'default'],
      ['shop', { owners: ['courier'], others: ['shop', 'courier'] }, undefined],
      ['shop', { owners: ['courier'], others: ['courier'] }, undefined],
      ['default', { owners: ['default'], others: ['shop'] }, 'default'],
      ['default', { owners: ['shop'], others: ['shop'] }, 'shop'],
      ['default', { owners: ['shop'], others: ['shop', 'courier'] }, undefined],
      ['default', { owners: ['courier'], others: ['shop'] }, undefined],
      ['default', { owners: ['shop'], others: [] }, undefined],
    ])('is for the app %s, with those that have one and others %j: %s', (appId, { owners, others }, owner) => {
      const ids = (names: string[]) => names.map((name) => ({ appId: name }));
      expect(ownerOfCredential(appId, { owners: ids(owners), others: ids(others) })).toBe(owner);
    });

    test('gives devices with the same credential one key, and others another', () => {
      const platform = 'ANDROID';
      expect(keyOfApp({ platform, appId: null })).toBe('ANDROID');
      expect(keyOfApp({ platform, appId: null, provider: null, pushIdType: null })).toBe('ANDROID');
      expect(keyOfApp({ platform, appId: null, provider: 'hms' })).toBe('ANDROID hms  ');
      expect(keyOfApp({ platform, appId: null, pushIdType: 'fid' })).toBe('ANDROID  fid ');
      expect(keyOfApp({ platform, appId: 'shop' })).toBe('ANDROID   shop');
      expect(keyOfApp({ platform: 'IOS', appId: 'shop', provider: 'fcm', pushIdType: 'fid' })).toBe('IOS fcm fid shop');
    });
  });

  describe('the credentials of apps', () => {
    const secrets: Record<string, ProviderCredential> = {
      fcm: {
        ...{ provider: 'fcm', projectId: 'p', clientEmail: 'a@b.example', privateKeyId: 'k', privateKey: 'p' },
        simulated: false,
      },
      apns: {
        ...{ provider: 'apns', teamId: 'TEAM123456', keyId: 'KEY1234567', privateKey: 'p', topic: 'com.example.main' },
        ...{ simulated: false, environment: 'production' },
      },
      webpush: {
        provider: 'webpush',
        publicKey: 'p',
        privateKey: 'q',
        subject: 'mailto:a@b.example',
        simulated: false,
      },
      hms: { provider: 'hms', clientId: '1', clientSecret: 's', owner: { kind: 'app', id: '2' }, simulated: false },
    };
    const stored = (provider: string, appId: string, version = '1'): CredentialOfApp => ({
      ...{ appId, version },
      credential: secrets[provider]!,
    });
    const app = (platform: App['platform'], appId: string, more: Partial<App> = {}): App => ({
      ...{
        platform,
        appId,
        name: appId,
        identifier: `com.example.${appId}`,
        environment: null,
        restrictsPackage: false,
      },
      ...more,
    });

    test('are named as missing, without a version, for a workspace without any', () => {
      const { find } = makeCredentialsOfApps([], [stored('fcm', 'default')]);
      expect(find({ platform: 'ANDROID', appId: null, provider: 'hms' })).toEqual({
        ...{ credentials: {}, name: { provider: 'hms', appId: 'default', version: '' } },
      });
    });

    test.each(['webpush', 'hms'] as const)('are returned as stored for %s', (provider) => {
      const platform = provider === 'hms' ? 'ANDROID' : 'WEB';
      const { find } = makeCredentialsOfApps([app(platform, 'shop')], [stored(provider, 'shop', '7')]);
      expect(find({ platform, appId: 'shop', provider })).toEqual({
        ...{ credentials: { [provider]: secrets[provider] }, name: { provider, appId: 'shop', version: '7' } },
      });
    });

    test('take the environment of the credential if an iOS app has none', () => {
      const { find } = makeCredentialsOfApps([app('IOS', 'shop')], [stored('apns', 'default')]);
      expect(find({ platform: 'IOS', appId: 'shop' })!.credentials.apns).toMatchObject({
        ...{ topic: 'com.example.shop', environment: 'production' },
      });
    });

    test('differ for an app of the same name on another platform', () => {
      const apps = [app('WEB', 'shop'), app('ANDROID', 'courier')];
      const { find } = makeCredentialsOfApps(apps, [stored('fcm', 'default')]);
      expect(find({ platform: 'ANDROID', appId: 'shop' })).toBeUndefined();
      expect(find({ platform: 'ANDROID', appId: 'courier' })!.name.appId).toBe('default');
      const { find: ofOne } = makeCredentialsOfApps(apps, [stored('fcm', 'courier')]);
      expect(ofOne({ platform: 'ANDROID', appId: null })!.name.appId).toBe('courier');
    });

    test('come with the settings of the app; missing settings are left out', () => {
      const settings = { mode: 'both' } as const;
      const apps = [app('ANDROID', 'shop', { settings }), app('ANDROID', 'courier', { settings: {} })];
      const { find } = makeCredentialsOfApps(apps, [stored('fcm', 'default')]);
      expect(find({ platform: 'ANDROID', appId: 'shop' })!.settings).toEqual(settings);
      expect(find({ platform: 'ANDROID', appId: 'courier' })).not.toHaveProperty('settings');
      expect(find({ platform: 'ANDROID', appId: null })).not.toHaveProperty('settings');
    });

    test('are looked up once, however many devices ask, even if missing', () => {
      let reads = 0;
      const counted = new Proxy([stored('fcm', 'default')], {
        get(target, name, receiver) {
          if (name === 'filter') reads += 1;
          return Reflect.get(target, name, receiver) as unknown;
        },
      });
      const credentials = makeCredentialsOfApps([app('ANDROID', 'shop')], counted);
      const [first, second] = [1, 2].map(() => credentials.find({ platform: 'ANDROID', appId: 'shop' }));
      expect(first).toBe(second);
      expect(reads).toBe(1);
      for (const _ of [1, 2]) expect(credentials.find({ platform: 'ANDROID', appId: 'gone' })).toBeUndefined();
      expect(reads).toBe(2);
      expect(credentials.apps.map(({ appId }) => appId)).toEqual(['shop']);
    });
  });
});
