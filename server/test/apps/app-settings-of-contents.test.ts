import { expect, test } from 'vitest';
import { contentForApp, findCriticalSounds } from '../../src/domain/apps.ts';
import type { AppSettings, App } from '../../src/domain/apps.ts';
import type { IosContent } from '../../src/domain/content/content.ts';
import { lostInApps } from '../../src/domain/campaigns/warnings.ts';

const defaults = { channelId: 'orders', sound: 'bell', icon: 'ic_van', color: '#0a7d5a' };
const android = { title: 'T', message: 'M', richContent: [], additionalActions: [] };

test('what a content says itself is not the default of its app', () => {
  const content = {
    ...android,
    channelId: 'news',
    richContent: [{ type: 'sound' as const, value: 'horn' }],
    options: { color: '#000000' },
  };
  expect(contentForApp(content, { platform: 'ANDROID', settings: { defaults } })).toEqual({
    ...content,
    options: { icon: 'ic_van', color: '#000000' },
  });
  const ios = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [] };
  const named = { ...ios, options: { sound: { name: 'horn.caf' } } };
  expect(contentForApp(named, { platform: 'IOS', settings: { defaults } })).toEqual(named);
  const web = { title: 'T', message: 'M', redirectUrl: 'https://a.example', iconUrl: 'i', autoDismiss: false };
  const declared = { ...web, options: { declarative: 'never' as const } };
  expect(contentForApp(declared, { platform: 'WEB', settings: { declarative: 'auto' } })).toEqual(declared);
  expect(contentForApp(web, { platform: 'WEB', settings: { declarative: 'auto' } }).options).toEqual({
    declarative: 'auto',
  });
});

test('a critical sound is that of apps with critical alerts, and a plain one elsewhere', () => {
  const sound = { name: 'siren.caf', critical: true as const, volume: 0.8 };
  const options = { sound, relevanceScore: 1 };
  const content = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [], options };
  const madeFor = (settings: AppSettings) => contentForApp(content, { platform: 'IOS', settings }).options;
  expect(madeFor({ criticalAlerts: true })).toEqual(options);
  expect(madeFor({ defaults: { sound: 'bell' } })).toEqual({ ...options, sound: { name: 'siren.caf' } });
});

test('a critical sound asks for an app with critical alerts among those that are reached', () => {
  const app = (appId: string, platform: App['platform'], settings: AppSettings = {}) => ({ appId, platform, settings });
  const apps = [app('shop', 'IOS', { criticalAlerts: true }), app('courier', 'IOS'), app('pager', 'ANDROID')];
  const own = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [] };
  const plain = { ...own, options: { sound: { name: 'bell' } } };
  const loud = { ...own, options: { sound: { name: 'bell', critical: true as const } } };
  const found = (appIds: string[] | undefined, IOS: IosContent = loud) => findCriticalSounds({ IOS }, { apps, appIds });
  expect(found(undefined)).toEqual([]);
  expect(found(['shop', 'courier'])).toEqual([]);
  expect(found(['courier'])).toEqual(['content']);
  expect(found(['pager'], { ...plain, fallback: loud })).toEqual(['fallback']);
  expect(found(['courier'], plain)).toEqual([]);
  expect(findCriticalSounds({ IOS: loud }, { apps: [], appIds: undefined })).toEqual(['content']);
});

test('what is lost is told of the modes that the message meets', () => {
  const app = (appId: string, mode?: 'data' | 'notification'): App => ({
    ...{
      platform: 'ANDROID',
      appId,
      name: appId,
      identifier: `a.${appId}`,
      environment: null,
      restrictsPackage: false,
    },
    settings: mode === undefined ? {} : { mode },
  });
  const apps = [app('shop', 'data'), app('courier', 'notification'), app('plain')];
  const content = { ...android, summary: 'S' };
  const told = (appIds: string[] | undefined, { isSilent = false, mode = 'both' as const, own = content } = {}) =>
    lostInApps(own, { mode, apps, settings: { isSilent, ...(appIds && { appIds }) } }).map((lost) =>
      [lost.mode, ...lost.apps].join(' '),
    );
  expect(told(undefined)).toEqual(['both', 'notification courier']);
  expect(told(['shop'])).toEqual([]);
  expect(told(['shop', 'courier'])).toEqual(['notification courier']);
  expect(told(['plain'])).toEqual(['both']);
  expect(told(undefined, { isSilent: true })).toEqual([]);
  expect(told(undefined, { own: { ...content, options: { deliveryMode: 'notification' } } as never })).toEqual([
    'notification',
  ]);
});
