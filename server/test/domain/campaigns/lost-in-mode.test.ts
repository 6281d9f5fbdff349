import { describe, expect, test } from 'vitest';
import type { App } from '../../../src/domain/apps.ts';
import type { PayloadMode, AndroidContent } from '../../../src/domain/content/content.ts';
import { lostInApps } from '../../../src/domain/campaigns/warnings.ts';

const bare: AndroidContent = { title: 'T', message: 'M', richContent: [], additionalActions: [] };
const summary = { ...bare, summary: 'S' };
const app = (appId: string, mode?: PayloadMode, more: Partial<App> = {}): App => ({
  ...{ platform: 'ANDROID', appId, name: appId, identifier: 'com.example.shop', environment: null },
  ...{ restrictsPackage: false, ...(mode && { settings: { mode } }), ...more },
});
type Question = { mode?: PayloadMode; apps?: App[]; appIds?: string[]; isSilent?: boolean };
const lost = (content: AndroidContent, { mode = 'both', apps = [], appIds, isSilent = false }: Question = {}) =>
  lostInApps(content, { mode, apps, settings: { isSilent, ...(appIds && { appIds }) } });

describe('a notification of the system', () => {
  const rows: [string, Partial<AndroidContent>, { field: string; words: string }][] = [
    [
      'buttons',
      { additionalActions: [{ type: 'copy', value: 'V', name: 'N' }] },
      { field: 'additionalActions', words: 'buttons' },
    ],
    ['group', { groupKey: 'g' }, { field: 'groupKey', words: 'the group' }],
    ['summary', { summary: 'S' }, { field: 'summary', words: 'the summary' }],
    [
      'coupon',
      {
        richContent: [
          { type: 'image', value: 'i' },
          { type: 'coupon', value: 'c' },
        ],
      },
      { field: 'richContent', words: 'the coupon' },
    ],
    [
      'action of its own',
      { defaultAction: { type: 'deeplinking', value: 'a://b', keyValuePairs: {} } },
      { field: 'defaultAction', words: 'what a tap opens' },
    ],
    [
      'time after which it goes away',
      { options: { timeoutSeconds: 60 } },
      { field: 'options.timeoutSeconds', words: 'the time after which it goes away' },
    ],
    [
      'badge that it clears',
      { options: { badge: { operation: 'clear' } } },
      { field: 'options.badge', words: 'the cleared badge' },
    ],
  ];

  test.each(rows)('loses %s', (_what, more, member) => {
    const content = { ...bare, ...more };
    for (const mode of ['notification', 'both'] as const)
      expect(lost(content, { mode })).toEqual([{ mode, apps: [], lost: [member] }]);
    // The app shows it itself.
    expect(lost(content, { mode: 'data' })).toEqual([]);
  });

  test('keeps an image, a sound, a set badge and other options', () => {
    const content: AndroidContent = {
      ...bare,
      richContent: [
        { type: 'image', value: 'i' },
        { type: 'sound', value: 's' },
      ],
      collapseReplaceKey: 'k',
      options: { icon: 'i', badge: { operation: 'set', value: 2 } },
    };
    expect(lost(content)).toEqual([]);
  });

  test('reports all losses, in this order', () => {
    const all = Object.assign({}, bare, ...rows.map(([, more]) => more)) as AndroidContent;
    const options = { timeoutSeconds: 60, badge: { operation: 'clear' as const } };
    expect(lost({ ...all, options })[0]!.lost).toEqual(rows.map(([, , member]) => member));
  });
});

describe('the mode is', () => {
  const modes = (question: Question, content: AndroidContent = summary) =>
    lost(content, question).map(({ mode, apps }) => [mode, ...apps]);
  const chosen = { ...summary, options: { deliveryMode: 'notification' as const } };

  test('that of the workspace, for every app without its own', () => {
    expect(modes({ apps: [app('a'), app('b', undefined, { settings: {} })] })).toEqual([['both']]);
    expect(modes({ mode: 'data', apps: [app('a')] })).toEqual([]);
  });

  test('an app’s own, grouped with other apps of the same mode', () => {
    const apps = [app('a', 'notification'), app('b', 'data'), app('c', 'notification')];
    expect(modes({ apps })).toEqual([['both'], ['notification', 'a', 'c']]);
    expect(modes({ mode: 'data', apps })).toEqual([['notification', 'a', 'c']]);
  });

  test('that of the apps that the message is for', () => {
    const apps = [app('a', 'notification'), app('b')];
    expect(modes({ apps, appIds: ['a'] })).toEqual([['notification', 'a']]);
    expect(modes({ apps, appIds: ['b'] })).toEqual([['both']]);
    expect(modes({ apps, appIds: ['a', 'default'] })).toEqual([['both'], ['notification', 'a']]);
    expect(modes({ apps, appIds: ['a', 'b'] })).toEqual([['both'], ['notification', 'a']]);
  });

  test('not that of an app on another platform', () => {
    expect(modes({ apps: [app('a', 'notification', { platform: 'WEB' })] })).toEqual([['both']]);
    expect(modes({ apps: [app('a', undefined, { platform: 'IOS' })], appIds: ['a'] })).toEqual([]);
  });

  test('that of the message, in every app', () => {
    const apps = [app('a', 'both'), app('b', 'data')];
    expect(modes({ mode: 'data', apps }, chosen)).toEqual([['notification']]);
    expect(modes({ mode: 'data', apps, appIds: ['a'] }, chosen)).toEqual([['notification']]);
    const data = { ...summary, options: { deliveryMode: 'data' as const } };
    expect(modes({ apps }, data)).toEqual([]);
  });

  test('data for a silent message', () => expect(modes({ isSilent: true })).toEqual([]));
});
