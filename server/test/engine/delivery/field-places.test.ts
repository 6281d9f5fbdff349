import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { everyField } from '../../../../scripts/field-places/every-field.ts';
import {
  columns,
  countedBadge,
  gone,
  made,
  placesAtAmazon,
  placesIn,
  sentAt,
} from '../../../../scripts/field-places/field-places.ts';
import type { Column, FieldPlaces, Places } from '../../../../scripts/field-places/field-places.ts';
import type {
  AndroidOptions,
  CampaignContent,
  IosOptions,
  PayloadMode,
  Platform,
  WebOptions,
} from '../../../src/domain/content/content.ts';
import { chooseLanguage, makeContentIn } from '../../../src/domain/content/locales.ts';
import { badgeOf } from '../../../src/domain/content/message.ts';
import { makeInteractionTokens } from '../../../src/domain/events/interactions.ts';
import type { PushCommand } from '../../../src/domain/push.ts';
import { composeMessage } from '../../../src/engine/fan-out/compose-message.ts';
import { parsePush, pushBodyV2 } from '../../../src/http/push/parse-push.ts';
import { findFcmViolation } from '../../../src/providers/fcm/simulator-rules.ts';
import type { BrowserMessage } from '../../../src/providers/payload/browser.ts';
import { findBrowserFault } from '../../../src/providers/simulator/browser.ts';
import { checkApnsContent } from '../../../src/providers/simulator/iphone.ts';
import { makeWebPayload } from '../../../src/providers/webpush/plan.ts';
import { startDeliveryBundle } from './delivery-bundle.ts';
import { makeMessage } from './make-message.ts';

type Body = Record<string, unknown>;
type Sent = { body: Body; column: Column };

type Shape = { type?: string; properties?: Record<string, Shape>; items?: Shape };

