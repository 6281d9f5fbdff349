import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { changeOptionTexts } from '../../src/domain/content/texts.ts';
import { presentPushContent } from '../../src/http/campaigns/push-content.ts';
import { goodBody, makePushBundle } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';

let bundle: PushBundle;
let names = 0;
beforeAll(async () => {
  bundle = await makePushBundle();
});
afterAll(() => bundle?.end());

const texts = { title: 'Order 17', message: 'Ready' };
const web = { ...texts, redirectURL: 'https://shop.example/17', iconURL: 'https://shop.example/i.png' };
const button = { action: 'track', title: 'Track', url: 'https://shop.example/17/track' };
const whole = {
  ANDROID: {
    deliveryMode: 'notification',
    visibility: 'private',
    color: '#0a7d5a',
    icon: 'ic_order',
    sticky: false,
    badge: { operation: 'set', value: 1 },
    locKeys: { titleLocKey: 'order_t', titleLocArgs: ['17'], bodyLocKey: 'order_b' },
    directBootOk: false,
    bandwidthConstrainedOk: true,
    restrictedSatelliteOk: false,
    analyticsLabel: 'orders',
  },
  IOS: {
    interruptionLevel: 'active',
    relevanceScore: 0.7,
    targetContentId: 'order-17',
    sound: { name: 'bell.caf' },
    badge: { operation: 'clear' },
    contentAvailable: true,
    launchImage: 'Order',
    locKeys: { subtitleLocKey: 'ORDER_S', bodyLocKey: 'ORDER_B', bodyLocArgs: ['17'] },
    additionalActions: [button],
  },
  WEB: {
    additionalActions: [
      { ...button, iconURL: 'https://shop.example/t.png' },
      { ...button, action: 'call' },
    ],
    badgeURL: 'https://shop.example/b.png',
    tag: 'order-17',
    renotify: true,
    silent: false,
    requireInteraction: true,
    lang: 'en',
    dir: 'ltr',
    vibrate: [200, 100, 200],
    timestamp: 1_790_000_000_000,
    declarative: 'auto',
    appBadge: { operation: 'set', value: 3 },
  },
};

function send(payload: object, more: PushBody = {}) {
  const campaignName = `Campaign number ${(names += 1)}`;
  return bundle.send(goodBody({ campaignName, targetPlatform: Object.keys(payload), payload, ...more }));
}

async function store(payload: object, more: PushBody = {}): Promise<any> {
  const answer = await send(payload, more);
  expect(answer.json().Error_Message).toBeUndefined();
  const [row] = await bundle.database`select content, settings from campaigns where id = ${answer.json().cid}`;
  return { ...row, warning: answer.headers['x-svc-warning'] };
}

test('stores every option as it was sent, and reports none as unknown', async () => {
  const { content, warning } = await store({
    ANDROID: { ...texts, options: whole.ANDROID },
    IOS: { ...texts, options: whole.IOS },
    WEB: { ...web, options: whole.WEB },
  });
  for (const platform of ['ANDROID', 'IOS', 'WEB'] as const)
    expect(content[platform].options, platform).toEqual(whole[platform]);
  expect(warning).toBeUndefined();
});

test('shows the options of a push in its campaign, including those of the fallback', async () => {
  const fallback = { ...texts, options: { sticky: true } };
  const { content } = await store({ ANDROID: { ...texts, options: whole.ANDROID, fallback } });
  expect(presentPushContent(content).push).toMatchObject({
    android: { options: whole.ANDROID, template_backup: { options: { sticky: true } } },
  });
});

test('renders templates in buttons, their URLs and arguments for each user', () => {
  const options = {
    additionalActions: [{ action: 'track', title: 'Track {{ a }}', url: 'https://shop.example/{{ a }}' }],
    locKeys: { bodyLocKey: 'B', bodyLocArgs: ['{{ a }}'] },
    launchImage: 'L',
  };
  const places: string[] = [];
  const changed = changeOptionTexts<'IOS'>(options, {
    change(text, { field, schemes }) {
      places.push(schemes === undefined ? field : `${field} of ${String(schemes)}`);
      return text.replace('{{ a }}', '17');
    },
    buttonsOpen: 'web and apps',
  });
  expect(changed.options).toEqual({
    additionalActions: [{ action: 'track', title: 'Track 17', url: 'https://shop.example/17' }],
    locKeys: { bodyLocKey: 'B', bodyLocArgs: ['17'] },
    launchImage: 'L',
  });
  expect(places.sort()).toEqual([
    'options.additionalActions[0].title',
    'options.additionalActions[0].url of web and apps',
    'options.locKeys.bodyLocArgs[0]',
  ]);
});

