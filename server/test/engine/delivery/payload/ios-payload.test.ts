import { describe, expect, test } from 'vitest';
import type { IosOptions, ProviderOverrides } from '../../../../src/domain/content/content.ts';
import { makeIosPayload, makeIosRequest, overrideIosPayload } from '../../../../src/providers/payload/ios.ts';
import type { IosMessage } from '../../../../src/providers/payload/ios.ts';
import { makeMessage } from '../make-message.ts';

const { report: _report, ...plain } = makeMessage('IOS', '0');
const { id, collapseId } = plain.identity;
const now = new Date('2026-11-21T12:00:00.900Z');
const seconds = 1_795_262_400;

type Payload = { aps: Record<string, unknown>; svc: Record<string, unknown> };
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

test('a message that says no more is an alert with the ids of the app, and has no other member', () => {
  expect(payloadOf()).toStrictEqual({ aps, svc: ids });
});

describe('a member of the content is a member of aps or of the app’s own', () => {
  const action = { type: 'deeplinking', value: 'shop://17', keyValuePairs: { order: '17' } };
  const image = { type: 'image', value: 'https://shop.example/i.png' };
  test.each<[string, object, Partial<IosMessage>, object, object]>([
    ['a subtitle', { subtitle: 'Shop' }, {}, { alert: { ...aps.alert, subtitle: 'Shop' } }, {}],
    ['a badge', { enableBadge: true }, {}, { badge: 1 }, {}],
    ['a group', { groupKey: 'orders' }, {}, { 'thread-id': 'orders' }, {}],
    ['buttons', { additionalActions: [{ category: 'order' }] }, {}, { category: 'order' }, {}],
    ['a sound', { richContent: [{ type: 'sound', value: 'bell.caf' }] }, {}, { sound: 'bell.caf' }, {}],
    ['a coupon', { richContent: [{ type: 'coupon', value: 'SAVE5' }] }, {}, {}, { coupon_code: 'SAVE5' }],
    ['media, which the extension fetches', { richContent: [image] }, {}, { 'mutable-content': 1 }, { media: [image] }],
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
  ])('%s', (...[, content, more, ofAps, own]) => {
    expect(payloadOf(content, more)).toStrictEqual({ aps: { ...aps, ...ofAps }, svc: { ...ids, ...own } });
  });
});

describe('an option is a member of aps', () => {
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
  ])('%j', (options, members) => {
    expect(shown(options)).toStrictEqual({ ...aps, ...members });
  });

  test('a sound of the options is taken before one of the rich content', () => {
    const richContent = [{ type: 'sound', value: 'old.caf' }];
    expect(payloadOf({ richContent, options: { sound: { name: 'new.caf' } } }).aps.sound).toBe('new.caf');
  });

  test('buttons stand under the app’s own, with an icon where they have one', () => {
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

test('a silent message holds nothing that could be shown, and the pairs of the caller', () => {
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

  test('an alert has its own priority, and is kept until its time is over', () => {
    expect(headersOf({ priority: 1, ttlSeconds: 60 })).toStrictEqual({
      'apns-push-type': 'alert',
      'apns-priority': '1',
      'apns-expiration': String(seconds + 60),
      'apns-collapse-id': collapseId,
    });
  });

  test('a message that is not to be kept expires at 0', () => {
    expect(headersOf({ ttlSeconds: 0 })).toMatchObject({ 'apns-expiration': '0' });
    expect(headersOf({ ttlSeconds: 1 })).toMatchObject({ 'apns-expiration': String(seconds + 1) });
  });

  test('a silent one is a background push of priority 5', () => {
    expect(headersOf({ isSilent: true, priority: 10 })).toMatchObject({
      'apns-push-type': 'background',
      'apns-priority': '5',
    });
  });
});

describe('the override of the caller', () => {
  const overridden = (apns: ProviderOverrides['apns']): IosMessage => messageOf({ overrides: { apns } });

  test('is merged into the payload, but for what stands under our prefix', () => {
    const patch = { aps: { 'thread-id': 'o', sound: null }, svc: { message_id: 'other' }, shelf: '17' };
    expect(overrideIosPayload(overridden({ payload: patch }))).toStrictEqual({
      aps: { alert: aps.alert, 'thread-id': 'o' },
      svc: ids,
      shelf: '17',
    });
  });

  test('that changes nothing of the payload leaves it as it is', () => {
    expect(overrideIosPayload(overridden({ headers: { 'apns-priority': '5' } }))).toStrictEqual(payloadOf());
    expect(overrideIosPayload(messageOf())).toStrictEqual(payloadOf());
  });

  test('that leaves no object of aps is a fault', () => {
    for (const wrong of ['text', null, 7])
      expect(makeIosRequest(overridden({ payload: { aps: wrong } }), now)).toStrictEqual({ fault: 'aps is no object' });
  });

  test('its headers are handed on, and one that Apple would refuse is a fault', () => {
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
