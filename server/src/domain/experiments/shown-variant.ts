import type { CampaignContent } from '../campaigns/content.ts';
import { canonicalTag } from '../locales/language-tag.ts';
import { defaultLocale } from './variants.ts';
import type { Variants } from './variants.ts';

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
