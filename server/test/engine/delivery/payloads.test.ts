import { describe, expect, test } from 'vitest';
import type {
  AndroidOptions,
  IosOptions,
  JsonObject,
  Platform,
  ProviderOverrides,
  WebOptions,
} from '../../../src/domain/content/content.ts';
import type { Message } from '../../../src/domain/content/message.ts';
import { measureContent } from '../../../src/engine/fan-out/compose-message.ts';
import { planApnsRequest } from '../../../src/providers/apns/plan.ts';
import { measureMessage } from '../../../src/providers/deliver.ts';
import { planFcmRequest } from '../../../src/providers/fcm/plan.ts';
import { makeAndroidPart } from '../../../src/providers/payload/android.ts';
import type { AndroidMessage } from '../../../src/providers/payload/android.ts';
import { makeWorkerPayload, writeWorkerPayload } from '../../../src/providers/payload/browser.ts';
import type { BrowserMessage } from '../../../src/providers/payload/browser.ts';
import { makeIosPayload, makeIosRequest, overrideIosPayload } from '../../../src/providers/payload/ios.ts';
import type { IosMessage } from '../../../src/providers/payload/ios.ts';
import { makeWebPayload, planWebPushRequest } from '../../../src/providers/webpush/plan.ts';
import { makeSimulatedSubscription } from '../../../src/providers/webpush/simulated-browser.ts';
import { makeMessage } from './make-message.ts';

