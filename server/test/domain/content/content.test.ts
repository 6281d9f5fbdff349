import { describe, expect, test } from 'vitest';
import {
  androidOptions,
  isDataPrefix,
  isPushFrom,
  readIosOptions,
  settlePayload,
  webOptions,
} from '../../../src/domain/content/content.ts';
import type { CampaignContent, Platform } from '../../../src/domain/content/content.ts';
import { badgeOf, withBadge } from '../../../src/domain/content/message.ts';
import { changeTexts } from '../../../src/domain/content/texts.ts';
import type { TextPlace } from '../../../src/domain/content/texts.ts';
import { makePersonaliser } from '../../../src/domain/template/personalise.ts';
import type { OwnTexts } from '../../../src/domain/template/personalise.ts';
import { makePushReader } from '../../../src/http/push/push-reader.ts';

describe('content texts', () => {
  const action = {
    type: 'deeplinking' as const,
    value: 'action value',
    keyValuePairs: { pair: 'pair value' },
  };
  const locKeys = { titleLocKey: 'key', titleLocArgs: ['argument'] };
  const button = { action: 'b', title: 'button title', url: 'button url', iconURL: 'button icon' };
  const contents = {
    ANDROID: {
      title: 'title',
      message: 'message',
      summary: 'summary',
      channelId: 'channel',
      groupKey: 'group',
      collapseReplaceKey: 'replace',
      richContent: [{ type: 'image' as const, value: 'image' }],
      defaultAction: action,
      additionalActions: [
        { type: 'copy' as const, value: 'copied', name: 'copy name', iconUrl: 'copy icon' },
        { type: 'snooze' as const, value: '', name: '' },
      ],
      options: { icon: 'icon', locKeys },
      overrides: { fcm: { data: { a: ['override', 1, null] } } },
    },
    IOS: {
      title: 'title',
      message: 'message',
      subtitle: 'subtitle',
      enableBadge: false,
      richContent: [],
      additionalActions: [{ category: 'category' }],
      options: { additionalActions: [button] },
      overrides: { apns: { headers: { 'apns-priority': '5' } } },
    },
    WEB: {
      title: 'title',
      message: 'message',
      redirectUrl: 'redirect',
      iconUrl: 'icon',
      imageUrl: 'image',
      autoDismiss: true,
      options: { badgeURL: 'badge', additionalActions: [button], tag: 'tag' },
    },
  };
  const web = ['https:', 'http:'];

  const places: Record<Platform, Record<string, Omit<TextPlace, 'field'>>> = {
    ANDROID: {
      'options.locKeys.titleLocArgs[0]': { maxLength: 1_024, isRequired: false },
      'providerOverrides.fcm.data.a[0]': { maxLength: 4_096, isRequired: false },
      title: { maxLength: 4_096, isRequired: true },
      message: { maxLength: 4_096, isRequired: true },
      summary: { maxLength: 4_096, isRequired: false },
      collapseReplaceKey: { maxLength: 256, isRequired: true },
      'richContent[0].value': { maxLength: 2_048, isRequired: false },
      'defaultAction.value': { maxLength: 2_048, isRequired: true },
      'defaultAction.keyValuePairs.pair': { maxLength: 4_096, isRequired: false },
      'additionalActions[0].iconUrl': { maxLength: 2_048, schemes: web, isRequired: false },
      'additionalActions[0].name': { maxLength: 256, isRequired: true },
      'additionalActions[0].value': { maxLength: 2_048, isRequired: true },
      'additionalActions[1].name': { maxLength: 256, isRequired: false },
      'additionalActions[1].value': { maxLength: 2_048, isRequired: false },
    },
    IOS: {
      'options.additionalActions[0].iconURL': { maxLength: 2_048, schemes: ['https:'], isRequired: false },
      'options.additionalActions[0].title': { maxLength: 64, isRequired: true },
      'options.additionalActions[0].url': { maxLength: 2_048, schemes: 'web and apps', isRequired: true },
      'providerOverrides.apns.headers.apns-priority': { maxLength: 4_096, isRequired: false },
      title: { maxLength: 4_096, isRequired: true },
      message: { maxLength: 4_096, isRequired: true },
      subtitle: { maxLength: 4_096, isRequired: false },
    },
    WEB: {
      imageUrl: { maxLength: 2_048, schemes: ['https:'], isRequired: false },
      'options.badgeURL': { maxLength: 2_048, schemes: ['https:'], isRequired: false },
      'options.additionalActions[0].iconURL': { maxLength: 2_048, schemes: ['https:'], isRequired: false },
      'options.additionalActions[0].title': { maxLength: 64, isRequired: true },
      'options.additionalActions[0].url': { maxLength: 2_048, schemes: web, isRequired: true },
      title: { maxLength: 4_096, isRequired: true },
      message: { maxLength: 4_096, isRequired: true },
      redirectUrl: { maxLength: 2_048, schemes: web, isRequired: true },
      iconUrl: { maxLength: 2_048, schemes: web, isRequired: true },
    },
  };
  const platforms = ['ANDROID', 'IOS', 'WEB'] as const;

  describe('the texts of a content that may be personalized', () => {
    test.each(platforms)('are listed with the required ones: %s', (platform) => {
      const seen: Record<string, Omit<TextPlace, 'field'>> = {};
      const change = (text: string, { field, ...rest }: TextPlace): string => {
        seen[field] = rest;
        return text;
      };
      expect(changeTexts(platform, { content: contents[platform], change })).toStrictEqual(contents[platform]);
      expect(seen).toStrictEqual(places[platform]);
    });

    test.each(platforms)('are each replaced, and nothing else: %s', (platform) => {
      const count = Object.keys(places[platform]).length;
      const changed = changeTexts(platform, {
        content: contents[platform],
        change: (_text, { field }) => `<${field}>`,
      });
      expect(JSON.stringify(changed).match(/"<[^>]+>"/g)).toHaveLength(count);
      const kept = changeTexts(platform, { content: changed, change: (text) => text });
      expect(kept).toStrictEqual(changed);
    });

    test.each<[Platform, object]>([
      [
        'ANDROID',
        {
          ...contents.ANDROID,
          summary: undefined,
          richContent: [],
          defaultAction: { ...action, keyValuePairs: { pair: '' } },
          additionalActions: [
            { type: 'copy', value: 'copied', name: 'copy name' },
            { type: 'snooze', value: undefined, name: undefined },
          ],
          options: { icon: 'icon', locKeys: { titleLocKey: 'key', titleLocArgs: [''] } },
          overrides: { fcm: { data: { a: ['', 1, null] } } },
        },
      ],
      [
        'IOS',
        {
          ...contents.IOS,
          subtitle: undefined,
          options: { additionalActions: [{ action: 'b', title: 'button title', url: 'button url' }] },
          overrides: { apns: { headers: { 'apns-priority': '' } } },
        },
      ],
      [
        'WEB',
        {
          ...contents.WEB,
          imageUrl: undefined,
          options: { additionalActions: [{ action: 'b', title: 'button title', url: 'button url' }], tag: 'tag' },
        },
      ],
    ])('are left out if optional and empty: %s', (platform, left) => {
      const change = (text: string, { isRequired }: TextPlace): string | undefined => (isRequired ? text : undefined);
      const changed = changeTexts(platform, { content: contents[platform] as never, change });
      expect(JSON.parse(JSON.stringify(changed))).toStrictEqual(JSON.parse(JSON.stringify(left)));
      expect(Object.keys(changed)).not.toContain(
        platform === 'WEB' ? 'imageUrl' : platform === 'IOS' ? 'subtitle' : 'summary',
      );
    });

    test('keep a content with only required texts unchanged', () => {
      const bare = {
        ANDROID: { title: 'T', message: 'M', richContent: [], additionalActions: [] },
        IOS: { title: 'T', message: 'M', enableBadge: true, richContent: [], additionalActions: [] },
        WEB: { title: 'T', message: 'M', redirectUrl: 'R', iconUrl: 'I', autoDismiss: false },
      };
      for (const platform of platforms)
        expect(changeTexts(platform, { content: bare[platform], change: (text) => text })).toStrictEqual(
          bare[platform],
        );
      expect(() => changeTexts('TV' as Platform, { content: bare.WEB as never, change: (text) => text })).toThrow(
        'unknown platform TV',
      );
    });
  });

  describe('a rendered content', () => {
    const user = {
      customerId: 'ada',
      attributes: { u_fn: 'Ada', link: ' https://shop.example/17 ', app: 'shop://17', part: 'x'.repeat(1_024) },
    };
    const render = (content: CampaignContent, { platform = 'WEB' as Platform, event = {}, attributes = {} } = {}) => {
      const personaliser = makePersonaliser(content, 'AUTO')!;
      const all = { customerId: 'ada', attributes: { ...user.attributes, ...attributes } };
      const rendered = personaliser.render({ platform, user: all, event });
      return 'fault' in rendered ? rendered : { ...rendered, content: rendered.content, own: rendered.own };
    };
    const browser = (more: object = {}): CampaignContent => ({
      WEB: {
        title: 'T',
        message: 'M',
        redirectUrl: 'https://a.example/',
        iconUrl: 'https://a.example/',
        autoDismiss: false,
        ...more,
      },
    });

    test('has its texts in their places, and URLs without surrounding spaces', () => {
      const rendered = render(
        browser({ title: "Hi {{ UserAttribute['First Name'] }} ", redirectUrl: '{{ UserAttribute.link }}' }),
      );
      expect(rendered).toMatchObject({
        content: { ...browser().WEB, title: 'Hi Ada ', redirectUrl: 'https://shop.example/17' },
      });
      const { own } = rendered as { own: OwnTexts };
      expect(own.texts).toEqual(['Hi Ada ', 'https://shop.example/17']);
      expect(
        [['title'], ['message', 'redirectUrl'], ['message', 'iconUrl'], []].map((fields) => own.shape.isOwn(fields)),
      ).toEqual([true, true, false, false]);
    });

    test('leaves out an optional text that is empty', () => {
      const rendered = render(browser({ imageUrl: "{{ UserAttribute.image|d(' ') }}" }));
      expect(rendered).toMatchObject({ content: browser().WEB });
      expect(Object.keys((rendered as { content: object }).content)).not.toContain('imageUrl');
      expect(rendered).toHaveProperty('own', undefined);
      expect(
        render(browser({ imageUrl: '{{ UserAttribute.image }}' }), { attributes: { image: 'http://a.example/' } }),
      ).toEqual({
        fault: { cause: 'RESULT', field: 'imageUrl', reason: 'must be a web address' },
      });
    });

    test.each([
      [browser({ redirectUrl: '{{ UserAttribute.app }}' }), 'redirectUrl', 'must be a web address'],
      [browser({ redirectUrl: "{{ ' ' }}" }), 'redirectUrl', 'is empty'],
      [
        browser({ title: '{% for i in range(4) %}{{ UserAttribute.part }}{% endfor %}x' }),
        'title',
        'has more than 4096 characters',
      ],
    ] as const)('reports the place of a failure: %#', (content, field, reason) => {
      expect(render(content as CampaignContent)).toEqual({ fault: { cause: 'RESULT', field, reason } });
    });

    test('may fill a place to its limit', () => {
      expect(
        render(browser({ title: '{{ UserAttribute.long }}' }), { attributes: { long: 'x'.repeat(4_096) } }),
      ).toMatchObject({
        content: { title: 'x'.repeat(4_096) },
      });
    });

    test('opens an app on a phone, and reports what a button needs', () => {
      const ios = (url: string): CampaignContent => ({
        IOS: {
          title: 'T',
          message: 'M',
          enableBadge: false,
          richContent: [],
          additionalActions: [],
          options: { additionalActions: [{ action: 'a', title: 'A', url }] },
        },
      });
      expect(render(ios('{{ UserAttribute.app }}'), { platform: 'IOS' })).toMatchObject({
        content: { options: { additionalActions: [{ url: 'shop://17' }] } },
      });
      expect(render(ios("{{ 'javascript:1' }}"), { platform: 'IOS' })).toEqual({
        fault: {
          cause: 'RESULT',
          field: 'options.additionalActions[0].url',
          reason: 'must be an address of the web or of an app',
        },
      });
    });

    test('reads the event that started it, of the user or of the business', () => {
      const texts = browser({ title: '{{ EventAttribute.team }}', message: '{{ BusinessEventAttribute.team }}' });
      expect(render(texts, { event: { team: 'Reds' } })).toMatchObject({ content: { title: 'Reds', message: 'Reds' } });
      expect(render(texts)).toEqual({
        fault: { cause: 'EVENT_ATTRIBUTE', field: 'title', reason: "EventAttribute['team'] has no value" },
      });
      expect(render(browser({ title: '{{ BusinessEventAttribute.toString }}' }))).toEqual({
        fault: {
          cause: 'BUSINESS_EVENT_ATTRIBUTE',
          field: 'title',
          reason: "BusinessEventAttribute['toString'] has no value",
        },
      });
      const { reads, eventReads, userEventReads } = makePersonaliser(texts, 'AUTO')!;
      expect({ reads, eventReads, userEventReads }).toEqual({
        reads: [],
        eventReads: ['team'],
        userEventReads: ['team'],
      });
    });

    test('is the fallback if it fails, with its failure; the first of two failures is reported', () => {
      const own = browser({
        title: '{{ UserAttribute.nick }}',
        fallback: { ...browser().WEB, title: 'Hi {{ UserAttribute.u_fn }}' },
      });
      expect(render(own)).toMatchObject({
        content: { title: 'Hi Ada' },
        instead: { cause: 'USER_ATTRIBUTE', field: 'title', reason: "UserAttribute['nick'] has no value" },
      });
      const both = browser({
        title: '{{ UserAttribute.nick }}',
        fallback: { ...browser().WEB, title: '{{ UserAttribute.other }}' },
      });
      expect(render(both)).toEqual({
        fault: { cause: 'USER_ATTRIBUTE', field: 'title', reason: "UserAttribute['nick'] has no value" },
      });
      expect(render(browser({ title: '{{ UserAttribute.u_fn }}', fallback: browser().WEB }))).not.toHaveProperty(
        'instead',
      );
    });

    test('fails at its place if this version cannot parse it', () => {
      expect(render(browser({ title: '{{ x' }))).toEqual({
        fault: { cause: 'UNKNOWN', field: 'title', reason: '"}}" is missing' },
      });
    });

    test('has the texts of the language, and the rest of the content', () => {
      const content = browser({
        title: '{{ UserAttribute.u_fn }}',
        locales: { de: { title: 'Hallo {{ UserAttribute.u_fn }}' } },
      });
      const personaliser = makePersonaliser(content, 'AUTO')!;
      const of = (language: string | undefined) => personaliser.render({ platform: 'WEB', user, event: {}, language });
      expect(of('de')).toMatchObject({ content: { title: 'Hallo Ada', message: 'M' } });
      expect(of(undefined)).toMatchObject({ content: { title: 'Ada' } });
      expect(of('fr')).toMatchObject({ content: { title: 'Ada' } });
    });

    test('treats a text with only a comment as a template with ON, but not with AUTO', () => {
      const content = browser({ title: 'A{# comment #}' });
      expect(makePersonaliser(content, 'AUTO')).toBeUndefined();
      expect(makePersonaliser(content, 'ON')!.render({ platform: 'WEB', user, event: {} })).toMatchObject({
        content: { title: 'A' },
      });
    });
  });
});

