import { describe, expect, test } from 'vitest';
import type { CampaignContent, Platform } from '../../../src/domain/content/content.ts';
import {
  canonicalTag,
  chooseLanguage,
  hasLocales,
  languagesOf,
  makeContentIn,
  readLocales,
  tagsFor,
} from '../../../src/domain/content/locales.ts';
import {
  collectOverrides,
  isOwnKey,
  readProviderOverrides,
  spreadOverrides,
} from '../../../src/domain/content/overrides.ts';
import { makePushReader } from '../../../src/http/push/push-reader.ts';

describe('locales', () => {
  const web = {
    title: 'T',
    message: 'M',
    redirectUrl: 'https://a.example/',
    iconUrl: 'https://a.example/',
    autoDismiss: false,
  };
  const ios = { title: 'T', message: 'M', enableBadge: false, richContent: [], additionalActions: [] };
  const android = { title: 'T', message: 'M', richContent: [], additionalActions: [] };

  test.each([
    ['pt-br', 'pt-BR'],
    ['DE', 'de'],
    ['zh-hant-tw', 'zh-Hant-TW'],
    ['not a tag', undefined],
    ['', undefined],
  ])('normalizes %j to the tag %s', (text, tag) => expect(canonicalTag(text)).toBe(tag));

  test.each([
    ['de', ['de', 'de-Latn']],
    ['pt-BR', ['pt-BR', 'pt-Latn', 'pt']],
    ['zh-TW', ['zh-TW', 'zh-Hant', 'zh']],
    ['und-x-own', ['und-x-own', 'en-Latn', 'en']],
  ])('looks up texts for %s as %j', (tag, tags) => expect(tagsFor(tag)).toEqual(tags));

  describe('the language of a user', () => {
    const content: CampaignContent = {
      WEB: { ...web, locales: { de: { title: 'Hallo' }, 'pt-BR': { title: 'Oi' } } },
      IOS: ios,
    };
    test.each<[string | null, unknown, string | undefined]>([
      ['de', 'pt-BR', 'de'],
      [null, 'pt_BR', 'pt-BR'],
      [null, 'pt_br', 'pt-BR'],
      [null, 'de_Latn_AT', 'de'],
      ['fr', 'de', undefined],
      [null, 'fr', undefined],
      [null, 'no tag at all', undefined],
      [null, 7, undefined],
      [null, undefined, undefined],
    ])('is for device locale %j and attribute %j: %s', (ofDevice, ofUser, language) => {
      expect(chooseLanguage(content, { platform: 'WEB', ofDevice, ofUser })).toBe(language);
      expect(chooseLanguage(content, { platform: 'IOS', ofDevice, ofUser })).toBeUndefined();
      expect(chooseLanguage(content, { platform: 'ANDROID', ofDevice, ofUser })).toBeUndefined();
    });

    test('falls back to the wider language, then to the content’s own text', () => {
      const of = makeContentIn({
        WEB: {
          ...web,
          locales: { pt: { title: 'Olá', message: 'Pronto' }, 'pt-BR': { title: 'Oi' }, de: { title: 'Hallo' } },
          fallback: web,
        },
      });
      expect(of('WEB', 'pt-BR')).toStrictEqual({ ...web, title: 'Oi', message: 'Pronto' });
      expect(of('WEB', 'pt-PT')).toStrictEqual({ ...web, title: 'Olá', message: 'Pronto' });
      expect(of('WEB', 'de')).toStrictEqual({ ...web, title: 'Hallo' });
      expect(of('WEB', undefined)).toStrictEqual(web);
      expect(of('WEB', 'de')).toBe(of('WEB', 'de'));
      expect(makeContentIn({ IOS: ios })('IOS', 'de')).toStrictEqual(ios);
    });

    test('exists in a content if one of its platforms has texts', () => {
      expect(hasLocales(content)).toBe(true);
      expect(hasLocales({ IOS: ios })).toBe(false);
      expect(languagesOf(content, 'WEB')).toEqual(['de', 'pt-BR']);
      expect(languagesOf(content, 'IOS')).toEqual([]);
      expect(languagesOf(content, 'ANDROID')).toEqual([]);
    });
  });

  describe('locales of a push', () => {
    const names = new Map<string, Platform>([
      ['ANDROID', 'ANDROID'],
      ['IOS', 'IOS'],
      ['WEB', 'WEB'],
    ]);
    const read = (locales: unknown) => {
      const payload = makePushReader({ locales }, { mode: 'AUTO', bodies: 'strict' });
      const content: CampaignContent = { ANDROID: { ...android }, WEB: { ...web } };
      readLocales(content, { payload, names });
      return { content, faults: payload.faults.map(({ field, reason }) => `${field}: ${reason}`) };
    };

    test('are the texts and URLs of each platform', () => {
      const { content, faults } = read({
        de: {
          ANDROID: { title: 'Hallo', message: 'Fertig', summary: 'Kurz' },
          WEB: { redirectURL: 'https://a.example/de' },
        },
        'pt-br': {
          ANDROID: { Summary: 'Resumo' },
          WEB: { title: 'Oi', iconURL: 'https://a.example/i', imageURL: 'https://a.example/p' },
        },
        fr: {},
      });
      expect(faults).toEqual([]);
      expect(content.ANDROID!.locales).toStrictEqual({
        de: { title: 'Hallo', message: 'Fertig', summary: 'Kurz' },
        'pt-BR': { summary: 'Resumo' },
      });
      expect(content.WEB!.locales).toStrictEqual({
        de: { redirectUrl: 'https://a.example/de' },
        'pt-BR': { title: 'Oi', iconUrl: 'https://a.example/i', imageUrl: 'https://a.example/p' },
      });
    });

    test('may have a subtitle for iPhones', () => {
      const payload = makePushReader(
        { locales: { de: { IOS: { subtitle: 'Kurz' } } } },
        { mode: 'AUTO', bodies: 'strict' },
      );
      const content: CampaignContent = { IOS: { ...ios } };
      readLocales(content, { payload, names });
      expect(content.IOS!.locales).toStrictEqual({ de: { subtitle: 'Kurz' } });
    });

    test.each<[unknown, string[]]>([
      [undefined, []],
      ['de', ['locales: must be an object']],
      [{ 'not a tag': {} }, ['locales.not a tag: is no language tag']],
      [{ de: {}, DE: {} }, ['locales.DE: is given twice']],
      [{ de: 'Hallo' }, ['locales.de: must be an object']],
      [{ de: { IOS: {} } }, ['locales.de.IOS: is not a platform of this push']],
      [{ de: { TV: {} } }, ['locales.de.TV: is not a platform of this push']],
      [{ de: { WEB: 'Hallo' } }, ['locales.de.WEB: must be an object']],
      [{ de: { WEB: { tag: 'x' } } }, ['locales.de.WEB.tag: is not a text or an address']],
      [{ de: { WEB: { summary: 'x' } } }, ['locales.de.WEB.summary: is not a text or an address']],
      [{ de: { WEB: { title: '' } } }, ['locales.de.WEB.title: is required']],
      [{ de: { WEB: { message: '{{ x' } } }, ['locales.de.WEB.message: is not a valid template: "}}" is missing']],
      [{ de: { WEB: { redirectURL: 'shop://1' } } }, ['locales.de.WEB.redirectURL: must be a URL with https or http']],
      [{ de: { WEB: { iconURL: 'shop://1' } } }, ['locales.de.WEB.iconURL: must be a URL with https or http']],
      [{ de: { WEB: { imageURL: 'http://a.example/' } } }, ['locales.de.WEB.imageURL: must be a URL with https']],
    ])('parse %j as %j', (locales, faults) => expect(read(locales).faults).toEqual(faults));

    test('may be fifty, and no more', () => {
      const many = (count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`de-x-a${index}`, {}]));
      expect(read(many(50)).faults).toEqual([]);
      expect(read(many(51)).faults).toEqual(['locales: must have at most 50 languages']);
    });

    test('are missing if a form leaves them out', () => {
      const payload = makePushReader(
        { locales: { de: {}, fr: { WEB: { title: '' }, IOS: null } } },
        { mode: 'AUTO', bodies: 'lenient' },
      );
      const content: CampaignContent = { WEB: { ...web } };
      readLocales(content, { payload, names });
      expect(payload.faults).toEqual([]);
      expect(content.WEB!.locales).toEqual({ fr: {} });
    });
  });
});

