import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { mergePatch } from '../../src/domain/content/overrides.ts';
import { changeOptionTexts } from '../../src/domain/content/texts.ts';
import { presentPushContent } from '../../src/http/campaigns/push-content.ts';
import { goodBody, makePushBundle } from './push-bundle.ts';
import type { PushBody, PushBundle } from './push-bundle.ts';

type Platform = 'ANDROID' | 'IOS' | 'WEB';

describe('options of contents', () => {
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
      [
        'ANDROID',
        { badge: { operation: 'increment', value: 0 } },
        'badge.value',
        'must be a whole number from 1 to 99',
      ],
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
      const category = {
        ...texts,
        additionalActions: [{ category: 'ORDER' }],
        options: { additionalActions: [button] },
      };
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
});

describe('locales', () => {
  let bundle: PushBundle;
  let names = 0;
  beforeAll(async () => {
    bundle = await makePushBundle();
  });
  afterAll(() => bundle?.end());

  const texts = { title: 'Order 17', message: 'Ready' };
  const web = { ...texts, redirectURL: 'https://shop.example/17', iconURL: 'https://shop.example/i.png' };

  test('stores texts by platform and canonical tag, shows them like campaigns do, and reports none as unknown', async () => {
    const answer = await send({
      de: { ANDROID: { title: 'Bestellung 17', Summary: 'Laden' }, WEB: { redirectURL: 'https://shop.example/de' } },
      'PT-br': { ANDROID: { message: 'Pronto, {{ UserAttribute["First Name"] }}' } },
    });
    expect(answer.json().Error_Message).toBeUndefined();
    expect(answer.headers['x-svc-warning']).toBeUndefined();
    const [row] = await bundle.database`select content from campaigns where id = ${answer.json().cid}`;
    expect(row!.content.ANDROID.locales).toEqual({
      de: { title: 'Bestellung 17', summary: 'Laden' },
      'pt-BR': { message: 'Pronto, {{ UserAttribute["First Name"] }}' },
    });
    expect(row!.content.WEB.locales).toEqual({ de: { redirectUrl: 'https://shop.example/de' } });
    expect(presentPushContent(row!.content).push).toMatchObject({
      locales: {
        de: { android: { title: 'Bestellung 17', summary: 'Laden' }, web: { redirectURL: 'https://shop.example/de' } },
        'pt-BR': { android: { message: 'Pronto, {{ UserAttribute["First Name"] }}' } },
      },
    });
  });

  test('names a language whose message is too large in a header', async () => {
    const answer = await send(
      { de: { ANDROID: { message: 'x'.repeat(4_000) } }, nl: { ANDROID: { title: 'Klaar' } } },
      { ANDROID: texts },
    );
    expect(answer.json().status).toBe('Success');
    expect(answer.headers['x-svc-warning']).toMatch(
      /^payload\.locales\.de\.ANDROID makes 4\d\d\d bytes; the limit is 4096$/,
    );
  });

  describe('a rejected push, of which nothing is stored', () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`de-x-n${index}`, {}]));
    test.each<[string, unknown, string]>([
      ['', [], 'must be an object'],
      ['', many, 'must have at most 50 languages'],
      ['.not a tag', { 'not a tag': {} }, 'is no language tag'],
      ['.DE', { de: {}, DE: {} }, 'is given twice'],
      ['.de', { de: 'Hallo' }, 'must be an object'],
      ['.de.IOS', { de: { IOS: { title: 'T' } } }, 'is not a platform of this push'],
      ['.de.ANDROID.options', { de: { ANDROID: { options: {} } } }, 'is not a text or an address'],
      ['.de.ANDROID.subtitle', { de: { ANDROID: { subtitle: 'S' } } }, 'is not a text or an address'],
      ['.de.ANDROID.title', { de: { ANDROID: { title: '' } } }, 'is required'],
      ['.de.ANDROID.title', { de: { ANDROID: { title: 5 } } }, 'must be a text'],
      ['.de.WEB.imageURL', { de: { WEB: { imageURL: 'http://shop.example/' } } }, 'must be a URL with https'],
    ])('has invalid locales%s', async (field, locales, reason) => {
      const before = await bundle.countRows();
      const answer = await send(locales);
      expect(answer.json()).toMatchObject({
        status: 'Fail',
        Error_Message: `Error parsing parameters: payload.locales${field}: ${reason}`,
      });
      expect(await bundle.countRows()).toEqual(before);
    });

    test('has texts for a language but is silent', async () => {
      const pairs = { defaultAction: { kvPairs: { sync: 'orders' } } };
      const answer = await send({ de: {} }, { ANDROID: pairs }, { advancedSettings: { silent: true } });
      expect(answer.json().Error_Message).toMatch(/payload\.locales: cannot be in a silent message$/);
    });
  });

  function send(locales: unknown, payload: object = { ANDROID: texts, WEB: web }, more: object = {}) {
    const campaignName = `Localized number ${(names += 1)}`;
    const targetPlatform = Object.keys(payload);
    return bundle.send(goodBody({ campaignName, targetPlatform, payload: { ...payload, locales }, ...more }));
  }
});

