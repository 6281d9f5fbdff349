import { describe, expect, test } from 'vitest';
import type { CampaignContent, Platform } from '../../../src/domain/content/content.ts';
import {
  canonicalTag,
  tagsFor,
  chooseLanguage,
  hasLocales,
  languagesOf,
  makeContentIn,
} from '../../../src/domain/content/locales.ts';
import { readLocales } from '../../../src/domain/content/locales.ts';
import { makePushReader } from '../../../src/http/push/push-reader.ts';

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
    [{ de: { WEB: { tag: 'x' } } }, ['locales.de.WEB.tag: is no text and no address']],
    [{ de: { WEB: { summary: 'x' } } }, ['locales.de.WEB.summary: is no text and no address']],
    [{ de: { WEB: { title: '' } } }, ['locales.de.WEB.title: is required']],
    [{ de: { WEB: { message: '{{ x' } } }, ['locales.de.WEB.message: is no template: "}}" is missing']],
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
