import { describe, expect, test } from 'vitest';
import { badgeOf, withBadge } from '../../../src/domain/content/message.ts';
import { androidOptions, readIosOptions, webOptions } from '../../../src/domain/content/content.ts';
import { makePushReader } from '../../../src/http/push/push-reader.ts';

type Json = Record<string, unknown>;

function read(platform: string, options: unknown): { told: unknown; faults: string[] } {
  const part = makePushReader({ options }, { mode: 'AUTO', bodies: 'strict' });
  const found =
    platform === 'ANDROID'
      ? androidOptions.read(part, 'options')
      : platform === 'IOS'
        ? readIosOptions(part, { enablesBadge: false, hasCategory: false })
        : webOptions.read(part, 'options');
  const first = part.firstFault();
  const faults = part.faults.map(({ field, reason }) => `${field.replace('options.', '')}: ${reason}`);
  return {
    told: found === undefined ? {} : { options: found },
    faults: first && first.reason === undefined ? [`${first.field.replace('options.', '')}: not allowed`] : faults,
  };
}

const android = {
  deliveryMode: 'data',
  visibility: 'private',
  color: '#0a7D5a',
  icon: 'ic_order',
  sticky: true,
  timeoutSeconds: 604_800,
  badge: { operation: 'increment', value: 99 },
  locKeys: { titleLocKey: 't', titleLocArgs: ["{{ UserAttribute['a'] }}", 'b'], bodyLocKey: 'b' },
  directBootOk: false,
  bandwidthConstrainedOk: true,
  restrictedSatelliteOk: false,
  analyticsLabel: 'Ab1-_.~%',
};
const ios = {
  interruptionLevel: 'time-sensitive',
  relevanceScore: 0.7,
  targetContentId: 'order-17',
  filterCriteria: 'work',
  sound: { name: 'bell.caf' },
  badge: { operation: 'set', value: 0 },
  contentAvailable: true,
  launchImage: 'Order',
  locKeys: { subtitleLocKey: 's', subtitleLocArgs: ['1'] },
  additionalActions: [
    { action: 'track-1', title: "{{ UserAttribute['a'] }}", url: 'shop://17', iconURL: 'https://shop.example/t.png' },
    { action: 'call_2', title: 'Call', url: 'https://shop.example/' },
  ],
};
const web = {
  additionalActions: [{ action: 'track', title: 'Track', url: 'http://shop.example/' }],
  badgeURL: 'https://shop.example/b.png',
  tag: 'order-17',
  renotify: true,
  silent: true,
  requireInteraction: false,
  lang: 'pt-BR',
  dir: 'rtl',
  timestamp: 8_640_000_000_000_000,
  declarative: 'never',
  appBadge: { operation: 'clear' },
};

