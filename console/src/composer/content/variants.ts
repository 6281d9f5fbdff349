import type { CampaignBody } from '@carillon/client';

/** One content of a campaign: a language, and a variation from 1. */
export type ShownContent = { locale: string; variation: number };

export const defaultLocale = 'default';
export const baseContent: ShownContent = { locale: defaultLocale, variation: 1 };

/** The limits of the server (domain/limits). */
export const maxVariations = 9;
export const maxLanguages = 50;

type Pushes = Record<string, { push?: unknown }>;
type Details = {
  no_of_variations?: number;
  distribution_type?: string;
  manual_distribution_percentage?: Record<string, number>;
  [name: string]: unknown;
};

const variationName = (variation: number) => `variation_${variation}`;

function contentOf(body: CampaignBody): Record<string, unknown> {
  return (body.campaign_content?.content ?? {}) as Record<string, unknown>;
}

function detailsOf(body: CampaignBody): Details {
  return (body.campaign_content?.variation_details ?? {}) as Details;
}

/** True if the campaign has one content for all users, without a language or variation in its path. */
function isFlat(body: CampaignBody): boolean {
  return contentOf(body)[defaultLocale] === undefined;
}

/** The path to the contents of the platforms. A content that the campaign does not have is replaced by the first one. */
export function pushPath(body: CampaignBody, shown: ShownContent = baseContent): string {
  if (isFlat(body)) return 'campaign_content.content.push';
  const { locale, variation } = nearestContent(body, shown);
  return `campaign_content.content.${locale}.${variationName(variation)}.push`;
}

export function nearestContent(body: CampaignBody, { locale, variation }: ShownContent): ShownContent {
  return {
    locale: localesOf(body).includes(locale) ? locale : defaultLocale,
    variation: variation <= variationCount(body) ? variation : 1,
  };
}

export function variationCount(body: CampaignBody): number {
  const count = Number(detailsOf(body).no_of_variations ?? 1);
  return Number.isInteger(count) && count >= 1 ? count : 1;
}

/** The languages of the campaign's contents, `default` first. */
export function localesOf(body: CampaignBody): string[] {
  if (isFlat(body)) return [defaultLocale];
  const others = Object.keys(contentOf(body)).filter((name) => name !== defaultLocale && name !== 'push');
  return [defaultLocale, ...others.sort((one, other) => one.localeCompare(other))];
}

/** Every content of the campaign, the first one first. */
export function allContents(body: CampaignBody): ShownContent[] {
  const variations = Array.from({ length: variationCount(body) }, (_, index) => index + 1);
  return localesOf(body).flatMap((locale) => variations.map((variation) => ({ locale, variation })));
}

/** The share of each variation in percent; undefined if the shares are learned. */
export function sharesOf(body: CampaignBody): number[] | undefined {
  const { distribution_type: type = 'MANUAL', manual_distribution_percentage: shares = {} } = detailsOf(body);
  if (type.toUpperCase() === 'SHERPA') return undefined;
  return Array.from({ length: variationCount(body) }, (_, index) => Number(shares[variationName(index + 1)] ?? 0));
}

type Changes = Record<string, unknown>;

/** Adds a variation to every language, as a copy of the first one, with equal shares. */
export function addVariation(body: CampaignBody): Changes {
  const count = variationCount(body) + 1;
  const content = mapLocales(body, (pushes) => ({ ...pushes, [variationName(count)]: { ...pushes.variation_1 } }));
  return written(body, { content, count });
}

/** Removes a variation from every language. The later ones move up. */
export function removeVariation(body: CampaignBody, variation: number): Changes {
  const count = variationCount(body) - 1;
  const content = mapLocales(body, (pushes) => {
    const left = Array.from({ length: count + 1 }, (_, index) => index + 1).filter((one) => one !== variation);
    return Object.fromEntries(left.map((one, index) => [variationName(index + 1), pushes[variationName(one)] ?? {}]));
  });
  return written(body, { content, count });
}

/** Adds a language with a copy of the default texts in every variation. */
export function addLanguage(body: CampaignBody, tag: string): Changes {
  const content = mapLocales(body, (pushes) => pushes);
  return written(body, { content: { ...content, [tag]: content[defaultLocale]! }, count: variationCount(body) });
}

export function removeLanguage(body: CampaignBody, tag: string): Changes {
  const { [tag]: _removed, ...content } = mapLocales(body, (pushes) => pushes);
  return written(body, { content, count: variationCount(body) });
}

/** Fixes the share of each variation, or has them learned from clicks or from the primary goal. */
export function ofShares(shares: readonly number[] | { learnedFrom: 'CLICKS' | 'GOAL' }): Changes {
  const at = 'campaign_content.variation_details';
  if (!('learnedFrom' in shares))
    return {
      [`${at}.distribution_type`]: 'MANUAL',
      [`${at}.manual_distribution_percentage`]: named(shares),
      [`${at}.sherpa_metric`]: undefined,
      [`${at}.sherpa_minimum_percentage`]: undefined,
    };
  return {
    [`${at}.distribution_type`]: 'SHERPA',
    [`${at}.sherpa_metric`]: shares.learnedFrom,
    [`${at}.manual_distribution_percentage`]: undefined,
  };
}

/** Equal shares in whole percents; the first ones get what does not divide. */
export function equalShares(count: number): number[] {
  return Array.from({ length: count }, (_, index) => Math.floor(100 / count) + (index < 100 % count ? 1 : 0));
}

function named(shares: readonly number[]): Record<string, number> {
  return Object.fromEntries(shares.map((share, index) => [variationName(index + 1), share]));
}

/** Returns the contents by language, with each language's variations changed. */
function mapLocales(body: CampaignBody, change: (pushes: Pushes) => Pushes): Record<string, Pushes> {
  const content = contentOf(body);
  const locales = isFlat(body)
    ? { [defaultLocale]: { variation_1: { push: content.push ?? {} } } }
    : (content as Record<string, Pushes>);
  return Object.fromEntries(Object.entries(locales).map(([locale, pushes]) => [locale, change(pushes)]));
}

/** One content alone is written without a language and a variation, as a new campaign is. */
function written(body: CampaignBody, { content, count }: { content: Record<string, Pushes>; count: number }): Changes {
  const locales = Object.keys(content);
  const isSingle = count === 1 && locales.length === 1;
  const { no_of_variations: _count, manual_distribution_percentage: _shares, ...details } = detailsOf(body);
  const present = sharesOf(body);
  // A language changes nothing about the shares. Another number of variations needs other ones.
  const kept = count === variationCount(body) ? present : equalShares(count);
  const shares = present === undefined || kept === undefined ? {} : { manual_distribution_percentage: named(kept) };
  return {
    'campaign_content.content': isSingle ? { push: content[defaultLocale]?.variation_1?.push ?? {} } : content,
    'campaign_content.locales': locales.length === 1 ? undefined : locales,
    'campaign_content.variation_details':
      count === 1 ? undefined : { distribution_type: 'MANUAL', ...details, no_of_variations: count, ...shares },
  };
}