describe('android payload', () => {
  const long = (count: number): string => 'a'.repeat(count);

  test.each([
    ['demo', true],
    ['Shop_1.live-EU', true],
    ['7', true],
    [long(64), true],
    [long(65), false],
    ['', false],
    ['a b', false],
    [' demo', false],
    ['demo\n', false],
    ['dém', false],
    ['a/b', false],
  ])('accepts or rejects %j as a sender: %s', (text, is) => expect(isPushFrom(text)).toBe(is));

  test.each([
    ['svc', true],
    ['a', true],
    ['acme2', true],
    [long(16), true],
    [long(17), false],
    ['', false],
    ['2acme', false],
    ['Acme', false],
    ['ac_me', false],
    [' acme', false],
    ['acme ', false],
    // Keys of FCM, and of the message itself.
    ['gcm', false],
    ['google', false],
    ['kv', false],
    ['kvs', true],
  ])('accepts or rejects %j as a prefix of keys: %s', (text, is) => expect(isDataPrefix(text)).toBe(is));

  test('uses the defaults of the installation for missing workspace settings', () => {
    const own = { mode: 'both' as const, pushFrom: 'shop', dataPrefix: 'acme' };
    const rest = { mode: 'both', pushFrom: 'shop' };
    const defaults = { dataPrefix: 'svc', publicUrl: 'https://push.example' };
    const reportUrl = 'https://push.example/v1/interactions';
    expect(settlePayload(own, defaults)).toStrictEqual({ ...rest, dataPrefix: 'acme', reportUrl });
    expect(settlePayload({ ...own, dataPrefix: null }, defaults)).toStrictEqual({
      ...rest,
      dataPrefix: 'svc',
      reportUrl,
    });
  });

  test('sends no report URL to a phone if the installation does not know its own URL', () => {
    const own = { mode: 'data' as const, pushFrom: 'shop', dataPrefix: null };
    expect(settlePayload(own, { dataPrefix: 'svc', publicUrl: undefined })).toStrictEqual({
      ...own,
      dataPrefix: 'svc',
    });
  });
});

type Json = Record<string, unknown>;

describe('content options', () => {
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
      [
        'ANDROID',
        { badge: { operation: 'increment', value: 0 } },
        ['badge.value: must be a whole number from 1 to 99'],
      ],
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
});

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