describe('the Android part', () => {
  const plain = makeMessage('ANDROID', '0');
  const id = plain.identity.id;
  const { collapseId } = plain.identity;

  /** What the least message has. */
  const keys = {
    push_from: 'carillon',
    gcm_title: 'Title',
    gcm_alert: 'Text',
    gcm_campaign_id: 'c'.repeat(24),
    gcm_notificationType: 'normal notification',
    svc_app_id: 'WORKSPACE',
    svc_push_service: 'fcm',
    svc_cid_attr: JSON.stringify({
      svc_campaign_id: 'c'.repeat(24),
      svc_campaign_channel: 'PUSH',
      svc_run_id: 'a'.repeat(24),
    }),
    svc_message_id: id,
  };
  const withoutReport = { report: undefined } as never as Partial<AndroidMessage>;

  describe('the keys that the code of apps reads (fact 3.9)', () => {
    test('are exactly these for a message without optional fields', () => {
      expect(partIn('both', {}, withoutReport)).toStrictEqual({
        data: keys,
        android: {
          collapse_key: collapseId,
          priority: 'HIGH',
          ttl: '129600s',
          notification: { title: 'Title', body: 'Text', tag: collapseId },
        },
      });
      expect(partIn('data', {}, withoutReport)).toStrictEqual({
        data: { ...keys, svc_tag: collapseId },
        android: { priority: 'HIGH', ttl: '129600s' },
      });
    });

    test.each<[string, object, Partial<AndroidMessage>, object]>([
      ['a summary', { summary: 'Shop' }, {}, { gcm_subtext: 'Shop' }],
      ['a channel', { channelId: 'orders' }, {}, { svc_channel_id: 'orders' }],
      ['a group', { groupKey: 'orders' }, {}, { svc_group_key: 'orders' }],
      ['a coupon', { richContent: [{ type: 'coupon', value: 'SAVE5' }] }, {}, { coupon_code: 'SAVE5' }],
      [
        'buttons, as JSON',
        { additionalActions: [{ type: 'copy', name: 'Copy', value: '17' }] },
        {},
        { gcm_actions: '[{"type":"copy","name":"Copy","value":"17"}]' },
      ],
      [
        'what a tap does',
        { defaultAction: { type: 'navigation', value: 'Orders', keyValuePairs: {} } },
        {},
        { gcm_action_type: 'navigation', gcm_activityName: 'Orders' },
      ],
      ['the tag of its language', {}, { language: 'de' }, { svc_lang: 'de' }],
      [
        'the end of its time in the inbox, in whole seconds',
        {},
        { inboxExpiresAt: new Date(1_790_000_000_999) },
        { svc_inbox_expiry: '1790000000' },
      ],
      ['the pass to report', {}, { report: { token: 'T' } }, { svc_report_token: 'T' }],
      [
        'and to prove a click',
        {},
        { report: { token: 'T', clickProof: 'P' } },
        { svc_report_token: 'T', svc_click_proof: 'P' },
      ],
    ])('include those of %s', (...[, content, more, added]) => {
      expect(partIn('both', content, { ...withoutReport, ...more }).data).toStrictEqual({ ...keys, ...added });
    });

    test('include the report address in mode data if the app may report and the address is known', () => {
      const reportUrl = 'https://push.example/v1/interactions';
      const urlIn = (report: AndroidMessage['report'], url: string | undefined, mode: 'data' | 'both' = 'data') =>
        partIn(mode, {}, {
          report,
          payload: { ...plain.payload, mode, ...(url === undefined ? {} : { reportUrl: url }) },
        } as never).data!.svc_report_url;
      expect(urlIn({ token: 'T' }, reportUrl)).toBe(reportUrl);
      expect(urlIn(undefined, reportUrl)).toBeUndefined();
      expect(partIn('data', {}, { report: { token: 'T' } }).data).not.toHaveProperty('svc_report_url');
      expect(urlIn({ token: 'T' }, reportUrl, 'both')).toBeUndefined();
    });

    test('carry image and sound for the app in mode data, and for the system otherwise', () => {
      const richContent = [
        { type: 'coupon', value: 'SAVE5' },
        { type: 'image', value: 'https://shop.example/i.png' },
        { type: 'sound', value: 'bell' },
      ];
      const shownByApp = partIn('data', { richContent });
      expect(shownByApp.data).toMatchObject({ svc_image: 'https://shop.example/i.png', svc_sound: 'bell' });
      expect(shownByApp.android).not.toHaveProperty('notification');
      const shownBySystem = partIn('both', { richContent });
      expect(Object.keys(shownBySystem.data!)).not.toStrictEqual(expect.arrayContaining(['svc_image']));
      expect(shownBySystem.android.notification).toStrictEqual({
        title: 'Title',
        body: 'Text',
        tag: collapseId,
        image: 'https://shop.example/i.png',
        sound: 'bell',
      });
      const silentOnes = partIn('data', { richContent: [] }).data!;
      expect(Object.keys(silentOnes).filter((name) => /image|sound/.test(name))).toStrictEqual([]);
    });
  });

  test('is collapsible in mode data only if the caller requested a replacement, and names a channel if there is one', () => {
    expect(partIn('data', { collapseReplaceKey: 'order-17' }).android).toHaveProperty('collapse_key', collapseId);
    expect(partIn('data', { channelId: 'orders' }).android).not.toHaveProperty('collapse_key');
    expect(partIn('both', { channelId: 'orders' }).android.notification).toHaveProperty('channel_id', 'orders');
    expect(partIn('both').android.notification).not.toHaveProperty('channel_id');
  });

  test('has no data in mode notification without pairs of the caller', () => {
    expect(partIn('notification')).not.toHaveProperty('data');
    const defaultAction = { type: 'navigation', value: 'Orders', keyValuePairs: { order: '17' } };
    expect(partIn('notification', { defaultAction }).data).toStrictEqual({ order: '17' });
  });

  describe('the pairs of the caller', () => {
    const pairsIn = (
      mode: AndroidMessage['payload']['mode'],
      keyValuePairs: Record<string, string>,
      isSilent = false,
    ) => partIn(mode, { defaultAction: { type: 'navigation', value: '', keyValuePairs } }, { isSilent }).data!;

    test.each(['from', 'message_type', 'google.x', 'gcm.x'])(
      'get a prefix for %s, which FCM rejects (delivery 1)',
      (name) => {
        for (const mode of ['data', 'notification', 'both'] as const) {
          const data = pairsIn(mode, { [name]: '1' });
          expect(data[`kv_${name}`]).toBe('1');
          expect(data).not.toHaveProperty([name]);
        }
      },
    );

    test.each(['from_shop', 'message_types', 'my.google.x', 'xgcm.x', 'google', 'gcm', 'gcmx'])(
      'keep %s, which is not reserved',
      (name) => {
        for (const mode of ['data', 'notification', 'both'] as const)
          expect(pairsIn(mode, { [name]: '1' })[name]).toBe('1');
      },
    );

    test('never replace a reserved key', () => {
      expect(pairsIn('both', { gcm_title: 'other', svc_app_id: 'other' })).toMatchObject({
        gcm_title: 'Title',
        svc_app_id: 'WORKSPACE',
        kv_gcm_title: 'other',
        kv_svc_app_id: 'other',
      });
    });

    test('cannot use reserved names for an app that shows messages itself or runs in the background', () => {
      const given = { svc_later: '1', gcm_later: '2', svcx: '3', gcmx: '4' };
      const hidden = { kv_svc_later: '1', kv_gcm_later: '2', svcx: '3', gcmx: '4' };
      expect(pairsIn('data', given)).toMatchObject(hidden);
      expect(pairsIn('both', given, true)).toMatchObject(hidden);
      for (const data of [pairsIn('data', given), pairsIn('both', given, true)])
        expect(data).not.toHaveProperty('svc_later');
      expect(pairsIn('both', given)).toMatchObject(given);
      expect(pairsIn('notification', given)).toStrictEqual(given);
    });
  });

  test('has only data and no text if the message is silent, whatever the mode', () => {
    const { gcm_title: _title, gcm_alert: _alert, ...rest } = keys;
    for (const mode of ['data', 'notification', 'both'] as const)
      expect(
        partIn(
          mode,
          { defaultAction: { type: 'navigation', value: 'Orders', keyValuePairs: { sync: 'orders' } } },
          { ...withoutReport, isSilent: true },
        ),
      ).toStrictEqual({
        data: { ...rest, svc_silent: '1', sync: 'orders' },
        android: { priority: 'HIGH', ttl: '129600s' },
      });
  });

  describe('the place of each option', () => {
    const optionIn = (mode: 'data' | 'notification', options: AndroidOptions) => {
      const empty = partIn(mode, {}, withoutReport);
      const { data, android } = partIn(mode, { options }, withoutReport);
      const added = <T extends object>(before: T | undefined, after: T | undefined): object =>
        Object.fromEntries(Object.entries(after ?? {}).filter(([name]) => !(name in (before ?? {}))));
      return {
        data: added(empty.data, data),
        android: added(empty.android, android),
        notification: added(empty.android.notification, android.notification),
      };
    };

    test.each<[AndroidOptions, object, object, object]>([
      [{}, {}, {}, {}],
      [{ icon: 'ic_order' }, { svc_icon: 'ic_order' }, { icon: 'ic_order' }, {}],
      [{ color: '#0a7d5a' }, { svc_color: '#0a7d5a' }, { color: '#0a7d5a' }, {}],
      [{ visibility: 'secret' }, { svc_visibility: 'secret' }, { visibility: 'SECRET' }, {}],
      [{ sticky: true }, { svc_ongoing: '1' }, { sticky: true }, {}],
      [{ sticky: false }, {}, { sticky: false }, {}],
      [{ timeoutSeconds: 60 }, { svc_timeout_s: '60' }, {}, {}],
      [
        { badge: { operation: 'set', value: 3 } },
        { svc_badge: '{"op":"set","value":3}' },
        { notification_count: 3 },
        {},
      ],
      // FCM has no word for clearing one.
      [{ badge: { operation: 'clear' } }, { svc_badge: '{"op":"clear"}' }, {}, {}],
      [{ locKeys: { titleLocKey: 't' } }, { svc_loc: '{"titleLocKey":"t"}' }, { title_loc_key: 't' }, {}],
      [{ locKeys: { titleLocArgs: ['1'] } }, { svc_loc: '{"titleLocArgs":["1"]}' }, { title_loc_args: ['1'] }, {}],
      [{ locKeys: { bodyLocKey: 'b' } }, { svc_loc: '{"bodyLocKey":"b"}' }, { body_loc_key: 'b' }, {}],
      [{ locKeys: { bodyLocArgs: ['2'] } }, { svc_loc: '{"bodyLocArgs":["2"]}' }, { body_loc_args: ['2'] }, {}],
      [{ directBootOk: true }, {}, {}, { direct_boot_ok: true }],
      [{ bandwidthConstrainedOk: false }, {}, {}, { bandwidth_constrained_ok: false }],
      [{ restrictedSatelliteOk: true }, {}, {}, { restricted_satellite_ok: true }],
      [{ analyticsLabel: 'orders' }, {}, {}, { fcm_options: { analytics_label: 'orders' } }],
    ])('is as documented, and an absent option appears nowhere: %j', (...[options, data, notification, android]) => {
      expect(optionIn('data', options)).toStrictEqual({ data, android, notification: {} });
      expect(optionIn('notification', options)).toStrictEqual({ data: {}, android, notification });
    });
  });

  function partIn(mode: AndroidMessage['payload']['mode'], content: object = {}, more: Partial<AndroidMessage> = {}) {
    return makeAndroidPart({
      ...plain,
      ...more,
      payload: { ...plain.payload, mode, ...more.payload },
      content: { ...plain.content, ...content },
    });
  }
});

