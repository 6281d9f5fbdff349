import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { CampaignContent } from '../../../src/domain/content/content.ts';
import { drawPoint } from '../../../src/domain/experiments/control-groups.ts';
import {
  pickVariant,
  chooseLocale,
  contentOfVariant,
  countedVariant,
  learningOf,
  localeName,
  makeVariationOf,
  namedContents,
  namedVariant,
  variationBounds,
} from '../../../src/domain/experiments/variants.ts';
import type { Variants } from '../../../src/domain/experiments/variants.ts';

const content = (title: string): CampaignContent => ({
  ANDROID: { title, message: 'M', richContent: [], additionalActions: [] },
});
const [one, two] = [
  [content('1'), content('1 de'), content('1 pt-BR')],
  [content('2'), content('2 de'), content('2 pt-BR')],
];
const locales = ['default', 'de', 'pt-BR'];
const both: Variants = { locales, percents: [60, 40], contents: [one, two] };
const inOneLanguage: Variants = { locales: [], percents: [60, 40], contents: [[one[0]!], [two[0]!]] };

describe('the variation of a user', () => {
  test('is the one whose share contains the user’s point', () => {
    expect(variationBounds([25, 50, 25])).toEqual([2 ** 30, 3 * 2 ** 30, 2 ** 32]);
    expect(variationBounds([1, 2])).toEqual([1_431_655_765, 2 ** 32]);
    const variationOf = makeVariationOf([25, 50, 25], 'c');
    for (let number = 0; number < 200; number += 1) {
      const quarter = drawPoint('variation', { of: 'c', userId: `${number}` }) / 2 ** 30;
      expect(variationOf(`${number}`)).toBe(quarter < 1 ? 1 : quarter < 3 ? 2 : 3);
    }
  });

  test('is drawn separately in each campaign', () => {
    const users = Array.from({ length: 64 }, (_, number) => `${number}`);
    expect(users.map(makeVariationOf([50, 50], 'a'))).not.toEqual(users.map(makeVariationOf([50, 50], 'b')));
    expect(new Set(users.map(makeVariationOf([0, 100, 0], 'a')))).toEqual(new Set([2]));
  });
});

describe('the locale of a user', () => {
  const choose = (ofDevice: string | null, ofUser: unknown = null) => chooseLocale(locales, { ofDevice, ofUser });

  test('is the closest to the known language, else the default', () => {
    expect([choose('de'), choose('de-AT'), choose('pt-BR'), choose('fr'), choose(null)]).toEqual([2, 2, 3, 1, 1]);
    expect([choose(null, 'pt_BR'), choose('de', 'pt_BR')]).toEqual([3, 2]);
    // No language is named so.
    expect(choose(null, 'default')).toBe(1);
  });

  test('is 0 in a campaign with one language', () => {
    expect(chooseLocale([], { ofDevice: 'de', ofUser: null })).toBe(0);
  });
});

describe('the content of a variant', () => {
  test('is that of its variation and locale, by number; 0 if there is only one', () => {
    const of = (variation: number, locale: number) => contentOfVariant(both, { variation, locale });
    expect([of(1, 1), of(2, 3), of(2, 0), of(0, 2)]).toEqual([one[0], two[2], two[0], one[1]]);
  });

  test('has a name if there are several', () => {
    const names = (variants: Variants) => namedContents(variants).map(({ name }) => name);
    expect(names(both)).toEqual([
      ...['Variation 1, default', 'Variation 1, de', 'Variation 1, pt-BR'],
      ...['Variation 2, default', 'Variation 2, de', 'Variation 2, pt-BR'],
    ]);
    expect(names(inOneLanguage)).toEqual(['Variation 1', 'Variation 2']);
    expect(names({ ...both, contents: [one] })).toEqual(locales);
    expect(namedContents(both).map((named) => named.content)).toEqual([...one, ...two]);
  });
});

