import { openPart, part, record, texts, whole, withTitle, word } from '../../fields/combinators.ts';
import { reading } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import type { CampaignContent, Platform } from '../content/content.ts';
import { canonicalTag } from '../content/locales.ts';
import { defaultLocale, learningMeasures, variationName } from '../experiments/variants.ts';
import type { Variants } from '../experiments/variants.ts';
import { maxVariations } from '../limits/campaigns.ts';
import { maxLocales } from '../limits/push.ts';
import { pushContent, readPush } from './push-content.ts';

const percentOfVariation = whole(0, 100);

const variationDetails = part({
  no_of_variations: whole(1, maxVariations),
  distribution_type: word(['MANUAL', 'SHERPA'], 'MANUAL or SHERPA: learned'),
  sherpa_metric: word(learningMeasures, 'CLICKS, or GOAL: the primary goal'),
  sherpa_minimum_percentage: whole(0, 50, 'Minimum share of each variation'),
  manual_distribution_percentage: record(percentOfVariation, 'Percent of the users by variation, 100 together'),
});

const variations = withTitle(record(part({ push: pushContent }), 'variation_1, variation_2 …'), 'CampaignVariations');

/** `campaign_content` of a push (fact 6.2): the contents, and which users get which. */
export const campaignContent = part(
  {
    locales: texts({ maxItems: maxLocales + 1, maxCharacters: 100 }),
    variation_details: variationDetails,
    content: openPart(
      { push: pushContent, default: variations },
      {
        others: variations,
        description: '`push`, or `push` below each locale (`default` and language tags) and each variation',
      },
    ),
  },
  { title: 'CampaignContent' },
);

/** Reads the contents for the target platforms. */
export function readCampaignContent(part: RequestReader, targets: readonly Platform[]): ReadVariants {
  part.requires('content');
  return readVariants(part, (push, { isLocalized }) => readPush(push, { targets, isLocalized }));
}

/** Reads the content of one push. */
type ReadPush = (push: RequestReader, place: { isLocalized: boolean }) => CampaignContent;

type ReadVariants = { content: CampaignContent; variants: Variants | null };

/**
 * Reads the contents of `campaign_content` (fact 6.2): one push, or `content[locale][variation_n].push` for each of `locales`
 * and of the variations. Every locale has every variation, so that no variation reaches fewer users than were drawn for it.
 */
function readVariants(part: RequestReader, readPush: ReadPush): ReadVariants {
  const content = part.part('content');
  const { percents, ...learning } = readShares(part.part('variation_details'));
  const isFlat = content.get('push') !== undefined || content.names().length === 0;
  const locales = readLocaleNames(part, isFlat ? [defaultLocale] : content.names());
  if (isFlat) {
    if (percents.length > 1) part.part('variation_details').invalid('no_of_variations', 'must be 1 for content.push');
    if (locales.length > 1) part.invalid('locales', 'must hold only default for content.push');
    return { content: readPush(content.part('push'), { isLocalized: false }), variants: null };
  }
  const isLocalized = locales.length > 1;
  const byLocale = locales.map(({ name }) => {
    const locale = content.part(name);
    for (const other of locale.names())
      if (!percents.some((_percent, index) => other === variationName(index + 1)))
        locale.invalid(
          other,
          `must be ${variationName(1)}${percents.length > 1 ? ` to ${variationName(percents.length)}` : ''}`,
        );
    return percents.map((_percent, index) => {
      const variation = locale.part(variationName(index + 1));
      variation.requires('push');
      return readPush(variation.part('push'), { isLocalized });
    });
  });
  const contents = percents.map((_percent, variation) => byLocale.map((ofLocale) => ofLocale[variation]!));
  const variants = { locales: isLocalized ? locales.map(({ tag }) => tag) : [], percents, contents, ...learning };
  return { content: contents[0]![0]!, variants: isLocalized || percents.length > 1 ? variants : null };
}

type LocaleName = { name: string; tag: string };

/** Returns the locales with content, `default` first. `locales` may list them again. */
function readLocaleNames(part: RequestReader, names: readonly string[]): LocaleName[] {
  const content = part.part('content');
  const found = new Map<string, string>();
  for (const name of names) {
    const tag = tagOf(name);
    if (tag === undefined) content.invalid(name, 'must be push, default, or a language tag');
    else if (found.has(tag)) content.invalid(name, 'is given twice');
    else found.set(tag, name);
  }
  if (found.size > maxLocales + 1) part.invalid('content', `must have at most ${maxLocales} languages`);
  const listed = campaignContent.members.locales.read(part, 'locales');
  const tags = new Set(listed?.map((name) => tagOf(name) ?? name));
  if (listed !== undefined && (tags.size !== found.size || [...found.keys()].some((tag) => !tags.has(tag))))
    part.invalid('locales', 'must name the locales of content, and no others');
  const base = { name: found.get(defaultLocale) ?? defaultLocale, tag: defaultLocale };
  found.delete(defaultLocale);
  return [base, ...[...found].map(([tag, name]) => ({ name, tag }))];
}

function tagOf(name: string): string | undefined {
  return name.toLowerCase() === defaultLocale ? defaultLocale : canonicalTag(name);
}

const defaultFloorPercent = 5;

type Shares = Pick<Variants, 'percents' | 'learning'>;

/** Reads `variation_details`: the number of variations, and the share of each or the measure from which it is learned. */
function readShares(details: RequestReader): Shares {
  const read = reading(details, variationDetails.members);
  const count = read('no_of_variations') ?? 1;
  if (read('distribution_type') === 'SHERPA') return readLearning(details, count);
  for (const name of details.names())
    if (name.startsWith('sherpa_') && !details.isAbsent(name)) details.invalid(name, 'needs distribution_type SHERPA');
  return { percents: readPercents(details, count) };
}

/** The interface documents only the word SHERPA; its members are our extension. */
function readLearning(details: RequestReader, count: number): Shares {
  if (count < 2) details.invalid('no_of_variations', `must be 2 to ${maxVariations} with distribution_type SHERPA`);
  if (!details.isAbsent('manual_distribution_percentage'))
    details.invalid('manual_distribution_percentage', 'cannot be combined with distribution_type SHERPA');
  for (const name of details.names())
    if (name.startsWith('sherpa_') && !Object.hasOwn(variationDetails.members, name)) details.refuse(name);
  const by = variationDetails.members.sherpa_metric.read(details, 'sherpa_metric') ?? 'CLICKS';
  const maximum = Math.floor(100 / count);
  const floorPercent = details.integer('sherpa_minimum_percentage', { minimum: 0, maximum }) ?? defaultFloorPercent;
  const percents = Array.from({ length: count }, () => maximum);
  percents[0]! += 100 % count;
  return { percents, learning: { by, floorPercent } };
}

function readPercents(details: RequestReader, count: number): number[] {
  const share = details.part('manual_distribution_percentage');
  const names = Array.from({ length: count }, (_, index) => variationName(index + 1));
  for (const name of share.names())
    if (!names.includes(name))
      share.invalid(name, `must be ${names.length > 1 ? `one of ${names.join(', ')}` : names[0]}`);
  if (count === 1 && share.names().length === 0) return [100];
  if (count > 1) details.requires('manual_distribution_percentage');
  const percents = names.map((name) => {
    share.requires(name);
    return percentOfVariation.read(share, name) ?? 0;
  });
  const sum = percents.reduce((all, percent) => all + percent, 0);
  if (share.names().length > 0 && sum !== 100)
    details.invalid('manual_distribution_percentage', 'must be 100 together');
  return percents;
}