type Payload = { aps: Record<string, unknown>; svc: Record<string, unknown> };

describe('the payload for iPhones', () => {
  const { report: _report, ...plain } = makeMessage('IOS', '0');
  const { id, collapseId } = plain.identity;
  const now = new Date('2026-11-21T12:00:00.900Z');
  const seconds = 1_795_262_400;
  const messageOf = (content: object = {}, more: Partial<IosMessage> = {}): IosMessage => ({
    ...plain,
    ...more,
    content: { ...plain.content, ...content },
  });
  const payloadOf = (content: object = {}, more: Partial<IosMessage> = {}): Payload =>
    makeIosPayload(messageOf(content, more)) as Payload;

  const aps = { alert: { title: 'Title', body: 'Text' }, sound: 'default' };
  const ids = {
    app_id: 'WORKSPACE',
    campaign_id: 'c'.repeat(24),
    run_id: 'a'.repeat(24),
    message_id: id,
  };

  test('is an alert with the ids of the app and no other member without optional fields', () => {
    expect(payloadOf()).toStrictEqual({ aps, svc: ids });
  });

  describe('a field of the content', () => {
    const action = { type: 'deeplinking', value: 'shop://17', keyValuePairs: { order: '17' } };
    const image = { type: 'image', value: 'https://shop.example/i.png' };
    test.each<[string, object, Partial<IosMessage>, object, object]>([
      ['a subtitle', { subtitle: 'Shop' }, {}, { alert: { ...aps.alert, subtitle: 'Shop' } }, {}],
      ['a badge', { enableBadge: true }, {}, { badge: 1 }, {}],
      ['a group', { groupKey: 'orders' }, {}, { 'thread-id': 'orders' }, {}],
      ['buttons', { additionalActions: [{ category: 'order' }] }, {}, { category: 'order' }, {}],
      ['a sound', { richContent: [{ type: 'sound', value: 'bell.caf' }] }, {}, { sound: 'bell.caf' }, {}],
      ['a coupon', { richContent: [{ type: 'coupon', value: 'SAVE5' }] }, {}, {}, { coupon_code: 'SAVE5' }],
      [
        'media, which the extension fetches',
        { richContent: [image] },
        {},
        { 'mutable-content': 1 },
        { media: [image] },
      ],
      [
        'of several the media alone',
        { richContent: [{ type: 'sound', value: 'b' }, image, { type: 'coupon', value: 'S' }] },
        {},
        { 'mutable-content': 1, sound: 'b' },
        { media: [image], coupon_code: 'S' },
      ],
      [
        'what a tap does',
        { defaultAction: action },
        {},
        {},
        { action: { type: 'deeplinking', value: 'shop://17', key_value_pairs: { order: '17' } } },
      ],
      ['the language', {}, { language: 'de' }, {}, { lang: 'de' }],
      ['the inbox', {}, { inboxExpiresAt: new Date(1_790_000_000_999) }, {}, { inbox_expiry: 1_790_000_000 }],
      ['a pass to report', {}, { report: { token: 'T' } }, { 'mutable-content': 1 }, { report_token: 'T' }],
      [
        'and to prove a click',
        {},
        { report: { token: 'T', clickProof: 'P' } },
        { 'mutable-content': 1 },
        { report_token: 'T', click_proof: 'P' },
      ],
    ])('is a member of aps or of the app’s part: %s', (...[, content, more, ofAps, own]) => {
      expect(payloadOf(content, more)).toStrictEqual({ aps: { ...aps, ...ofAps }, svc: { ...ids, ...own } });
    });
  });

  describe('an option', () => {
    const shown = (options: IosOptions): Record<string, unknown> => payloadOf({ options }).aps;
    const alert = (members: object): object => ({ alert: { ...aps.alert, ...members } });
    test.each<[IosOptions, object]>([
      [{}, {}],
      [{ badge: { operation: 'set', value: 4 } }, { badge: 4 }],
      [{ badge: { operation: 'clear' } }, { badge: 0 }],
      [{ contentAvailable: true }, { 'content-available': 1 }],
      [{ contentAvailable: false }, {}],
      [{ interruptionLevel: 'passive' }, { 'interruption-level': 'passive' }],
      [{ relevanceScore: 0 }, { 'relevance-score': 0 }],
      [{ targetContentId: 'order-17' }, { 'target-content-id': 'order-17' }],
      [{ filterCriteria: 'work' }, { 'filter-criteria': 'work' }],
      [{ launchImage: 'Order' }, alert({ 'launch-image': 'Order' })],
      [{ sound: { name: 'bell.caf' } }, { sound: 'bell.caf' }],
      [{ sound: { name: 'bell.caf', critical: true } }, { sound: { critical: 1, name: 'bell.caf' } }],
      [
        { sound: { name: 'bell.caf', critical: true, volume: 0.5 } },
        { sound: { critical: 1, name: 'bell.caf', volume: 0.5 } },
      ],
      [{ locKeys: { titleLocKey: 't' } }, alert({ 'title-loc-key': 't' })],
      [{ locKeys: { titleLocArgs: ['1'] } }, alert({ 'title-loc-args': ['1'] })],
      [{ locKeys: { subtitleLocKey: 's' } }, alert({ 'subtitle-loc-key': 's' })],
      [{ locKeys: { subtitleLocArgs: ['2'] } }, alert({ 'subtitle-loc-args': ['2'] })],
      [{ locKeys: { bodyLocKey: 'b' } }, alert({ 'loc-key': 'b' })],
      [{ locKeys: { bodyLocArgs: ['3'] } }, alert({ 'loc-args': ['3'] })],
    ])('is a member of aps: %j', (options, members) => {
      expect(shown(options)).toStrictEqual({ ...aps, ...members });
    });

    test('takes precedence over a sound of the rich content', () => {
      const richContent = [{ type: 'sound', value: 'old.caf' }];
      expect(payloadOf({ richContent, options: { sound: { name: 'new.caf' } } }).aps.sound).toBe('new.caf');
    });

    test('puts buttons into the app’s part, with an icon if they have one', () => {
      const additionalActions = [
        { action: 'track', title: 'Track', url: 'https://shop.example/17', iconURL: 'https://shop.example/t.png' },
        { action: 'call', title: 'Call', url: 'tel:17' },
      ];
      expect(payloadOf({ options: { additionalActions } })).toStrictEqual({
        aps,
        svc: {
          ...ids,
          actions: [
            {
              ...{ type: 'open', action: 'track', name: 'Track', value: 'https://shop.example/17' },
              iconUrl: 'https://shop.example/t.png',
            },
            { type: 'open', action: 'call', name: 'Call', value: 'tel:17' },
          ],
        },
      });
    });
  });

  test('contains nothing visible if the message is silent, only the pairs of the caller', () => {
    const report = { token: 'T' };
    expect(payloadOf({}, { isSilent: true, report })).toStrictEqual({
      aps: { 'content-available': 1 },
      svc: { ...ids, key_value_pairs: {} },
    });
    const defaultAction = { type: 'navigation', value: 'Orders', keyValuePairs: { sync: 'orders' } };
    expect(payloadOf({ defaultAction }, { isSilent: true })).toMatchObject({
      svc: { key_value_pairs: { sync: 'orders' } },
    });
  });

  describe('the headers for Apple (delivery 2)', () => {
    const headersOf = (more: Partial<IosMessage>) => {
      const request = makeIosRequest(messageOf({}, more), now);
      return 'fault' in request ? request : request.headers;
    };

    test('have the priority of an alert, and keep it until it expires', () => {
      expect(headersOf({ priority: 1, ttlSeconds: 60 })).toStrictEqual({
        'apns-push-type': 'alert',
        'apns-priority': '1',
        'apns-expiration': String(seconds + 60),
        'apns-collapse-id': collapseId,
      });
    });

    test('expire at 0 for a message that must not be kept', () => {
      expect(headersOf({ ttlSeconds: 0 })).toMatchObject({ 'apns-expiration': '0' });
      expect(headersOf({ ttlSeconds: 1 })).toMatchObject({ 'apns-expiration': String(seconds + 1) });
    });

    test('describe a silent message as a background push of priority 5', () => {
      expect(headersOf({ isSilent: true, priority: 10 })).toMatchObject({
        'apns-push-type': 'background',
        'apns-priority': '5',
      });
    });
  });

  describe('the override of the caller', () => {
    const overridden = (apns: ProviderOverrides['apns']): IosMessage => messageOf({ overrides: { apns } });

    test('is merged into the payload, except under the reserved prefix', () => {
      const patch = { aps: { 'thread-id': 'o', sound: null }, svc: { message_id: 'other' }, shelf: '17' };
      expect(overrideIosPayload(overridden({ payload: patch }))).toStrictEqual({
        aps: { alert: aps.alert, 'thread-id': 'o' },
        svc: ids,
        shelf: '17',
      });
    });

    test('leaves the payload unchanged if it contains nothing for it', () => {
      expect(overrideIosPayload(overridden({ headers: { 'apns-priority': '5' } }))).toStrictEqual(payloadOf());
      expect(overrideIosPayload(messageOf())).toStrictEqual(payloadOf());
    });

    test('is rejected if aps is no longer an object', () => {
      for (const wrong of ['text', null, 7])
        expect(makeIosRequest(overridden({ payload: { aps: wrong } }), now)).toStrictEqual({
          fault: 'aps must be an object',
        });
    });

    test('passes its headers on, and is rejected for one that Apple would reject', () => {
      expect(makeIosRequest(overridden({ headers: { 'apns-priority': '1' } }), now)).toMatchObject({
        changed: { 'apns-priority': '1' },
        headers: { 'apns-priority': '10' },
        payload: payloadOf(),
      });
      expect(makeIosRequest(messageOf(), now)).toMatchObject({ changed: {} });
      expect(makeIosRequest(overridden({ headers: { 'apns-priority': '7' } }), now)).toStrictEqual({
        fault: 'apns-priority must be one of 1, 5, 10',
      });
    });
  });
});