const read = (providerOverrides: unknown) => {
  const payload = makePushReader({ providerOverrides }, { mode: 'AUTO', bodies: 'strict' });
  const { overrides, readsUser } = readProviderOverrides(payload, ['svc', 'old']);
  const faults = payload.faults.map(({ field, reason }) => `${field.replace('providerOverrides.', '')}: ${reason}`);
  return { overrides, readsUser: [...readsUser], faults };
};
const name = "{{ UserAttribute['a'] }}";
const nested = (depth: number): unknown => (depth === 1 ? {} : { a: nested(depth - 1) });

describe('overrides of a push', () => {
  test('are parsed as they were sent, including null', () => {
    const sent = {
      fcm: { android: { priority: 'high', ttl: null }, data: { order: name } },
      hms: { android: { urgency: 'HIGH' } },
      apns: { headers: { 'APNS-Priority': '5', 'apns-expiration': null }, payload: { aps: { sound: 'a' } } },
      webpush: { headers: { topic: 'a-b_c' }, payload: { title: name, notification: { title: 'T' } } },
    };
    expect(read(sent)).toStrictEqual({
      overrides: {
        ...sent,
        apns: { headers: { 'apns-priority': '5', 'apns-expiration': null }, payload: { aps: { sound: 'a' } } },
      },
      readsUser: ['fcm', 'webpush'],
      faults: [],
    });
  });

  test('are missing if absent or empty', () => {
    expect(read(undefined)).toStrictEqual({ overrides: {}, readsUser: [], faults: [] });
    expect(read({ fcm: {}, apns: {} })).toStrictEqual({ overrides: {}, readsUser: [], faults: [] });
    expect(read({ apns: { headers: {} } }).overrides).toStrictEqual({ apns: { headers: {} } });
  });

  test.each<[string, unknown, string[]]>([
    ['a text', 'fcm', ['providerOverrides: must be an object']],
    ['null for an object', { fcm: null }, ['fcm: must be an object']],
    ['a list', { hms: [] }, ['hms: must be an object']],
    ['too many bytes', { fcm: { a: 'ä'.repeat(2_048) } }, ['fcm: must have at most 4096 bytes as JSON']],
    ['nine objects', { fcm: nested(9) }, [`fcm.${Array(8).fill('a').join('.')}: must be within 8 objects and lists`]],
    ['NUL', { fcm: { a: ['\0'] } }, ['fcm.a[0]: must be well-formed Unicode without NUL, names of members too']],
    [
      'NUL in a name',
      { fcm: { a: { '\0': 1 } } },
      ['fcm.a: must be well-formed Unicode without NUL, names of members too'],
    ],
    ['no template', { fcm: { a: '{{ x' } }, ['fcm.a: is not a valid template: "}}" is missing']],
    [
      'where a message goes by FCM',
      { fcm: { token: 'a', fid: 'a', topic: 'a', condition: 'a', name: 'a' } },
      ['token', 'fid', 'topic', 'condition', 'name'].map((member) => `fcm.${member}: cannot be set here`),
    ],
    [
      'where a message goes by HMS',
      { hms: { token: [], topic: 'a', condition: 'a', validate_only: true } },
      ['token', 'topic', 'condition', 'validate_only'].map((member) => `hms.${member}: cannot be set here`),
    ],
    [
      'the key by which Amazon replaces a message, and its digest',
      { adm: { consolidationKey: 'a', md5: 'a', expiresAfter: 60 } },
      ['consolidationKey', 'md5'].map((member) => `adm.${member}: cannot be set here`),
    ],
    ['our keys in data for Amazon', { adm: { data: { svc_id: 'a' } } }, ['adm.data.svc_id: cannot be set here']],
    ['a list as data for Amazon', { adm: { data: [] } }, ['adm.data: must be an object']],
    ['another kind of message of Android', { fcm: { android_v2: {} } }, ['fcm.android_v2: cannot be set here']],
    ['data in the place of all data', { fcm: { android: { data: {} } } }, ['fcm.android.data: cannot be set here']],
    ['data that is no object', { fcm: { data: 'a' } }, ['fcm.data: must be an object']],
    [
      'keys of our own',
      { fcm: { data: { push_from: 'a', svc_id: 'a', old_id: 'a', svc: 'a' } } },
      ['push_from', 'svc_id', 'old_id'].map((key) => `fcm.data.${key}: cannot be set here`),
    ],
    ['another member for Apple', { apns: { body: {} } }, ['apns.body: cannot be set here']],
    ['headers that are no object', { apns: { headers: [] } }, ['apns.headers: must be an object']],
    ['a payload that is no object', { webpush: { payload: 'a' } }, ['webpush.payload: must be an object']],
    ['an unknown header', { apns: { headers: { 'apns-id': 'a' } } }, ['apns.headers.apns-id: cannot be set here']],
    [
      'a header of another provider',
      { apns: { headers: { urgency: 'low' } } },
      ['apns.headers.urgency: cannot be set here'],
    ],
    ['no topic', { apns: { headers: { 'apns-topic': null } } }, ['apns.headers.apns-topic: cannot be set here']],
    [
      'a personal topic',
      { apns: { headers: { 'apns-topic': name } } },
      [
        'apns.headers.apns-topic: must be one of .push-type.liveactivity, .voip, .location-query, .complication, .pushkit.fileprovider, .voip-ptt, .push-type.widgets, .push-type.controls',
      ],
    ],
    [
      'a header twice',
      { apns: { headers: { 'apns-priority': '5', 'APNS-PRIORITY': '5' } } },
      ['apns.headers.APNS-PRIORITY: is given twice'],
    ],
    [
      'a header that is a number',
      { apns: { headers: { 'apns-priority': 5 } } },
      ['apns.headers.apns-priority: must be a text'],
    ],
    [
      'another priority',
      { apns: { headers: { 'apns-priority': '7' } } },
      ['apns.headers.apns-priority: must be one of 1, 5, 10'],
    ],
    [
      'a priority that begins as one',
      { apns: { headers: { 'apns-priority': '10x' } } },
      ['apns.headers.apns-priority: must be one of 1, 5, 10'],
    ],
    [
      'a type in upper case',
      { apns: { headers: { 'apns-push-type': 'ALERT' } } },
      ['apns.headers.apns-push-type: must be a word in lower case'],
    ],
    [
      'no seconds',
      { apns: { headers: { 'apns-expiration': '1.5' } } },
      ['apns.headers.apns-expiration: must be a number of seconds'],
    ],
    [
      'a long id',
      { apns: { headers: { 'apns-collapse-id': 'a'.repeat(65) } } },
      ['apns.headers.apns-collapse-id: must have 1 to 64 ASCII characters'],
    ],
    [
      'another urgency (RFC 8030 §5.3)',
      { webpush: { headers: { urgency: 'now' } } },
      ['webpush.headers.urgency: must be one of very-low, low, normal, high'],
    ],
    [
      'a topic with a space',
      { webpush: { headers: { topic: 'a b' } } },
      ['webpush.headers.topic: must have 1 to 32 characters of base64url'],
    ],
    [
      'keys of our own to Apple',
      { apns: { payload: { svc: {}, old: {} } } },
      ['apns.payload.svc: cannot be set here', 'apns.payload.old: cannot be set here'],
    ],
    ['aps that is no object', { apns: { payload: { aps: null } } }, ['apns.payload.aps: must be an object']],
    [
      'what browsers report with',
      { webpush: { payload: { report_token: 'a', message_id: 'a', click_proof: 'a', web_push: 8030 } } },
      ['report_token', 'message_id', 'click_proof', 'web_push'].map(
        (key) => `webpush.payload.${key}: cannot be set here`,
      ),
    ],
    [
      'nothing to show in a browser',
      { webpush: { payload: { title: ' ', notification: { title: null } } } },
      ['title', 'notification.title'].map((key) => `webpush.payload.${key}: must be a text that is not empty`),
    ],
    [
      'a number to show',
      { webpush: { payload: { title: 5 } } },
      ['webpush.payload.title: must be a text that is not empty'],
    ],
  ])('may not be %s', (_name, sent, faults) => expect(read(sent).faults).toEqual(faults));

  test('are accepted at the limits', () => {
    expect(read({ fcm: { a: 'x'.repeat(4_088) } }).faults).toEqual([]);
    expect(read({ fcm: nested(8) }).faults).toEqual([]);
    expect(read({ fcm: { android_v2: {}, android: null } }).faults).toEqual([]);
    expect(read({ fcm: { data: { svc: 'a', other_id: 'b' } } }).faults).toEqual([]);
    expect(read({ apns: { headers: { 'apns-topic': '.voip', 'apns-priority': name } } }).faults).toEqual([]);
    expect(read({ webpush: { payload: { notification: 'a' } } }).faults).toEqual([]);
  });

  test('stop checking a text that cannot be checked further', () => {
    expect(read({ fcm: { token: '\0' } }).faults).toHaveLength(1);
    expect(read({ fcm: { token: '\0' } }).overrides).toEqual({});
  });

  test('reject keys with our own prefix and an underscore', () => {
    expect(['push_from', 'svc_a', 'svc', 'svca', 'old_', 'push'].map((key) => isOwnKey(key, ['svc', 'old']))).toEqual([
      true,
      true,
      false,
      false,
      true,
      false,
    ]);
  });
});

