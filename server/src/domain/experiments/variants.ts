import { hash } from 'node:crypto';
import type { CampaignContent } from '../content/content.ts';
import { closestTag, canonicalTag } from '../content/locales.ts';
import type { KnownLanguages } from '../content/locales.ts';
import { drawPoint, pointCount } from './control-groups.ts';

/** The locale of the content for users whose language has no content. */
export const defaultLocale = 'default';

/** The numbers, from 1, of the variation and the locale that a user gets; 0 if the campaign has only one. */
export type Variant = { variation: number; locale: number };

/** How a campaign compares its variations: by clicked messages, or by messages that are followed by the primary goal. */
export const learningMeasures = ['CLICKS', 'GOAL'] as const;
export type LearningMeasure = (typeof learningMeasures)[number];

/** `floorPercent`: the minimum share of each variation, in percent. */
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
   * Percent of the users by variation, 100 in total. If the campaign learns, it starts with these shares.
   */
  percents: number[];
  /** Absent: the shares do not change. */
  learning?: Learning;
  /** By variation, then by locale. */
  contents: CampaignContent[][];
};

/**
 * Returns a function that gives the number of a user's variation. The variation is drawn by a hash, so a user keeps it in
 * every run and version of the campaign until the shares change.
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

/** Returns the number of a user's locale: the closest to the user's language, else the default; 0 if there is only one. */
export function chooseLocale(locales: readonly string[], known: KnownLanguages): number {
  if (locales.length === 0) return 0;
  const tag = closestTag((wanted) => wanted !== defaultLocale && locales.includes(wanted), known);
  return tag === undefined ? 1 : locales.indexOf(tag) + 1;
}

export function contentOfVariant({ contents }: Variants, { variation, locale }: Variant): CampaignContent {
  return contents[Math.max(0, variation - 1)]![Math.max(0, locale - 1)]!;
}

/** Returns the name of a locale as statistics store it; empty if there is only one. */
export function localeName(locales: readonly string[] | undefined, { locale }: Pick<Variant, 'locale'>): string {
  return locales?.[locale - 1] ?? '';
}

/** Returns the variant's labels for a counter; no labels if all users get the same content. */
export function countedVariant(
  locales: readonly string[] | undefined,
  variant: Variant | null | undefined,
): { variation?: number; locale?: string } {
  return variant ? { variation: variant.variation, locale: localeName(locales, variant) } : {};
}

/** The names of a variant in the console and in files; null if all users get the same content. */
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

/** Returns the contents of one variation, in one language or in all, or reports which of the two is unknown. */
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
  const index = locales.findIndex((own) => own === name);
  const chosen = ofVariation[index];
  if (!chosen) return { unknown: 'locale' };
  // It is the only locale, so it is the closest to every language.
  return { content: chosen, variants: { locales: [locales[index]!], percents: [100], contents: [[chosen]] } };
}