test('accepts separate options for the fallback', async () => {
  const { content } = await store({
    IOS: { ...texts, fallback: { title: 'F', options: { badge: { operation: 'clear' } } } },
  });
  expect(content.IOS.fallback.options).toEqual({ badge: { operation: 'clear' } });
  expect(content.IOS.options).toBeUndefined();
});

type Platform = 'ANDROID' | 'IOS' | 'WEB';
const allowed = (field: string) => `Key not of Type List or Value not allowed: ${field}`;
const parsing = (field: string, reason: string) => `Error parsing parameters: ${field}: ${reason}`;

describe('a rejected push, of which nothing is stored', () => {
  test.each<[Platform, object, string, string | undefined]>([
    ['ANDROID', { deliveryMode: 'v2' }, 'deliveryMode', undefined],
    ['ANDROID', { visibility: 'hidden' }, 'visibility', undefined],
    ['ANDROID', { color: 'green' }, 'color', 'must be a colour such as #0a7d5a'],
    ['ANDROID', { timeoutSeconds: 604_801 }, 'timeoutSeconds', 'must be a whole number from 1 to 604800'],
    ['ANDROID', { badge: { operation: 'double' } }, 'badge.operation', undefined],
    [
      'ANDROID',
      { badge: { operation: 'increment', value: 100 } },
      'badge.value',
      'must be a whole number from 1 to 99',
    ],
    ['ANDROID', { badge: { operation: 'increment', value: 0 } }, 'badge.value', 'must be a whole number from 1 to 99'],
    ['ANDROID', { badge: { operation: 'set' } }, 'badge.value', 'is required'],
    ['WEB', { appBadge: { operation: 'increment' } }, 'appBadge.value', 'is required'],
    [
      'ANDROID',
      { badge: { operation: 'set', value: 100_000 } },
      'badge.value',
      'must be a whole number from 0 to 99999',
    ],
    ['ANDROID', { badge: { operation: 'clear', value: 0 } }, 'badge.value', 'must be absent for clear'],
    ['ANDROID', { locKeys: { titleLocArgs: ['17'] } }, 'locKeys.titleLocArgs', 'needs titleLocKey'],
    [
      'ANDROID',
      { locKeys: { bodyLocKey: 'B', bodyLocArgs: Array(11).fill('x') } },
      'locKeys.bodyLocArgs',
      'must have at most 10 items',
    ],
    ['ANDROID', { analyticsLabel: 'two words' }, 'analyticsLabel', 'must have 1 to 50 letters, digits and -_.~%'],
    ['ANDROID', { directBootOk: 1 }, 'directBootOk', 'must be true or false'],
    ['IOS', { interruptionLevel: 'loud' }, 'interruptionLevel', undefined],
    ['IOS', { relevanceScore: 1.1 }, 'relevanceScore', 'must be a number from 0 to 1'],
    ['IOS', { sound: {} }, 'sound.name', 'is required'],
    ['IOS', { sound: { name: 'a', critical: true } }, 'sound.critical', 'needs an app with critical alerts'],
    ['IOS', { sound: { name: 'a', volume: 0.5 } }, 'sound.volume', 'needs critical'],
    [
      'IOS',
      { additionalActions: [{ ...button, url: 'javascript://x/%0aalert(1)' }] },
      'additionalActions[0].url',
      'must be a URL with https, http or the scheme of an app',
    ],
    [
      'WEB',
      { additionalActions: [{ ...button, url: 'shop://17' }] },
      'additionalActions[0].url',
      'must be a URL with https or http',
    ],
    ['WEB', { additionalActions: [button, button] }, 'additionalActions[1].action', 'is given twice'],
    [
      'WEB',
      { additionalActions: [{ ...button, action: 'a b' }] },
      'additionalActions[0].action',
      'must have 1 to 64 letters, digits, - and _',
    ],
    [
      'WEB',
      { additionalActions: [{ ...button, title: 'x'.repeat(65) }] },
      'additionalActions[0].title',
      'must have at most 64 characters',
    ],
    ['WEB', { additionalActions: [button, button, button] }, 'additionalActions', 'must have at most 2 items'],
    ['WEB', { renotify: true }, 'renotify', 'needs a tag'],
    ['WEB', { silent: true, vibrate: [1] }, 'silent', 'cannot be combined with vibrate'],
    ['WEB', { vibrate: [10_001] }, 'vibrate[0]', 'must be a whole number from 0 to 10000'],
    ['WEB', { vibrate: Array(17).fill(1) }, 'vibrate', 'must have at most 16 items'],
    ['WEB', { lang: 'not a tag' }, 'lang', 'is no language tag'],
    ['WEB', { dir: 'up' }, 'dir', undefined],
    ['WEB', { declarative: 'yes' }, 'declarative', undefined],
    ['WEB', [], '', 'must be an object'],
  ])('has in %s: %j', async (...[platform, options, field, reason]) => {
    const before = await bundle.countRows();
    const path = `payload.${platform}.options${field === '' ? '' : `.${field}`}`;
    const answer = await send({ [platform]: { ...(platform === 'WEB' ? web : texts), options } });
    expect(answer.json()).toMatchObject({
      status: 'Fail',
      Error_Message: reason === undefined ? allowed(path) : parsing(path, reason),
    });
    expect(await bundle.countRows()).toEqual(before);
  });

  test('has a badge in addition to enableIosBadge, or buttons in addition to a category', async () => {
    const badge = { ...texts, enableIosBadge: true, options: { badge: { operation: 'increment', value: 1 } } };
    expect((await send({ IOS: badge })).json().Error_Message).toBe(
      parsing('payload.IOS.options.badge', 'cannot be combined with enableIosBadge'),
    );
    const category = { ...texts, additionalActions: [{ category: 'ORDER' }], options: { additionalActions: [button] } };
    expect((await send({ IOS: category })).json().Error_Message).toBe(
      parsing('payload.IOS.options.additionalActions', 'cannot be combined with a category'),
    );
  });
});

