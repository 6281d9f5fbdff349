import { describe, expect, test } from 'vitest';
import type { App, AppSettings } from '../../../src/domain/apps.ts';
import { contentForApp, findCriticalSounds } from '../../../src/domain/apps.ts';
import { keyOfApp, makeCredentialsOfApps, ownerOfCredential } from '../../../src/domain/credentials/credentials.ts';
import type { CredentialOfApp } from '../../../src/domain/credentials/credentials.ts';
import type { ProviderCredential } from '../../../src/domain/delivery/providers.ts';

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
    webpush: { provider: 'webpush', publicKey: 'p', privateKey: 'q', subject: 'mailto:a@b.example', simulated: false },
    hms: { provider: 'hms', clientId: '1', clientSecret: 's', owner: { kind: 'app', id: '2' }, simulated: false },
  };
  const stored = (provider: string, appId: string, version = '1'): CredentialOfApp => ({
    ...{ appId, version },
    credential: secrets[provider]!,
  });
  const app = (platform: App['platform'], appId: string, more: Partial<App> = {}): App => ({
    ...{ platform, appId, name: appId, identifier: `com.example.${appId}`, environment: null, restrictsPackage: false },
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