describe('provider overrides', () => {
  let bundle: PushBundle;
  let names = 0;
  beforeAll(async () => {
    bundle = await makePushBundle();
  });
  afterAll(() => bundle?.end());

  const texts = { title: 'Order 17', message: 'Ready' };
  const web = { ...texts, redirectURL: 'https://shop.example/17', iconURL: 'https://shop.example/i.png' };
  const targetPlatform = ['ANDROID', 'IOS', 'WEB'];

  test('gives each platform the override of its provider, including null, and reports no member as unknown', async () => {
    const fcm = { android: { notification: { ticker: 'x', tag: null } } };
    const payload = { aps: { 'thread-id': 'o', sound: null } };
    const { content, warning } = await store({
      fcm,
      hms: { android: { category: 'EXPRESS' } },
      apns: { headers: { 'apns-priority': '5' }, payload },
      webpush: { headers: { Urgency: 'high', TTL: null } },
    });
    expect(content.ANDROID.overrides).toEqual({ fcm, hms: { android: { category: 'EXPRESS' } } });
    expect(content.IOS.overrides).toEqual({ apns: { headers: { 'apns-priority': '5' }, payload } });
    expect(content.WEB.overrides).toEqual({ webpush: { headers: { urgency: 'high', ttl: null } } });
    expect(warning).toBeUndefined();
    expect(presentPushContent(content).push).toMatchObject({
      providerOverrides: { fcm, apns: { headers: { 'apns-priority': '5' }, payload } },
    });
  });

  test('applies the override to the fallback, unless it reads the user', async () => {
    const fallback = { title: 'F' };
    const { content } = await store(
      { fcm: { data: { shelf: '{{ UserAttribute["shelf"] }}' } }, apns: { payload: { shelf: 17 } } },
      { payload: { ANDROID: { ...texts, fallback }, IOS: { ...texts, fallback } } },
    );
    expect(content.ANDROID.overrides).toBeDefined();
    expect(content.ANDROID.fallback).not.toHaveProperty('overrides');
    expect(content.IOS.fallback.overrides).toEqual(content.IOS.overrides);
  });

  test('names an override for a provider that carries nothing of the push in a header', async () => {
    const { content, warning } = await store({ apns: { payload: { shelf: 17 } } }, { targetPlatform: ['ANDROID'] });
    expect(content.ANDROID).not.toHaveProperty('overrides');
    expect(warning).toBe('payload.providerOverrides.apns has no effect here');
  });

  const nested = (depth: number): object => (depth === 1 ? {} : { a: nested(depth - 1) });

  describe('a rejected push, of which nothing is stored', () => {
    const denied = 'cannot be set here';
    test.each<[string, unknown, string]>([
      ...['token', 'fid', 'topic', 'condition', 'name'].map(
        (name) => [`fcm.${name}`, { fcm: { [name]: 'x' } }, denied] as [string, unknown, string],
      ),
      ['fcm.android_v2', { fcm: { android_v2: {} } }, denied],
      ['fcm.data.push_from', { fcm: { data: { push_from: 'x' } } }, denied],
      ['fcm.data.svc_report_token', { fcm: { data: { svc_report_token: null } } }, denied],
      ['fcm.android.data', { fcm: { android: { data: { a: 'b' } } } }, denied],
      ['fcm.data', { fcm: { data: null } }, 'must be an object'],
      ['fcm', { fcm: [] }, 'must be an object'],
      ['fcm', { fcm: null }, 'must be an object'],
      ['fcm', { fcm: { a: 'x'.repeat(4_096) } }, 'must have at most 4096 bytes as JSON'],
      ['fcm.a.a.a.a.a.a.a.a', { fcm: nested(9) }, 'must be within 8 objects and lists'],
      ['apns.payload.svc', { apns: { payload: { svc: {} } } }, denied],
      ['apns.payload.aps', { apns: { payload: { aps: null } } }, 'must be an object'],
      ['apns.aps', { apns: { aps: {} } }, denied],
      ['apns.headers.authorization', { apns: { headers: { authorization: 'x' } } }, denied],
      ['apns.headers.apns-id', { apns: { headers: { 'apns-id': 'x' } } }, denied],
      ['apns.headers.apns-priority', { apns: { headers: { 'apns-priority': 5 } } }, 'must be a text'],
      ['apns.headers.apns-priority', { apns: { headers: { 'apns-priority': '7' } } }, 'must be one of 1, 5, 10'],
      ['apns.headers.apns-topic', { apns: { headers: { 'apns-topic': null } } }, denied],
      ['webpush.payload.report_token', { webpush: { payload: { report_token: 'x' } } }, denied],
      ['webpush.payload.message_id', { webpush: { payload: { message_id: 'x' } } }, denied],
      ['webpush.payload.click_proof', { webpush: { payload: { click_proof: 'x' } } }, denied],
      ['webpush.payload.web_push', { webpush: { payload: { web_push: 1 } } }, denied],
      ['webpush.payload.title', { webpush: { payload: { title: null } } }, 'must be a text that is not empty'],
      ['webpush.headers.Content-Encoding', { webpush: { headers: { 'Content-Encoding': 'gzip' } } }, denied],
      ['webpush.headers.ttl', { webpush: { headers: { TTL: '5', ttl: '6' } } }, 'is given twice'],
      ...['token', 'topic', 'condition', 'validate_only'].map(
        (name) => [`hms.${name}`, { hms: { [name]: 'x' } }, denied] as [string, unknown, string],
      ),
    ])('has a wrong %s', async (field, providerOverrides, reason) => {
      const before = await bundle.countRows();
      const answer = await send(providerOverrides);
      expect(answer.json()).toMatchObject({
        status: 'Fail',
        Error_Message: `Error parsing parameters: payload.providerOverrides.${field}: ${reason}`,
      });
      expect(await bundle.countRows()).toEqual(before);
    });

    test('has an Apple topic that is not a suffix, or a text that is not a template', async () => {
      const whole = await send({ apns: { headers: { 'apns-topic': 'com.example.other' } } });
      expect(whole.json().Error_Message).toMatch(
        /apns\.headers\.apns-topic: must be one of \.push-type\.liveactivity, /,
      );
      const broken = await send({ fcm: { data: { a: '{{ oops' } } });
      expect(broken.json().Error_Message).toMatch(/providerOverrides\.fcm\.data\.a: is not a valid template/);
    });

    test('has keys with the prefix of the workspace', async () => {
      const own = await makePushBundle();
      await own.database`update workspaces set data_prefix = 'acme'`;
      const payload = { ANDROID: texts, providerOverrides: { fcm: { data: { acme_tag: 'x' } } } };
      const answer = await own.send(goodBody({ targetPlatform: ['ANDROID'], payload }));
      await own.end();
      expect(answer.json().Error_Message).toMatch(/fcm\.data\.acme_tag: cannot be set here$/);
    });
  });

  /** RFC 7386 Appendix A, as a table. */
  test.each<[unknown, unknown, unknown]>([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [
      ['a', 'b'],
      ['c', 'd'],
      ['c', 'd'],
    ],
    [{ a: 'b' }, ['c'], ['c']],
    [{ a: 'foo' }, null, null],
    [{ a: 'foo' }, 'bar', 'bar'],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [[1, 2], { a: 'b', c: null }, { a: 'b' }],
    [{}, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('merges %j with %j into %j (RFC 7386 Appendix A)', (target, patch, result) => {
    expect(mergePatch(target, patch)).toEqual(result);
  });

  test('treats a member called __proto__ as a member', () => {
    const merged = mergePatch({}, JSON.parse('{"__proto__": {"a": 1}}')) as object;
    expect(JSON.stringify(merged)).toBe('{"__proto__":{"a":1}}');
    expect((merged as { a?: number }).a).toBeUndefined();
  });

  function send(providerOverrides: unknown, { payload = {}, ...more }: Record<string, any> = {}) {
    const campaignName = `Overridden number ${(names += 1)}`;
    const contents = { ANDROID: texts, IOS: texts, WEB: web, ...payload };
    return bundle.send(
      goodBody({ campaignName, targetPlatform, payload: { ...contents, providerOverrides }, ...more }),
    );
  }

  async function store(providerOverrides: unknown, more: Record<string, unknown> = {}): Promise<any> {
    const answer = await send(providerOverrides, more);
    expect(answer.json().Error_Message).toBeUndefined();
    const [row] = await bundle.database`select content from campaigns where id = ${answer.json().cid}`;
    return { ...row, warning: answer.headers['x-svc-warning'] };
  }
});
