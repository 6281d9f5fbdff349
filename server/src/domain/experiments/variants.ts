import { hash } from 'node:crypto';
import type { CampaignContent } from '../content/content.ts';
import { closestTag, canonicalTag } from '../content/locales.ts';
import type { KnownLanguages } from '../content/locales.ts';
import { drawPoint, pointCount } from './control-groups.ts';

/** The locale of the content for users whose language has no content. */
export const defaultLocale = 'default';

/** The content of a campaign that a user gets, by number from 1; 0 if the campaign has only one. */
export type Variant = { variation: number; locale: number };

/** The measure of a better variation: more messages that are clicked, or more that are followed by the primary goal. */
export const learningMeasures = ['CLICKS', 'GOAL'] as const;
export type LearningMeasure = (typeof learningMeasures)[number];

/** `floorPercent`: the minimum percent of each variation. */
export type Learning = { by: LearningMeasure; floorPercent: number };

/** The measure that a run learns by, and a digest of the contents that it learns about. */
export type RunLearning = { by: LearningMeasure; contentsDigest: string };

/** Returns null for a campaign that does not learn. The digest is included because other contents would have other rates. */
export function learningOf({ learning, locales, contents }: Variants): RunLearning | null {
  if (!learning) return null;
  return { by: learning.by, contentsDigest: hash('sha256', JSON.stringify([locales, contents])).slice(0, 32) };
}

/** The contents of a campaign that does not send the same one to all users. */
export type Variants = {
  /** `default` first, then language tags; empty: the campaign has one language. */
  locales: string[];
  /**
   * Percent of the users by variation, 100 in total. If the campaign learns, these are the shares before it has learned
   * anything.
   */
  percents: number[];
  /** Absent: the shares do not change. */
  learning?: Learning;
  /** By variation, then by locale. */
  contents: CampaignContent[][];
};

/**
 * Returns a function that gives the number of a user's variation. It is drawn by a hash, so it is the same in each run
 * and version of the campaign as long as its shares are.
 */
export function makeVariationOf(shares: readonly number[], canonicalCampaignId: string): (userId: string) => number {
  const bounds = variationBounds(shares);
  return (userId) => {
    const point = drawPoint('variation', { of: canonicalCampaignId, userId });
    return bounds.findIndex((bound) => point < bound) + 1;
  };
}

/** Returns the end of each variation's points (exclusive). Shares are whole numbers, relative to their sum. */
export function variationBounds(shares: readonly number[]): number[] {
  const sums = shares.map((_share, index) => shares.slice(0, index + 1).reduce((sum, share) => sum + share, 0));
  return sums.map((sum) => Math.floor((sum * pointCount) / sums.at(-1)!));
}

/** Returns the number of the locale for a user: the closest to the language, else the default; 0 if there is only one. */
export function chooseLocale(locales: readonly string[], known: KnownLanguages): number {
  if (locales.length === 0) return 0;
  const tag = closestTag((wanted) => wanted !== defaultLocale && locales.includes(wanted), known);
  return tag === undefined ? 1 : locales.indexOf(tag) + 1;
}

export function contentOfVariant({ contents }: Variants, { variation, locale }: Variant): CampaignContent {
  return contents[Math.max(0, variation - 1)]![Math.max(0, locale - 1)]!;
}

/** Returns the name of a locale in figures; empty if there is only one. */
export function localeName(locales: readonly string[] | undefined, { locale }: Pick<Variant, 'locale'>): string {
  return locales?.[locale - 1] ?? '';
}

/** Returns the variant's labels for a counter; empty if there is one content for all. */
export function countedVariant(
  locales: readonly string[] | undefined,
  variant: Variant | null | undefined,
): { variation?: number; locale?: string } {
  return variant ? { variation: variant.variation, locale: localeName(locales, variant) } : {};
}

/** The names that the console and files use for a variant; null if there is one for all. */
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

/** Returns every content with a display name. */
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

/** The content that a test or a preview requests. */
export type ShownVariant = {
  /** By number from 1; undefined: the first. */
  variation: number | undefined;
  /** As in the request; undefined: each user gets the content in their own language. */
  locale: string | undefined;
};

type Contents = { content: CampaignContent; variants: Variants | null };

/** Returns the contents of one variation, in one language or in all; or which of the two does not exist. */
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
  // It is the only locale, so it is the closest to every language.
  return { content: chosen, variants: { locales: [locales[place]!], percents: [100], contents: [[chosen]] } };
}