describe('overrides on the platforms', () => {
  const text = { title: 'T', message: 'M' };
  const android = { ...text, richContent: [], additionalActions: [] };
  const content = (): CampaignContent => ({
    ANDROID: { ...android, fallback: { ...android } },
    WEB: { ...text, redirectUrl: 'https://a.example/', iconUrl: 'https://a.example/', autoDismiss: false },
  });
  const overrides = {
    fcm: { a: 1 },
    hms: { b: 2 },
    adm: { e: 5 },
    apns: { payload: { c: 3 } },
    webpush: { payload: { d: 4 } },
  };

  test('go to the providers of each platform; the fallback gets those that read nothing of the user', () => {
    const spread = content();
    spreadOverrides(spread, { overrides, readsUser: new Set(['fcm', 'webpush']) });
    expect(spread.ANDROID!.overrides).toEqual({ fcm: { a: 1 }, hms: { b: 2 }, adm: { e: 5 } });
    expect(spread.ANDROID!.fallback!.overrides).toEqual({ hms: { b: 2 }, adm: { e: 5 } });
    expect(spread.WEB!.overrides).toEqual({ webpush: { payload: { d: 4 } } });
    expect(collectOverrides(spread)).toEqual({
      ...{ fcm: { a: 1 }, hms: { b: 2 }, adm: { e: 5 } },
      webpush: { payload: { d: 4 } },
    });
  });

  test('leave a content unchanged if there are none', () => {
    const spread = content();
    spreadOverrides(spread, { overrides: {}, readsUser: new Set() });
    expect(spread).toStrictEqual(content());
    expect(collectOverrides(spread)).toBeUndefined();
  });
});