describe('the payload for service workers', () => {
  const { report: _report, ...plain } = makeMessage('WEB', '0');

  const messageOf = (content: object = {}, more: Partial<BrowserMessage> = {}): BrowserMessage => ({
    ...plain,
    ...more,
    content: { ...plain.content, ...content },
  });

  const least = {
    title: 'Title',
    message: 'Text',
    redirectURL: 'https://example.com/',
    iconURL: 'https://example.com/i.png',
    autoDismiss: false,
    tag: plain.identity.collapseId,
    app_id: 'WORKSPACE',
    campaign_id: 'c'.repeat(24),
    run_id: 'a'.repeat(24),
    message_id: plain.identity.id,
  };

  test('has only what the worker needs without optional fields', () => {
    expect(makeWorkerPayload(messageOf())).toStrictEqual(least);
  });

  test.each<[string, object, Partial<BrowserMessage>, object]>([
    ['an image', { imageUrl: 'https://shop.example/i.png' }, {}, { imageURL: 'https://shop.example/i.png' }],
    ['a pass to report', {}, { report: { token: 'T' } }, { report_token: 'T' }],
    ['a proof of the click', {}, { report: { token: 'T', clickProof: 'P' } }, { report_token: 'T', click_proof: 'P' }],
    ['the inbox', {}, { inboxExpiresAt: new Date(1_790_000_000_999) }, { inbox_expiry: 1_790_000_000 }],
    ['a language', {}, { language: 'de' }, { lang: 'de' }],
    ['a language before that of the options', { options: { lang: 'en' } }, { language: 'de' }, { lang: 'de' }],
    ['that of the options', { options: { lang: 'en' } }, {}, { lang: 'en' }],
    ['a tag of the caller’s', { options: { tag: 'order' } }, {}, { tag: 'order' }],
    [
      'a badge',
      { options: { badgeURL: 'https://shop.example/b.png' } },
      {},
      { badgeURL: 'https://shop.example/b.png' },
    ],
    ['a count', { options: { appBadge: { operation: 'set', value: 3 } } }, {}, { appBadge: 3 }],
    ['a removed count', { options: { appBadge: { operation: 'clear' } } }, {}, { appBadge: 0 }],
    [
      'buttons',
      { options: { additionalActions: [{ action: 'a', title: 'A', url: 'https://shop.example/' }] } },
      {},
      { actions: [{ action: 'a', title: 'A', url: 'https://shop.example/' }] },
    ],
    ['the form of its declaration does not matter to the worker', { options: { declarative: 'auto' } }, {}, {}],
  ])('contains %s', (...[, content, more, added]) => {
    expect(makeWorkerPayload(messageOf(content, more))).toStrictEqual({ ...least, ...added });
  });

  describe('the override of the caller', () => {
    const written = (payload: JsonObject) => {
      const text = writeWorkerPayload(messageOf({ overrides: { webpush: { payload } } }));
      return text === undefined ? undefined : (JSON.parse(text) as object);
    };

    test('is merged, and removes a member with null', () => {
      const { autoDismiss: _autoDismiss, ...rest } = least;
      expect(written({ autoDismiss: null, silent: true })).toStrictEqual({ ...rest, silent: true });
    });

    test.each([' ', '', null, 7])('leaves nothing to show if the title is not a text: %j', (title) => {
      expect(written({ title })).toBeUndefined();
      expect(makeWebPayload(messageOf({ overrides: { webpush: { payload: { title } } } }), undefined)).toBeUndefined();
    });

    test('is ignored if it is for another provider', () => {
      expect(writeWorkerPayload(messageOf({ title: ' ', overrides: { fcm: { data: {} } } }))).toBeDefined();
    });

    test('is protected from members written next to the worker’s payload', () => {
      const text = writeWorkerPayload(messageOf(), { title: 'other', mutable: true });
      expect(JSON.parse(text!)).toStrictEqual({ ...least, mutable: true });
    });
  });

  describe('a declaration, for browsers that show it without a worker', () => {
    type Around = { endpoint?: string; content?: object; more?: Partial<BrowserMessage> };
    const declared = (options: WebOptions, { endpoint, content = {}, more = {} }: Around = {}) => {
      const text = makeWebPayload(
        messageOf({ options, ...content }, more),
        endpoint === undefined ? undefined : new URL(endpoint),
      )!.toString();
      return JSON.parse(text) as Record<string, any>;
    };

    test.each<[string, boolean]>([
      ['https://web.push.apple.com/x', true],
      ['https://push.apple.com/x', true],
      ['https://a.b.push.apple.com/x', true],
      ['https://evilpush.apple.com/x', false],
      ['https://push.apple.com.example/x', false],
      ['https://pushxapple.com/x', false],
      ['https://fcm.googleapis.com/push.apple.com', false],
    ])('is added in mode auto for a subscription at %s: %s', (endpoint, isDeclared) => {
      expect('web_push' in declared({ declarative: 'auto' }, { endpoint })).toBe(isDeclared);
    });

    test('is not added in mode auto without an address, always in mode always, and never in mode never', () => {
      expect(declared({ declarative: 'auto' })).not.toHaveProperty('web_push');
      expect(declared({ declarative: 'always' })).toHaveProperty('web_push', 8030);
      expect(declared({ declarative: 'never' }, { endpoint: 'https://web.push.apple.com/x' })).not.toHaveProperty(
        'web_push',
      );
    });

    const shown = {
      title: 'Title',
      body: 'Text',
      navigate: 'https://example.com/',
      icon: 'https://example.com/i.png',
      tag: plain.identity.collapseId,
      mutable: true,
    };

    test('has no optional members for a message without optional fields', () => {
      const { web_push, mutable, notification, ...worker } = declared({ declarative: 'always' });
      expect([web_push, mutable, notification, worker]).toStrictEqual([8030, true, shown, least]);
    });

    test.each<[string, WebOptions, object, Partial<BrowserMessage>, object]>([
      ['an image', {}, { imageUrl: 'https://shop.example/i.png' }, {}, { image: 'https://shop.example/i.png' }],
      ['a badge', { badgeURL: 'https://shop.example/b.png' }, {}, {}, { badge: 'https://shop.example/b.png' }],
      [
        'a link that counts the click',
        {},
        {},
        { link: 'https://push.example/1' },
        { navigate: 'https://push.example/1' },
      ],
      ['the language of its texts', { lang: 'en' }, {}, { language: 'de' }, { lang: 'de' }],
      ['that of the options', { lang: 'en' }, {}, {}, { lang: 'en' }],
      ['a direction', { dir: 'rtl' }, {}, {}, { dir: 'rtl' }],
      ['again', { renotify: false }, {}, {}, { renotify: false }],
      ['silence', { silent: true }, {}, {}, { silent: true }],
      ['that it stays', { requireInteraction: true }, {}, {}, { requireInteraction: true }],
      ['a vibration', { vibrate: [1, 2] }, {}, {}, { vibrate: [1, 2] }],
      ['a time', { timestamp: 7 }, {}, {}, { timestamp: 7 }],
      ['a tag', { tag: 'order' }, {}, {}, { tag: 'order' }],
      [
        'buttons',
        {
          additionalActions: [{ action: 'a', title: 'A', url: 'https://shop.example/', iconURL: 'https://i.example/' }],
        },
        {},
        {},
        { actions: [{ action: 'a', title: 'A', navigate: 'https://shop.example/', icon: 'https://i.example/' }] },
      ],
    ])('contains %s', (...[, options, content, more, added]) => {
      const { notification, ...rest } = declared({ declarative: 'always', ...options }, { content, more });
      expect(notification).toStrictEqual({ ...shown, ...added });
      expect(rest).not.toHaveProperty('app_badge');
    });

    test('has a count in both of its places', () => {
      const { app_badge, notification } = declared({
        declarative: 'always',
        appBadge: { operation: 'set', value: 3 },
      });
      expect([app_badge, notification.app_badge]).toStrictEqual([3, 3]);
    });

    test('is omitted exactly when the payload would become longer than a push service accepts (RFC 8291 §4)', () => {
      const lengthOf = (characters: number) =>
        Buffer.byteLength(
          JSON.stringify(declared({ declarative: 'always' }, { content: { message: 'x'.repeat(characters) } })),
        );
      // The text stands twice.
      const most = Math.floor((3993 - lengthOf(0)) / 2);
      expect(lengthOf(most)).toBeGreaterThan(3990);
      expect(lengthOf(most)).toBeLessThanOrEqual(3993);
      expect(declared({ declarative: 'always' }, { content: { message: 'x'.repeat(most) } })).toHaveProperty(
        'web_push',
      );
      expect(declared({ declarative: 'always' }, { content: { message: 'x'.repeat(most + 1) } })).not.toHaveProperty(
        'web_push',
      );
    });
  });
});