describe('field places', () => {
  const tokens = makeInteractionTokens(Buffer.alloc(32, 1));
  const texts = { title: 'Title', message: 'Text' };
  const addresses = { redirectURL: 'https://shop.example/', iconURL: 'https://shop.example/icon.png' };
  const plain: Body = {
    campaignName: 'Spring sale',
    targetPlatform: ['ANDROID', 'IOS', 'WEB'],
    targetAudience: 'All Users',
    payload: { ANDROID: { ...texts }, IOS: { ...texts }, WEB: { ...texts, ...addresses } },
    campaignDelivery: { type: 'soon' },
  };

  const reachedBy = (column: Column) => (column === 'hms' || column === 'adm' ? { provider: column } : {});

  const isDeclared = (column: Column): Body =>
    column === 'declarative' ? { 'payload.WEB.options.declarative': 'always' } : {};
  const without = ({ beside }: FieldPlaces, column: Column): Body =>
    change(plain, { ...beside, ...isDeclared(column) });
  const withField = (row: FieldPlaces, column: Column): Body =>
    change(without(row, column), { ...(row.field.endsWith('*') ? {} : { [row.field]: row.sent }), ...row.also });

  let bundle: Awaited<ReturnType<typeof startDeliveryBundle>>;
  /** What the simulators got, by what was sent. They refuse members that they do not know, or that stand elsewhere. */
  const arrived = new Map<string, Places>();
  const keyOf = ({ body, column }: Sent): string => `${column} ${JSON.stringify(body)}`;

  beforeAll(async () => {
    bundle = await startDeliveryBundle();
    expect(bundle.clock.now()).toEqual(sentAt);
    const all = new Map<string, Sent>();
    for (const row of everyField)
      for (const column of columnsOf(row))
        for (const body of [without(row, column), withField(row, column)])
          all.set(keyOf({ body, column }), { body, column });
    const addressed = new Map<string, string>();
    let number = 0;
    const send = async (sent: Sent): Promise<void> => {
      const message = compose(sent);
      if (!message) return;
      const name = `${(number += 1)}`.padStart(64, 'a');
      addressed.set(name, keyOf(sent));
      const platform = platformOf(sent.column);
      const pushId = platform === 'WEB' ? bundle.subscription(name) : name;
      const device = { ...reachedBy(sent.column), deviceId: 'd'.repeat(24), platform, pushId };
      const outcome = await bundle.delivery.deliver({ message, device, credentials: bundle.credentials });
      expect(outcome, keyOf(sent)).toMatchObject({ kind: 'accepted' });
    };
    const waiting = [...all.values()];
    while (waiting.length > 0) await Promise.all(waiting.splice(0, 50).map(send));
    await bundle.simulators.settle();
    for (const { platform, deviceToken, payload, transport } of bundle.delivered) {
      // What is told of Android's transport is a part of the message.
      const headers = Object.entries(platform === 'ANDROID' ? {} : (transport ?? {}));
      const places = headers.map(([name, value]) => [`header ${name.toLowerCase()}`, value]);
      arrived.set(addressed.get(deviceToken)!, { ...flatten(payload), ...Object.fromEntries(places) });
    }
  });
  afterAll(() => bundle?.stop());

  const find = (sent: Sent): Places | undefined => arrived.get(keyOf(sent));

  describe('the place of each field', () => {
    test.each(everyField.map((row) => [`${row.field} ${row.of ?? ''}`.trim(), row] as const))(
      'is where the table lists it, and nowhere else: %s',
      (_name, row) => {
        for (const column of columns) {
          if (!columnsOf(row).includes(column)) {
            const [before, after] = [without(row, column), withField(row, column)].map((body) =>
              compose({ body, column }),
            );
            expect(after, column).toEqual(before);
            continue;
          }
          const after = find({ body: withField(row, column), column });
          if (platformOf(column) === 'WEB' && row.field === 'advancedSettings.silent') {
            expect(after).toBeUndefined();
            continue;
          }
          const before = find({ body: without(row, column), column });
          expect(before, column).toBeDefined();
          if (row.sameAs !== undefined && column === 'hms') {
            const [{ data: _data, ...rest }, { data: text, ...others }] = [before!, after!];
            const ofGoogle = find({ body: withField(row, row.sameAs), column: row.sameAs })!;
            expect(typeof text === 'string' ? JSON.parse(text) : {}).toEqual(dataFor('hms', ofGoogle));
            expect(differences(rest, others)).toEqual(expected(row.places.hms ?? {}));
            continue;
          }
          if (row.sameAs !== undefined && column === 'adm') {
            const ofGoogle = find({ body: withField(row, row.sameAs), column: row.sameAs })!;
            // FCM's collapse key is in one mode only.
            const { consolidationKey } = before!;
            expect(after).toEqual({ ...placesAtAmazon(ofGoogle), consolidationKey });
            continue;
          }
          if (row.sameAs !== undefined && platformOf(column) === 'ANDROID' && column !== row.sameAs) {
            expect(after, column).toEqual(find({ body: withField(row, row.sameAs), column: row.sameAs }));
            continue;
          }
          expect(differences(before!, after!), column).toEqual(expected(placesIn(row, column)));
        }
      },
    );
  });

  test('have a row for every member of the body, and a member for every row', () => {
    const members = leavesOf(pushBodyV2 as Shape, '').filter((path) => !path.includes('.fallback.'));
    expect([...new Set(everyField.map(({ field }) => field))].sort()).toEqual(members.sort());
  });

  test('reads a field of a fallback like the same field of the content that it replaces', () => {
    let count = 0;
    for (const row of everyField) {
      const name = /^payload\.(ANDROID|IOS|WEB)\.(.*)$/.exec(row.field);
      if (!name) continue;
      const platform = name[1] as Platform;
      const body = withField(row, 'WEB');
      const { [platform]: entry } = body.payload as Record<Platform, Body>;
      const fallen = change(plain, { [`payload.${platform}.fallback`]: entry });
      expect((read(fallen).content[platform] as { fallback: object }).fallback, row.field).toEqual(
        read(body).content[platform],
      );
      count += 1;
    }
    expect(count).toBeGreaterThan(80);
  });

  test('use the prefix of the workspace for reserved names on both kinds of phone, and the phones find them', async () => {
    for (const [column, place] of [
      ['data', 'data.acme_message_id'],
      ['IOS', 'acme.message_id'],
    ] as const) {
      bundle.delivered.length = 0;
      const platform = platformOf(column);
      const device = { deviceId: 'd'.repeat(24), platform, pushId: bundle.addresses[platform] };
      const message = compose({ body: plain, column }, 'acme')!;
      await bundle.delivery.deliver({ message, device, credentials: bundle.credentials });
      await bundle.simulators.settle();
      const { payload, messageId, screen } = bundle.delivered[0]!;
      expect(flatten(payload)[place]).toBe(messageId);
      expect(Object.keys(flatten(payload)).filter((name) => /\bsvc/.test(name))).toEqual([]);
      expect(screen!.reports).toEqual(['impression', 'click', 'close']);
    }
  });

  describe('the checks of the simulators', () => {
    const whole = (column: Column): any => {
      const rows = everyField.filter(
        (row) => columnsOf(row).length < columns.length && columnsOf(row).includes(column),
      );
      // Of each field one that goes with the others.
      const members = rows
        .filter(
          ({ field }) =>
            /^payload\.\w+\.(title|message|options\.\w+)$/.test(field) && !/deliveryMode|renotify/.test(field),
        )
        .map(({ field, sent }) => [field, sent]);
      const button = { action: 'track', title: 'Track', url: 'https://shop.example/1' };
      const buttons = { 'payload.WEB.options.additionalActions': [button] };
      return change(plain, { ...(Object.fromEntries(members) as Body), ...isDeclared(column), ...buttons });
    };
    const sentIn = async (column: Column) => {
      bundle.delivered.length = 0;
      const platform = platformOf(column);
      const device = { deviceId: 'd'.repeat(24), platform, pushId: bundle.addresses[platform] };
      const message = compose({ body: whole(column), column })!;
      expect(await bundle.delivery.deliver({ message, device, credentials: bundle.credentials })).toMatchObject({
        kind: 'accepted',
      });
      await bundle.simulators.settle();
      return structuredClone(bundle.delivered[0]) as any;
    };

    test.each(['notification', 'both'] as const)(
      'reject what Google rejects of a message in mode %s',
      async (column) => {
        const { payload } = await sentIn(column);
        const violation = (members: object) =>
          findFcmViolation({ ...change({ token: 'a'.repeat(20), ...payload }, members as Body) })?.field;
        expect(violation({})).toBeUndefined();
        for (const place of ['x', 'android.x', 'android.notification.x', 'android.notification.direct_boot_ok'])
          expect(violation({ [place]: true }), place).toBe(`message.${place}`);
        expect(violation({ 'android.fcm_options.x': '1' })).toBe('message.android.fcm_options.x');
        expect(violation({ 'android.fcm_options.analytics_label': 'two words' })).toBe(
          'message.android.fcm_options.analytics_label',
        );
        expect(violation({ 'android.visibility': 'PRIVATE' })).toBe('message.android.visibility');
        expect(violation({ 'android.notification.sticky': 'true' })).toBe('message.android.notification.sticky');
        expect(violation({ 'android.notification.color': 'green' })).toBe('message.android.notification.color');
        expect(violation({ 'data.number': 5 })).toBe('message.data');
        expect(violation({ 'data.from': 'us' })).toBe('message.data');
      },
    );

    test('reject what Apple rejects', async () => {
      const { payload, transport } = await sentIn('IOS');
      const reason = (members: object) =>
        checkApnsContent((change(payload, members as Body) as { aps: object }).aps, transport);
      expect(reason({})).toBeUndefined();
      for (const place of ['aps.svc', 'aps.title', 'aps.alert.interruption-level', 'aps.alert.x'])
        expect(reason({ [place]: 'x' }), place).toBe('BadMessage');
      expect(reason({ 'aps.badge': '3' })).toBe('BadMessage');
      expect(reason({ 'aps.relevance-score': 2 })).toBe('BadMessage');
      expect(reason({ 'aps.sound': { critical: true, name: 'bell' } })).toBe('BadMessage');
      expect(reason({ 'aps.sound': { critical: 1, name: 'bell', volume: 0.5 } })).toBeUndefined();
    });

    test('reject what a browser rejects', async () => {
      const { payload } = await sentIn('declarative');
      const fault = (members: object) => findBrowserFault(change(payload, members as Body));
      expect(fault({})).toBeUndefined();
      for (const place of ['x', 'body', 'notification.x', 'notification.message', 'notification.data.x'])
        expect(fault({ [place]: 'x' }), place).toBeDefined();
      expect(fault({ web_push: '8030' })).toBeDefined();
      expect(fault({ web_push: undefined })).toBe('web_push and notification need each other');
      expect(fault({ 'notification.navigate': '/17' })).toBeDefined();
      expect(fault({ 'notification.navigate': undefined })).toBe('a declaration needs title and navigate');
      expect(fault({ 'actions.0.navigate': 'https://shop.example/' })).toBeDefined();
      expect(fault({ tag: undefined, renotify: true })).toBe('renotify needs a tag');
      expect(fault({ silent: true, vibrate: [1] })).toBe('silent excludes vibrate');
    });
  });

  function compose({ body, column }: Sent, dataPrefix: string | null = null) {
    const { content, settings } = read(body);
    const mode = column === 'notification' || column === 'both' ? column : 'data';
    return composeMessage({
      run: {
        id: 'a'.repeat(24),
        workspaceId: 'WORKSPACE',
        campaignId: 'c'.repeat(24),
        content,
        settings,
        createdAt: sentAt,
        androidPayload: { mode, pushFrom: 'carillon', dataPrefix },
      },
      device: { id: 'd'.repeat(24), bucket: 7, platform: platformOf(column), ...knownOf(content, platformOf(column)) },
      tokens,
      phoneDefaults: { dataPrefix: 'svc', publicUrl: 'https://push.example' },
      ...(column === 'IOS' ? { app: { criticalAlerts: true } } : {}),
    });
  }
});