describe('the name of a variant in files and figures', () => {
  test('is its number and the name of its locale', () => {
    const none = { variation: null, locale: null };
    expect(namedVariant(locales, { variation: 2, locale: 3 })).toEqual({ variation: 'variation_2', locale: 'pt-BR' });
    expect(namedVariant(null, { variation: 1, locale: null })).toEqual({ ...none, variation: 'variation_1' });
    expect(namedVariant(locales, { variation: null, locale: 1 })).toEqual({ ...none, locale: 'default' });
    expect(namedVariant(null, { variation: null, locale: 1 })).toEqual(none);
    expect(namedVariant(locales, { variation: null, locale: 0 })).toEqual(none);
    expect(namedVariant(locales, { variation: null, locale: null })).toEqual(none);
  });

  test('is an empty text with one language, and missing with one content', () => {
    expect([0, 1, 3, 4].map((locale) => localeName(locales, { locale }))).toEqual(['', 'default', 'pt-BR', '']);
    expect(localeName(undefined, { locale: 2 })).toBe('');
    expect(countedVariant(locales, { variation: 2, locale: 2 })).toEqual({ variation: 2, locale: 'de' });
    expect([countedVariant(locales, null), countedVariant(locales, undefined)]).toEqual([{}, {}]);
  });
});

describe('a campaign that learns', () => {
  test('has a metric, for these contents only', () => {
    const learning = { by: 'GOAL', floorPercent: 5 } as const;
    const found = learningOf({ ...both, learning })!;
    const digest = createHash('sha256')
      .update(JSON.stringify([locales, both.contents]))
      .digest('hex');
    expect(found).toEqual({ by: 'GOAL', contentsDigest: digest.slice(0, 32) });
    expect(learningOf({ ...both, percents: [50, 50], learning: { ...learning, floorPercent: 1 } })).toEqual(found);
    expect(learningOf({ ...both, contents: [one], learning })).not.toEqual(found);
  });

  test('must be configured to', () => expect(learningOf(both)).toBeNull());
});

describe('the content of a test or a preview', () => {
  const all = { content: one[0]!, variants: both };
  const pick = (
    variation: number | undefined,
    locale: string | undefined,
    given: Parameters<typeof pickVariant>[0] = all,
  ) => pickVariant(given, { variation, locale });
  const only = (tag: string, chosen: CampaignContent) => ({
    content: chosen,
    variants: { locales: [tag], percents: [100], contents: [[chosen]] },
  });

  test('is one variation, in each user’s language', () => {
    expect(pick(undefined, undefined)).toEqual({
      ...{ content: one[0], variants: { locales, percents: [100], contents: [one] } },
    });
    expect(pick(2, undefined)).toEqual({ content: two[0], variants: { locales, percents: [100], contents: [two] } });
  });

  test('may be one language for all', () => {
    expect(pick(2, 'de')).toEqual(only('de', two[1]!));
    expect(pick(1, 'PT-br')).toEqual(only('pt-BR', one[2]!));
    expect(pick(1, 'Default')).toEqual(only('default', one[0]!));
  });

  test('is a content in a campaign with one language', () => {
    const given = { content: one[0]!, variants: inOneLanguage };
    expect(pick(2, undefined, given)).toEqual({ content: two[0], variants: null });
    expect(pick(2, 'default', given)).toEqual({ content: two[0], variants: null });
    expect(pick(2, 'de', given)).toEqual({ unknown: 'locale' });
    const plain = { content: one[0]!, variants: null };
    expect(pick(undefined, undefined, plain)).toEqual(plain);
    expect(pick(1, 'DEFAULT', plain)).toEqual(plain);
    expect(pick(2, undefined, plain)).toEqual({ unknown: 'variation' });
  });

  test('is missing for an unknown variation or language', () => {
    expect([pick(0, undefined), pick(3, undefined), pick(3, 'fr')]).toEqual(
      new Array(3).fill({ unknown: 'variation' }),
    );
    expect([pick(1, 'fr'), pick(1, ''), pick(1, 'no tag')]).toEqual(new Array(3).fill({ unknown: 'locale' }));
  });
});
