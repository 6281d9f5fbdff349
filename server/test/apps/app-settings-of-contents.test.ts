import { expect, test } from 'vitest';
import { contentForApp } from '../../src/domain/apps/app-settings.ts';
import { lostInApps } from '../../src/domain/campaigns/lost-in-mode.ts';
import type { App } from '../../src/domain/apps/app.ts';

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