describe('the size of a message', () => {
  const subscription = makeSimulatedSubscription({ secret: Buffer.alloc(32, 1), id: 'browser' });

  test.each<[Platform, number]>([
    ['ANDROID', 4096],
    ['IOS', 4096],
    // What is left of 4,096 when it is encrypted (RFC 8291).
    ['WEB', 3993],
  ])('allows a %s message up to exactly the maximum', (platform, most) => {
    const message = makeMessage(platform, '0');
    const sized = (length: number) =>
      ({ ...message, content: { ...message.content, message: 'ü'.repeat(length) } }) as Message;
    const lengths = Array.from({ length: 1400 }, (_length, index) => 800 + index);
    const around = lengths.filter((length) => Math.abs(measureMessage(sized(length)).bytes - most) < 20);
    expect(around.length).toBeGreaterThan(5);
    for (const length of around) {
      const measured = measureMessage(sized(length));
      expect(measured.most).toBe(most);
      expect(isPlanned(sized(length))).toBe(measured.bytes <= most);
    }
  });

  test('includes everything sent along with the content: ids and the report token', () => {
    const content = { title: 'T', message: 'M', richContent: [], additionalActions: [] };
    const shown = { platform: 'ANDROID', content } as const;
    const defaults = { dataPrefix: 'svc', publicUrl: undefined };
    const measure = (mode: 'both' | 'data', title: string) =>
      measureContent(
        {
          workspaceId: 'WORKSPACE',
          androidPayload: { mode, pushFrom: 'carillon', dataPrefix: null },
          ...shown,
          content: { ...content, title },
        },
        defaults,
      ).bytes;
    expect(measure('both', 'T')).toBeGreaterThan(300);
    // Shown by the system, and read by the app.
    expect(measure('both', 'TTT') - measure('both', 'T')).toBe(4);
    expect(measure('data', 'TTT') - measure('data', 'T')).toBe(2);
  });

  function isPlanned(message: Message): boolean {
    const { platform } = message;
    const input = (pushId: string) => ({
      message,
      device: { deviceId: '0', platform, pushId },
      credential: {} as never,
    });
    switch (platform) {
      case 'ANDROID':
        return 'plan' in planFcmRequest(input('token'), { origin: 'https://fcm.test', now: new Date(0) });
      case 'IOS':
        return 'plan' in planApnsRequest(input('ab'.repeat(32)), { origin: 'https://apns.test', now: new Date(0) });
      case 'WEB':
        return 'plan' in planWebPushRequest(input(subscription));
    }
  }
});
