import { hash } from 'node:crypto';
import type { CampaignContent } from '../content/content.ts';
import { closestTag, canonicalTag } from '../content/locales.ts';
import type { KnownLanguages } from '../content/locales.ts';
import { drawPoint, pointCount } from './control-groups.ts';

/** The words for everybody whose language has none of its own. */
export const defaultLocale = 'default';

/** Which of a campaign's contents a user gets, by number from 1; 0 where the campaign has one for all. */
export type Variant = { variation: number; locale: number };

/** What makes a variation better: more messages that are clicked, or more that are followed by the primary goal. */
export const learningMeasures = ['CLICKS', 'GOAL'] as const;
export type LearningMeasure = (typeof learningMeasures)[number];

/** `floorPercent`: what each variation gets at least. */
export type Learning = { by: LearningMeasure; floorPercent: number };

/** What a run learns by, and of which contents. */
export type RunLearning = { by: LearningMeasure; contentsDigest: string };

/** Null of a campaign that does not learn. Other contents would have other rates. */
export function learningOf({ learning, locales, contents }: Variants): RunLearning | null {
  if (!learning) return null;
  return { by: learning.by, contentsDigest: hash('sha256', JSON.stringify([locales, contents])).slice(0, 32) };
}

/** A campaign whose users do not all get the same. */
export type Variants = {
  /** `default` first, then language tags; empty: it is in one language. */
  locales: string[];
  /** Percent of the users by variation, 100 together; of a campaign that learns, before it has learned anything. */
  percents: number[];
  /** Absent: the shares stay as they are. */
  learning?: Learning;
  /** By variation, then by locale. */
  contents: CampaignContent[][];
};

/**
 * The number of a user's variation: drawn by a hash, so it is the same in each run and version of the campaign as long as its
 * shares are.
 */
export function makeVariationOf(shares: readonly number[], canonicalCampaignId: string): (userId: string) => number {
  const bounds = variationBounds(shares);
  return (userId) => {
    const point = drawPoint('variation', { of: canonicalCampaignId, userId });
    return bounds.findIndex((bound) => point < bound) + 1;
  };
}

/** The first point of each variation that is the next one's. Shares are whole numbers of a whole that is their sum. */
export function variationBounds(shares: readonly number[]): number[] {
  const sums = shares.map((_share, index) => shares.slice(0, index + 1).reduce((sum, share) => sum + share, 0));
  return sums.map((sum) => Math.floor((sum * pointCount) / sums.at(-1)!));
}

/** The number of the locale for a user: the closest to the language, else the default. 0 where there is one. */
export function chooseLocale(locales: readonly string[], known: KnownLanguages): number {
  if (locales.length === 0) return 0;
  const tag = closestTag((wanted) => wanted !== defaultLocale && locales.includes(wanted), known);
  return tag === undefined ? 1 : locales.indexOf(tag) + 1;
}

export function contentOfVariant({ contents }: Variants, { variation, locale }: Variant): CampaignContent {
  return contents[Math.max(0, variation - 1)]![Math.max(0, locale - 1)]!;
}

/** What figures call a locale; empty where there is one. */
export function localeName(locales: readonly string[] | undefined, { locale }: Pick<Variant, 'locale'>): string {
  return locales?.[locale - 1] ?? '';
}

/** Where a counter counts it; nothing where there is one content for all. */
export function countedVariant(
  locales: readonly string[] | undefined,
  variant: Variant | null | undefined,
): { variation?: number; locale?: string } {
  return variant ? { variation: variant.variation, locale: localeName(locales, variant) } : {};
}

/** What people and files call it; null where there is one for all. */
export type NamedVariant = { variation: string | null; locale: string | null };

export function namedVariant(
  locales: readonly string[] | null,
  { variation, locale }: { variation: number | null; locale: number | null },
): NamedVariant {
  return {
    variation: variation === null ? null : variationName(variation),
    locale: locale === null ? null : (locales?.[locale - 1] ?? null),
  };
}

export function variationName(variation: number): string {
  return `variation_${variation}`;
}

/** Every content, with a name for people. */
export function namedContents({ locales, contents }: Variants): { name: string; content: CampaignContent }[] {
  return contents.flatMap((ofVariation, variation) =>
    ofVariation.map((content, locale) => {
      const ofLocale = locales[locale];
      const names = [
        ...(contents.length > 1 ? [`Variation ${variation + 1}`] : []),
        ...(ofLocale === undefined ? [] : [ofLocale]),
      ];
      return { name: names.join(', '), content };
    }),
  );
}

/** Which content a test or a preview asks for. */
export type ShownVariant = {
  /** By number from 1; undefined: the first. */
  variation: number | undefined;
  /** As it was sent; undefined: to each person in their own language. */
  locale: string | undefined;
};

type Contents = { content: CampaignContent; variants: Variants | null };

/** The contents that are left when one variation is shown, in one language or in all; or which of the two there is not. */
export function pickVariant(
  { content, variants }: Contents,
  { variation = 1, locale }: ShownVariant,
): Contents | { unknown: 'variation' | 'locale' } {
  const { locales, contents } = variants ?? { locales: [], contents: [[content]] };
  const ofVariation = contents[variation - 1];
  if (!ofVariation) return { unknown: 'variation' };
  const [first] = ofVariation as [CampaignContent];
  const one = { content: first, variants: null };
  if (locale === undefined)
    return locales.length === 0
      ? one
      : { content: first, variants: { locales, percents: [100], contents: [ofVariation] } };
  const name = locale.toLowerCase() === defaultLocale ? defaultLocale : canonicalTag(locale);
  if (locales.length === 0) return name === defaultLocale ? one : { unknown: 'locale' };
  const place = locales.findIndex((own) => own === name);
  const chosen = ofVariation[place];
  if (!chosen) return { unknown: 'locale' };
  // Whatever a person's language is, the only one there is comes closest.
  return { content: chosen, variants: { locales: [locales[place]!], percents: [100], contents: [[chosen]] } };
}