test('names in a header what a mode does not show and what needs an entitlement', async () => {
  const options = { deliveryMode: 'both', timeoutSeconds: 60, badge: { operation: 'clear' } };
  const { warning } = await store({
    ANDROID: { ...texts, options },
    IOS: { ...texts, options: { filterCriteria: 'work', interruptionLevel: 'time-sensitive' } },
  });
  expect(warning.split(', ')).toEqual([
    'payload.ANDROID.options.timeoutSeconds is not shown in mode both while the app is in the background',
    'payload.ANDROID.options.badge is not shown in mode both while the app is in the background',
    'payload.IOS.options.filterCriteria needs an app with Focus filters',
    'payload.IOS.options.interruptionLevel time-sensitive needs an entitlement of the app',
  ]);
});

describe('a silent push', () => {
  const silent = (settings: object = {}) => ({ advancedSettings: { silent: true, ...settings } });
  const pairs = { defaultAction: { kvPairs: { sync: 'orders' } } };

  test('has pairs and no texts, and ignores quiet hours and caps', async () => {
    const { content, settings, warning } = await store(
      { ANDROID: { title: '', message: '', ...pairs }, IOS: pairs },
      silent(),
    );
    expect(content.ANDROID).toEqual({
      title: '',
      message: '',
      richContent: [],
      additionalActions: [],
      defaultAction: { type: 'navigation', value: '', keyValuePairs: { sync: 'orders' } },
    });
    expect(settings).toMatchObject({
      isSilent: true,
      androidPriority: 'NORMAL',
      iosPriority: 5,
      ignoresCap: true,
      countsForCap: false,
      bypassesQuietHours: true,
    });
    expect(warning).toBeUndefined();
  });

  test('may have high priority, with a warning', async () => {
    const { settings, warning } = await store(
      { ANDROID: pairs },
      silent({ notificationPrioritySettings: { Android: 'High' } }),
    );
    expect(settings.androidPriority).toBe('HIGH');
    expect(warning).toBe(
      'advancedSettings.notificationPrioritySettings.Android High for a silent message makes FCM lower the app',
    );
  });

  test.each<[object, string, string]>([
    [{ ANDROID: { ...pairs, title: 'T' } }, 'payload.ANDROID.title', 'must be empty in a silent message'],
    [{ IOS: { ...pairs, subtitle: 'S' } }, 'payload.IOS.subtitle', 'cannot be in a silent message'],
    [
      { IOS: { ...pairs, options: { contentAvailable: true } } },
      'payload.IOS.options',
      'cannot be in a silent message',
    ],
    [{ ANDROID: { title: '', message: '' } }, 'payload.ANDROID.defaultAction.kvPairs', 'is required'],
    [{ WEB: web }, 'advancedSettings.silent', 'WEB cannot be silent'],
  ])('may not have %j', async (payload, field, reason) => {
    expect((await send(payload, silent())).json().Error_Message).toBe(parsing(field, reason));
  });
});

test('accepts a time to live for messages to iPhones', async () => {
  expect((await store({ IOS: texts }, { advancedSettings: { ttl: { IOS: 60 } } })).settings.ttlMinutes.IOS).toBe(60);
});
