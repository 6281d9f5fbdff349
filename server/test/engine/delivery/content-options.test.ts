import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type {
  PayloadMode,
  AndroidOptions,
  IosOptions,
  WebOptions,
  Platform,
} from '../../../src/domain/content/content.ts';
import { makeWebPayload } from '../../../src/providers/webpush/plan.ts';
import type { BrowserMessage } from '../../../src/providers/payload/browser.ts';
import { makeMessage, startDeliveryBundle } from './delivery-bundle.ts';

/** Every option of each platform, as a push names it. */
const android: AndroidOptions = {
  visibility: 'private',
  color: '#0a7d5a',
  icon: 'ic_order',
  sticky: true,
  timeoutSeconds: 3600,
  badge: { operation: 'set', value: 3 },
  locKeys: { titleLocKey: 'order_t', titleLocArgs: ['17'], bodyLocKey: 'order_b', bodyLocArgs: ['18'] },
  directBootOk: false,
  bandwidthConstrainedOk: true,
  restrictedSatelliteOk: false,
  analyticsLabel: 'orders',
};
const ios: IosOptions = {
  interruptionLevel: 'time-sensitive',
  relevanceScore: 0.7,
  targetContentId: 'order-17',
  filterCriteria: 'work',
  sound: { name: 'bell.caf' },
  badge: { operation: 'clear' },
  contentAvailable: true,
  launchImage: 'Order',
  locKeys: { titleLocKey: 'T', titleLocArgs: ['1'], subtitleLocKey: 'S', subtitleLocArgs: ['2'], bodyLocKey: 'B' },
  additionalActions: [{ action: 'track', title: 'Track', url: 'https://shop.example/17/track' }],
};
const web: WebOptions = {
  additionalActions: [
    { action: 'track', title: 'Track', url: 'https://shop.example/17/track', iconURL: 'https://shop.example/t.png' },
    { action: 'call', title: 'Call', url: 'https://shop.example/17/call' },
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
  appBadge: { operation: 'set', value: 3 },
};

let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
beforeAll(async () => {
  bundle = await startDeliveryBundle();
});
afterEach(() => {
  bundle.delivered.length = 0;
});
afterAll(() => bundle.stop());

async function arrive(platform: Platform, { options, ...more }: Record<string, unknown>): Promise<any> {
  const { content, platform: _platform, ...message } = makeMessage(platform, '0');
  const sent = { ...message, ...more, content: { ...content, ...(options ? { options } : {}) } };
  // The simulator refuses members that it does not know, or that stand in the wrong place.
  expect(await bundle.send(platform, { message: sent })).toMatchObject({ kind: 'accepted' });
  await bundle.simulators.settle();
  return bundle.delivered[0];
}

const inNotification = {
  icon: 'ic_order',
  color: '#0a7d5a',
  visibility: 'PRIVATE',
  sticky: true,
  notification_count: 3,
  title_loc_key: 'order_t',
  title_loc_args: ['17'],
  body_loc_key: 'order_b',
  body_loc_args: ['18'],
};
const inData = {
  svc_icon: 'ic_order',
  svc_color: '#0a7d5a',
  svc_visibility: 'private',
  svc_ongoing: '1',
  svc_timeout_s: '3600',
  svc_badge: '{"op":"set","value":3}',
  svc_loc: JSON.stringify(android.locKeys),
};
const beside = {
  direct_boot_ok: false,
  bandwidth_constrained_ok: true,
  restricted_satellite_ok: false,
  fcm_options: { analytics_label: 'orders' },
};

describe('where each option stands in what a phone or browser gets', () => {
  test.each<[PayloadMode, object | undefined, object | undefined]>([
    ['data', undefined, inData],
    ['notification', inNotification, undefined],
    ['both', inNotification, inData],
  ])('ANDROID, %s', async (mode, notification, data) => {
    const payload = { mode, pushFrom: 'carillon', dataPrefix: 'svc' };
    const plain = (await arrive('ANDROID', { payload })).payload;
    bundle.delivered.length = 0;
    const { payload: full } = await arrive('ANDROID', { payload, options: android });
    expect(full.android).toEqual({
      ...plain.android,
      ...beside,
      ...(notification ? { notification: { ...plain.android.notification, ...notification } } : {}),
    });
    expect(full.data).toEqual({ ...plain.data, ...data });
  });

  test('ANDROID: a badge is cleared by the app', async () => {
    const payload = { mode: 'data', pushFrom: 'carillon', dataPrefix: 'svc' };
    const arrived = await arrive('ANDROID', { payload, options: { badge: { operation: 'clear' } } });
    expect(arrived.payload.data.svc_badge).toBe('{"op":"clear"}');
  });

  test('IOS', async () => {
    const plain = (await arrive('IOS', {})).payload;
    bundle.delivered.length = 0;
    const { payload, screen } = await arrive('IOS', { options: ios });
    expect(payload.aps).toEqual({
      ...plain.aps,
      alert: {
        ...plain.aps.alert,
        'launch-image': 'Order',
        'title-loc-key': 'T',
        'title-loc-args': ['1'],
        'subtitle-loc-key': 'S',
        'subtitle-loc-args': ['2'],
        'loc-key': 'B',
      },
      sound: 'bell.caf',
      badge: 0,
      'content-available': 1,
      'interruption-level': 'time-sensitive',
      'relevance-score': 0.7,
      'target-content-id': 'order-17',
      'filter-criteria': 'work',
    });
    const actions = [{ type: 'open', action: 'track', name: 'Track', value: 'https://shop.example/17/track' }];
    expect(payload.svc).toEqual({ ...plain.svc, actions });
    expect(screen.buttons).toEqual(['Track']);
  });

  test('WEB', async () => {
    const plain = (await arrive('WEB', {})).payload;
    bundle.delivered.length = 0;
    const { payload, screen } = await arrive('WEB', { options: web });
    expect(payload).toEqual({
      ...plain,
      actions: web.additionalActions,
      badgeURL: 'https://shop.example/b.png',
      appBadge: 3,
      tag: 'order-17',
      renotify: true,
      silent: false,
      requireInteraction: true,
      lang: 'en',
      dir: 'ltr',
      vibrate: [200, 100, 200],
      timestamp: 1_790_000_000_000,
    });
    expect(screen.buttons).toEqual(['Track', 'Call']);
  });
});

describe('a silent message', () => {
  const content = {
    ...makeMessage('ANDROID', '0').content,
    title: '',
    message: '',
    defaultAction: { type: 'navigation', value: '', keyValuePairs: { sync: 'orders' } },
  };
  const silent = (platform: Platform, more: object = {}) => {
    const { platform: _platform, ...message } = makeMessage(platform, '0');
    return { ...message, report: undefined, ...more, isSilent: true, content: { ...message.content, ...content } };
  };

  test.each<PayloadMode>(['data', 'notification', 'both'])(
    'ANDROID, mode %s: data alone, and nobody sees it',
    async (mode) => {
      const payload = { mode, pushFrom: 'carillon', dataPrefix: 'svc' };
      const message = { ...silent('ANDROID', { payload, priority: 'NORMAL' }) };
      expect(await bundle.send('ANDROID', { message })).toMatchObject({ kind: 'accepted' });
      await bundle.simulators.settle();
      const [arrived] = bundle.delivered as any[];
      expect(arrived.payload.android).toEqual({ priority: 'NORMAL', ttl: '129600s' });
      expect(arrived.payload.data).toMatchObject({ push_from: 'carillon', svc_silent: '1', sync: 'orders' });
      for (const name of ['gcm_title', 'gcm_alert', 'svc_report_token', 'gcm_activityName'])
        expect(arrived.payload.data).not.toHaveProperty(name);
      expect(arrived.screen).toEqual({ shownBy: 'nobody', title: '', body: '', buttons: [], reports: [] });
    },
  );

  test('IOS: a background push of priority 5, which Apple takes in no other form', async () => {
    expect(await bundle.send('IOS', { message: silent('IOS', { priority: 10 }) })).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.settle();
    const [arrived] = bundle.delivered as any[];
    expect(arrived.transport).toMatchObject({ 'apns-push-type': 'background', 'apns-priority': '5' });
    expect(arrived.payload.aps).toEqual({ 'content-available': 1 });
    expect(arrived.payload.svc).toMatchObject({ key_value_pairs: { sync: 'orders' } });
    expect(arrived.screen).toEqual({ shownBy: 'nobody', title: '', body: '', buttons: [], reports: [] });
  });
});

describe('a declarative notification stands beside what the worker reads', () => {
  const message = makeMessage('WEB', '0') as BrowserMessage;
  const read = (options: WebOptions | undefined, endpoint = 'https://fcm.googleapis.com/x', more: object = {}) =>
    JSON.parse(
      makeWebPayload(
        { ...message, ...more, content: { ...message.content, ...(options ? { options } : {}) } },
        new URL(endpoint),
      )!.toString(),
    );

  test('always, or where Apple’s service takes it; never unless asked for', () => {
    const apple = 'https://web.push.apple.com/abc';
    const isDeclared = (options: WebOptions | undefined, endpoint: string) => 'web_push' in read(options, endpoint);
    expect(isDeclared(undefined, apple)).toBe(false);
    expect(isDeclared({ declarative: 'never' }, apple)).toBe(false);
    expect(isDeclared({ declarative: 'auto' }, apple)).toBe(true);
    expect(isDeclared({ declarative: 'auto' }, 'https://fcm.googleapis.com/x')).toBe(false);
    expect(isDeclared({ declarative: 'auto' }, 'https://push.apple.com.evil.example/x')).toBe(false);
    expect(isDeclared({ declarative: 'always' }, 'https://fcm.googleapis.com/x')).toBe(true);
  });

  test('it has what a browser needs, and the link counts the click', () => {
    const link = 'https://push.example/v1/click/T.P?to=https%3A%2F%2Fexample.com%2F';
    const { web_push, mutable, app_badge, notification, ...worker } = read(
      { ...web, declarative: 'always' },
      undefined,
      { link },
    );
    expect(worker).toEqual(read(web));
    expect({ web_push, mutable, app_badge }).toEqual({ web_push: 8030, mutable: true, app_badge: 3 });
    expect(notification).toEqual({
      title: 'Title',
      body: 'Text',
      navigate: link,
      icon: 'https://example.com/i.png',
      badge: 'https://shop.example/b.png',
      tag: 'order-17',
      lang: 'en',
      dir: 'ltr',
      renotify: true,
      silent: false,
      requireInteraction: true,
      vibrate: [200, 100, 200],
      timestamp: 1_790_000_000_000,
      actions: [
        {
          action: 'track',
          title: 'Track',
          navigate: 'https://shop.example/17/track',
          icon: 'https://shop.example/t.png',
        },
        { action: 'call', title: 'Call', navigate: 'https://shop.example/17/call' },
      ],
      mutable: true,
      app_badge: 3,
    });
    expect(read({ declarative: 'always' }).notification.navigate).toBe('https://example.com/');
  });

  test('it is left out of a message that would be too large with it', () => {
    const long = {
      content: { ...message.content, message: 'x'.repeat(2_500), options: { declarative: 'always' as const } },
    };
    const payload = JSON.parse(makeWebPayload({ ...message, ...long }, undefined)!.toString());
    expect(payload).not.toHaveProperty('web_push');
    expect(payload.message).toHaveLength(2_500);
  });
});