describe('content options', () => {
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

  describe('the place of each option in the message that a phone or browser gets', () => {
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

    test('ANDROID: leaves clearing a badge to the app', async () => {
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
      'ANDROID, mode %s: consists of data only, and is not shown',
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

    test('IOS: is a background push of priority 5, the only form that Apple accepts', async () => {
      expect(await bundle.send('IOS', { message: silent('IOS', { priority: 10 }) })).toMatchObject({
        kind: 'accepted',
      });
      await bundle.simulators.settle();
      const [arrived] = bundle.delivered as any[];
      expect(arrived.transport).toMatchObject({ 'apns-push-type': 'background', 'apns-priority': '5' });
      expect(arrived.payload.aps).toEqual({ 'content-available': 1 });
      expect(arrived.payload.svc).toMatchObject({ key_value_pairs: { sync: 'orders' } });
      expect(arrived.screen).toEqual({ shownBy: 'nobody', title: '', body: '', buttons: [], reports: [] });
    });
  });

  describe('a declarative notification next to the worker’s payload', () => {
    const message = makeMessage('WEB', '0') as BrowserMessage;
    const read = (options: WebOptions | undefined, endpoint = 'https://fcm.googleapis.com/x', more: object = {}) =>
      JSON.parse(
        makeWebPayload(
          { ...message, ...more, content: { ...message.content, ...(options ? { options } : {}) } },
          new URL(endpoint),
        )!.toString(),
      );

    test('is sent always, or if Apple’s service accepts it, and never without being requested', () => {
      const apple = 'https://web.push.apple.com/abc';
      const isDeclared = (options: WebOptions | undefined, endpoint: string) => 'web_push' in read(options, endpoint);
      expect(isDeclared(undefined, apple)).toBe(false);
      expect(isDeclared({ declarative: 'never' }, apple)).toBe(false);
      expect(isDeclared({ declarative: 'auto' }, apple)).toBe(true);
      expect(isDeclared({ declarative: 'auto' }, 'https://fcm.googleapis.com/x')).toBe(false);
      expect(isDeclared({ declarative: 'auto' }, 'https://push.apple.com.evil.example/x')).toBe(false);
      expect(isDeclared({ declarative: 'always' }, 'https://fcm.googleapis.com/x')).toBe(true);
    });

    test('has the fields that a browser needs, and a link that counts the click', () => {
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

    test('is omitted if the message would become too large with it', () => {
      const long = {
        content: { ...message.content, message: 'x'.repeat(2_500), options: { declarative: 'always' as const } },
      };
      const payload = JSON.parse(makeWebPayload({ ...message, ...long }, undefined)!.toString());
      expect(payload).not.toHaveProperty('web_push');
      expect(payload.message).toHaveLength(2_500);
    });
  });

  async function arrive(platform: Platform, { options, ...more }: Record<string, unknown>): Promise<any> {
    const { content, platform: _platform, ...message } = makeMessage(platform, '0');
    const sent = { ...message, ...more, content: { ...content, ...(options ? { options } : {}) } };
    // The simulator refuses members that it does not know, or that stand in the wrong place.
    expect(await bundle.send(platform, { message: sent })).toMatchObject({ kind: 'accepted' });
    await bundle.simulators.settle();
    return bundle.delivered[0];
  }
});

/** Sets members by their path; undefined takes one away. */
function change(body: Body, members: Record<string, unknown> = {}): Body {
  const changed = structuredClone(body);
  for (const [path, value] of Object.entries(members)) {
    const names = path.replaceAll('[]', '.0').split('.');
    let part = changed as Record<string, any>;
    for (const name of names.slice(0, -1)) part = part[name] ??= {};
    if (value === undefined) delete part[names.at(-1)!];
    else part[names.at(-1)!] = structuredClone(value);
  }
  return changed;
}

function platformOf(column: Column): Platform {
  return column === 'IOS' ? 'IOS' : column === 'WEB' || column === 'declarative' ? 'WEB' : 'ANDROID';
}

function read(body: Body): PushCommand {
  const androidPayload = { mode: 'data', pushFrom: 'carillon', dataPrefix: null };
  const workspace = { timeZone: 'UTC', pushBodies: 'strict', androidPayload };
  return parsePush(body, {
    admitted: { name: 'Spring sale', workspace, existing: undefined } as never,
    now: sentAt,
    queryType: undefined,
    prefixes: ['svc'],
  });
}

/** The users of all messages read German, where there is a text in it, and all badges were counted alike. */
function knownOf(content: CampaignContent, platform: Platform) {
  const language = chooseLanguage(content, { platform, ofDevice: 'de', ofUser: undefined });
  const isCounted = badgeOf(content[platform])?.operation === 'increment';
  return {
    ...(isCounted ? { badge: { operation: 'set', value: countedBadge } as const } : {}),
    ...(language === undefined ? {} : { localized: { language, content: makeContentIn(content)(platform, language) } }),
  };
}

/** Objects by the path of each value; a list is a value, an empty object too. */
function flatten(value: unknown, path = ''): Places {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || Object.keys(value).length === 0)
    return { [path]: value };
  return Object.assign(
    {},
    ...Object.entries(value).map(([name, member]) => flatten(member, path === '' ? name : `${path}.${name}`)),
  ) as Places;
}

function differences(before: Places, after: Places): Places {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return Object.fromEntries(
    [...names]
      .filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))
      .map((name) => [name, name in after ? after[name] : gone]),
  );
}

/** Texts that the service makes are any text. */
function expected(places: Places): Places {
  return Object.fromEntries(
    Object.entries(places).map(([place, value]) => [place, value === made ? expect.any(String) : value]),
  );
}

/** What FCM carries as data, as another service says it that carries it. */
function dataFor(service: string, places: Places): Places {
  const data = Object.entries(places).flatMap(([place, value]) =>
    place.startsWith('data.') ? [[place.slice('data.'.length), value] as const] : [],
  );
  const known = Object.fromEntries(data);
  return 'svc_push_service' in known ? { ...known, svc_push_service: service } : known;
}

/** A platform's content is in messages to that platform alone; of other fields all are asked. */
function columnsOf({ field }: FieldPlaces): Column[] {
  const platform = /^payload\.(ANDROID|IOS|WEB)\./.exec(field)?.[1];
  return columns.filter((column) => platform === undefined || platformOf(column) === platform);
}

/** The paths of all members that hold a value. */
function leavesOf(shape: Shape, path: string): string[] {
  if (shape.type === 'object' && shape.properties)
    return Object.entries(shape.properties).flatMap(([name, member]) =>
      leavesOf(member, path === '' ? name : `${path}.${name}`),
    );
  if (shape.type === 'object') return [`${path}.*`];
  return shape.type === 'array' && shape.items ? leavesOf(shape.items, `${path}[]`) : [path];
}