describe('options of a content', () => {
  test.each<[string, Json]>([
    ['ANDROID', android],
    ['IOS', ios],
    ['WEB', web],
  ])('are all parsed as they were sent: %s', (platform, options) => {
    expect(read(platform, options)).toStrictEqual({ told: { options }, faults: [] });
  });

  test.each(['ANDROID', 'IOS', 'WEB'])('are missing if none is sent or filled in: %s', (platform) => {
    expect(read(platform, undefined)).toStrictEqual({ told: {}, faults: [] });
    expect(read(platform, {})).toStrictEqual({ told: {}, faults: [] });
    expect(read(platform, 'none')).toStrictEqual({ told: {}, faults: ['options: must be an object'] });
  });

  test('normalize language tags', () => {
    expect(read('WEB', { lang: 'PT-br' }).told).toEqual({ options: { lang: 'pt-BR' } });
  });

  test.each<[string, Json, object]>([
    ['ANDROID', { badge: { operation: 'set', value: 99_999 } }, { badge: { operation: 'set', value: 99_999 } }],
    ['ANDROID', { badge: { operation: 'increment', value: 1 } }, { badge: { operation: 'increment', value: 1 } }],
    ['IOS', { badge: { operation: 'clear' } }, { badge: { operation: 'clear' } }],
    ['ANDROID', { analyticsLabel: 'a'.repeat(50) }, { analyticsLabel: 'a'.repeat(50) }],
    ['ANDROID', { timeoutSeconds: 1 }, { timeoutSeconds: 1 }],
    ['ANDROID', { locKeys: { titleLocKey: 't', titleLocArgs: [] } }, { locKeys: { titleLocKey: 't' } }],
    ['IOS', { sound: { name: 'a', critical: true } }, { sound: { name: 'a', critical: true } }],
    ['IOS', { sound: { name: 'a', critical: true, volume: 0 } }, { sound: { name: 'a', critical: true, volume: 0 } }],
    ['IOS', { sound: { name: 'a', critical: false } }, { sound: { name: 'a' } }],
    [
      'WEB',
      { renotify: false, silent: false, vibrate: [0, 10_000] },
      { renotify: false, silent: false, vibrate: [0, 10_000] },
    ],
    ['WEB', { silent: true }, { silent: true }],
    ['WEB', { timestamp: 0 }, { timestamp: 0 }],
    ['WEB', { badgeURL: "{{ UserAttribute['a'] }}" }, { badgeURL: "{{ UserAttribute['a'] }}" }],
  ])('accept for %s: %j', (platform, options, told) => {
    expect(read(platform, options)).toStrictEqual({ told: { options: told }, faults: [] });
  });

  test.each<[string, Json, string[]]>([
    ['ANDROID', { deliveryMode: 'neither' }, ['deliveryMode: not allowed']],
    ['ANDROID', { visibility: 'PRIVATE' }, ['visibility: not allowed']],
    ['ANDROID', { color: '0a7d5a' }, ['color: must be a colour such as #0a7d5a']],
    ['ANDROID', { color: '#0a7d5a0' }, ['color: must be a colour such as #0a7d5a']],
    ['ANDROID', { color: 'x#0a7d5a' }, ['color: must be a colour such as #0a7d5a']],
    ['ANDROID', { icon: '{{ 1 }}' }, ['icon: cannot be a template']],
    ['ANDROID', { icon: 'a'.repeat(257) }, ['icon: must have at most 256 characters']],
    ['ANDROID', { timeoutSeconds: 0 }, ['timeoutSeconds: must be a whole number from 1 to 604800']],
    ['ANDROID', { timeoutSeconds: 604_801 }, ['timeoutSeconds: must be a whole number from 1 to 604800']],
    ['ANDROID', { analyticsLabel: 'a b' }, ['analyticsLabel: must have 1 to 50 letters, digits and -_.~%']],
    ['ANDROID', { analyticsLabel: 'a'.repeat(51) }, ['analyticsLabel: must have 1 to 50 letters, digits and -_.~%']],
    ['ANDROID', { analyticsLabel: '' }, ['analyticsLabel: must have 1 to 50 letters, digits and -_.~%']],
    ['ANDROID', { badge: {} }, ['badge.operation: is required']],
    ['ANDROID', { badge: { operation: 'add', value: 1 } }, ['badge.operation: not allowed']],
    ['ANDROID', { badge: { operation: 'set' } }, ['badge.value: is required']],
    ['ANDROID', { badge: { operation: 'set', value: -1 } }, ['badge.value: must be a whole number from 0 to 99999']],
    [
      'ANDROID',
      { badge: { operation: 'set', value: 100_000 } },
      ['badge.value: must be a whole number from 0 to 99999'],
    ],
    ['ANDROID', { badge: { operation: 'increment', value: 0 } }, ['badge.value: must be a whole number from 1 to 99']],
    [
      'ANDROID',
      { badge: { operation: 'increment', value: 100 } },
      ['badge.value: must be a whole number from 1 to 99'],
    ],
    ['ANDROID', { badge: { operation: 'clear', value: 0 } }, ['badge.value: must be absent for clear']],
    ['ANDROID', { locKeys: { titleLocArgs: ['a'] } }, ['locKeys.titleLocArgs: needs titleLocKey']],
    [
      'ANDROID',
      { locKeys: { bodyLocKey: 'b', bodyLocArgs: Array(11).fill('a') } },
      ['locKeys.bodyLocArgs: must have at most 10 items'],
    ],
    [
      'ANDROID',
      { locKeys: { bodyLocKey: 'b', bodyLocArgs: ['a'.repeat(1_025)] } },
      ['locKeys.bodyLocArgs[0]: must have at most 1024 characters'],
    ],
    ['ANDROID', { locKeys: { titleLocKey: '{{ 1 }}' } }, ['locKeys.titleLocKey: cannot be a template']],
    ['IOS', { interruptionLevel: 'loud' }, ['interruptionLevel: not allowed']],
    ['IOS', { relevanceScore: 1.1 }, ['relevanceScore: must be a number from 0 to 1']],
    ['IOS', { sound: {} }, ['sound.name: is required']],
    ['IOS', { sound: { name: 'a', volume: 0.5 } }, ['sound.volume: needs critical']],
    [
      'IOS',
      { additionalActions: Array(3).fill({ action: 'a', title: 'A', url: 'shop://1' }) },
      [
        'additionalActions: must have at most 2 items',
        'additionalActions[1].action: is given twice',
        'additionalActions[2].action: is given twice',
      ],
    ],
    [
      'IOS',
      { additionalActions: [{}] },
      [
        'additionalActions[0].action: is required',
        'additionalActions[0].title: is required',
        'additionalActions[0].url: is required',
      ],
    ],
    [
      'IOS',
      { additionalActions: [{ action: 'a b', title: 'A', url: 'shop://1' }] },
      ['additionalActions[0].action: must have 1 to 64 letters, digits, - and _'],
    ],
    [
      'IOS',
      { additionalActions: [{ action: 'a'.repeat(65), title: 'A'.repeat(65), url: 'shop://1' }] },
      [
        'additionalActions[0].action: must have at most 64 characters',
        'additionalActions[0].title: must have at most 64 characters',
      ],
    ],
    [
      'IOS',
      { additionalActions: [{ action: 'a', title: 'A', url: 'javascript:1', iconURL: 'http://a.example/' }] },
      [
        'additionalActions[0].url: must be a URL with https, http or the scheme of an app',
        'additionalActions[0].iconURL: must be a URL with https',
      ],
    ],
    [
      'WEB',
      { additionalActions: [{ action: 'a', title: 'A', url: 'shop://1' }] },
      ['additionalActions[0].url: must be a URL with https or http'],
    ],
    ['WEB', { badgeURL: 'http://a.example/' }, ['badgeURL: must be a URL with https']],
    ['WEB', { renotify: true }, ['renotify: needs a tag']],
    ['WEB', { silent: true, vibrate: [1] }, ['silent: cannot be combined with vibrate']],
    ['WEB', { lang: 'not a tag' }, ['lang: is no language tag']],
    ['WEB', { dir: 'up' }, ['dir: not allowed']],
    ['WEB', { vibrate: Array(17).fill(1) }, ['vibrate: must have at most 16 items']],
    ['WEB', { vibrate: [10_001] }, ['vibrate[0]: must be a whole number from 0 to 10000']],
    ['WEB', { vibrate: [-1] }, ['vibrate[0]: must be a whole number from 0 to 10000']],
    ['WEB', { timestamp: -1 }, ['timestamp: must be a whole number from 0 to 8640000000000000']],
    ['WEB', { declarative: 'maybe' }, ['declarative: not allowed']],
  ])('reject for %s: %j', (platform, options, faults) => expect(read(platform, options).faults).toEqual(faults));

  test('allow one badge and one set of buttons on an iPhone', () => {
    const part = makePushReader({ options: ios }, { mode: 'AUTO', bodies: 'strict' });
    readIosOptions(part, { enablesBadge: true, hasCategory: true });
    expect(part.faults).toEqual([
      { field: 'options.badge', reason: 'cannot be combined with enableIosBadge' },
      { field: 'options.additionalActions', reason: 'cannot be combined with a category' },
    ]);
    const other = makePushReader({ options: { contentAvailable: true } }, { mode: 'AUTO', bodies: 'strict' });
    readIosOptions(other, { enablesBadge: true, hasCategory: true });
    expect(other.faults).toEqual([]);
  });
});

describe('the badge number', () => {
  const set = { operation: 'set' as const, value: 3 };
  const phone = {
    title: 'T',
    message: 'M',
    richContent: [],
    additionalActions: [],
    options: { sticky: true, badge: { operation: 'increment' as const, value: 1 } },
  };
  const browser = {
    title: 'T',
    message: 'M',
    redirectUrl: 'https://a',
    iconUrl: 'https://a',
    autoDismiss: false,
    options: { appBadge: { operation: 'clear' as const } },
  };

  test('has one name for phones, and another for browsers', () => {
    expect(badgeOf(phone)).toEqual({ operation: 'increment', value: 1 });
    expect(badgeOf(browser)).toEqual({ operation: 'clear' });
    expect(badgeOf({ ...phone, options: {} })).toBeUndefined();
    expect(badgeOf({ title: 'T', message: 'M', richContent: [], additionalActions: [] })).toBeUndefined();
    expect(badgeOf(undefined)).toBeUndefined();
  });

  test('is written to the requested place', () => {
    expect(withBadge(phone, set).options).toEqual({ sticky: true, badge: set });
    expect(withBadge(browser, set).options).toEqual({ appBadge: set });
  });
});
