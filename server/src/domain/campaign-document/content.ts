import { withoutAbsent } from '../../fields/field.ts';
import { androidOptions, platforms, readIosOptions, webOptions } from '../content/content.ts';
import type {
  AndroidContent,
  CampaignContent,
  DefaultAction,
  IosContent,
  Platform,
  WebContent,
} from '../content/content.ts';
import { canonicalTag, readLocales } from '../content/locales.ts';
import { readProviderOverrides, spreadOverrides } from '../content/overrides.ts';
import type { OwnContent } from '../content/texts.ts';
import { defaultLocale, learningMeasures, variationName } from '../experiments/variants.ts';
import type { Variants } from '../experiments/variants.ts';
import { maxLocales, maxGroupKeyCharacters } from '../limits/push.ts';
import { maxVariations } from '../limits/campaigns.ts';
import type { RequestReader } from '../../fields/request-reader.ts';

const documentNames = new Map(platforms.map((platform) => [platform.toLowerCase(), platform]));

/** Reads `campaign_content` of a push (fact 6.2): the contents, and which users get which. */
export function readPushContent(part: RequestReader, targets: readonly Platform[]): ReadVariants {
  part.requires('content');
  return readVariants(part, (push, { isLocalized }) => readPush(push, { targets, isLocalized }));
}

type Reading = { targets: readonly Platform[]; isLocalized: boolean };

function readPush(push: RequestReader, { targets, isLocalized }: Reading): CampaignContent {
  const content: CampaignContent = {};
  for (const platform of platforms) {
    const name = platform.toLowerCase();
    // A draft may have content before it has platforms.
    if (targets.length === 0 && push.get(name) === undefined) continue;
    if (targets.length > 0 && !targets.includes(platform)) {
      if (push.get(name) !== undefined) push.invalid(name, 'is not among basic_details.platforms');
      continue;
    }
    if (!push.requires(name)) continue;
    if (platform === 'ANDROID') content.ANDROID = withBackup(readAndroidContent, push.part(name));
    else if (platform === 'IOS') content.IOS = withBackup(readIosContent, push.part(name));
    else content.WEB = withBackup(readWebContent, push.part(name));
  }
  if (isLocalized && !push.isAbsent('locales')) push.invalid('locales', 'cannot stand beside campaign_content.locales');
  else readLocales(content, { payload: push, names: documentNames });
  spreadOverrides(content, readProviderOverrides(push, []));
  return content;
}

/** Reads a content and its fallback, which is shown when the personalisation of the content fails for a user. */
function withBackup<Content extends object>(
  read: (part: RequestReader) => Content,
  part: RequestReader,
): Content & { fallback?: Content } {
  const content = read(part);
  if (part.get('template_backup') === undefined) return content;
  const backup = part.part('template_backup');
  backup.refuse('template_backup');
  return { ...content, fallback: read(backup) };
}

const maxKey = 256;

/** Rejects layouts other than BASIC, and their members. */
function refuseLayouts(part: RequestReader): void {
  part.choice('template_type', ['BASIC']);
  part.refuse('custom_template_id', 'custom_template_version', 'timer');
}

function readAndroidContent(part: RequestReader): OwnContent['ANDROID'] {
  refuseLayouts(part);
  const [details, advanced] = [part.part('basic_details'), part.part('advanced')];
  details.refuse('input_gif_url');
  advanced.only(false, 'make_notification_sticky');
  advanced.refuse('auto_dismiss_notification');
  const summary = details.template('summary');
  const channelId = details.plain('notification_channel', maxKey);
  return {
    ...readTexts(details),
    ...(summary === undefined ? {} : { summary }),
    ...(channelId === undefined ? {} : { channelId }),
    ...readKeys(advanced),
    richContent: [
      ...item('image', details.templateUrl('image_url', ['https:', 'http:'])),
      ...item('coupon', advanced.template('coupon_code', 2_048)),
      ...item('sound', advanced.template('sound_file', 2_048)),
    ],
    ...readDefaultAction(details),
    additionalActions: part.parts('buttons', 2).flatMap((button) => {
      button.requires('click_action_type');
      const type = button.choice('click_action_type', ['call', 'snooze', 'copy', 'share']);
      const iconUrl = button.templateUrl('icon_url', ['https:', 'http:']);
      const name = button.requiredTemplate('btn_name', maxKey);
      const value = button.template('click_action_value', 2_048) ?? '';
      return type === undefined ? [] : [{ type, name, value, ...(iconUrl === undefined ? {} : { iconUrl }) }];
    }),
    ...withoutAbsent<Pick<AndroidContent, 'options'>>({ options: androidOptions.read(part, 'options') }),
  };
}

const mediaTypes = { Image: 'image', GIF: 'gif', Video: 'video', Audio: 'audio' } as const;

function readIosContent(part: RequestReader): OwnContent['IOS'] {
  refuseLayouts(part);
  const [details, advanced] = [part.part('basic_details'), part.part('advanced')];
  details.only(false, 'allow_bg_refresh');
  const subtitle = details.template('subtitle');
  const media = details.choice('rich_media_type', Object.keys(mediaTypes) as (keyof typeof mediaTypes)[]);
  const mediaUrl = details.templateUrl('rich_media_value', ['https:', 'http:']);
  const enableBadge = advanced.flag('enable_ios_badge') ?? false;
  const additionalActions = part
    .parts('buttons', 1)
    .map((button) => ({ category: button.requiredPlain('button_category', maxKey) }));
  if ((media === undefined) !== (mediaUrl === undefined))
    details.requires(media === undefined ? 'rich_media_type' : 'rich_media_value');
  return {
    ...readTexts(details),
    ...(subtitle === undefined ? {} : { subtitle }),
    ...readKeys(advanced),
    enableBadge,
    richContent: [
      ...(media === undefined ? [] : item(mediaTypes[media], mediaUrl)),
      ...item('coupon', advanced.template('coupon_code', 2_048)),
      ...item('sound', advanced.template('sound_file', 2_048)),
    ],
    ...readDefaultAction(details),
    additionalActions,
    ...withoutAbsent<Pick<IosContent, 'options'>>({
      options: readIosOptions(part, { enablesBadge: enableBadge, hasCategory: additionalActions.length > 0 }),
    }),
  };
}

function readWebContent(part: RequestReader): OwnContent['WEB'] {
  refuseLayouts(part);
  part.refuse('buttons');
  const [details, advanced] = [part.part('basic_details'), part.part('advanced')];
  // DEFAULT is not accepted, because a workspace has no icon.
  advanced.choice('icon_image_type', ['ICON_URL']);
  details.requires('redirect_url');
  advanced.requires('icon_url');
  const imageUrl = details.templateUrl('image_url', ['https:']);
  return {
    ...readTexts(details),
    redirectUrl: details.templateUrl('redirect_url', ['https:', 'http:']) ?? '',
    iconUrl: advanced.templateUrl('icon_url', ['https:', 'http:']) ?? '',
    ...(imageUrl === undefined ? {} : { imageUrl }),
    autoDismiss: details.flag('auto_dismiss_notification') ?? false,
    ...withoutAbsent<Pick<WebContent, 'options'>>({ options: webOptions.read(part, 'options') }),
  };
}

function readTexts(details: RequestReader): { message: string; title: string } {
  return { message: details.requiredTemplate('message'), title: details.requiredTemplate('title') };
}

function readKeys(advanced: RequestReader): { groupKey?: string; collapseReplaceKey?: string } {
  // At most 45 ASCII letters and digits; other letters, specials and spaces are dropped (fact 3.3).
  const groupKey = advanced
    .plain('group_key')
    ?.replace(/[^A-Za-z0-9]/g, '')
    .slice(0, maxGroupKeyCharacters);
  const collapseReplaceKey = advanced.template('collapse_replace_key', maxKey);
  return {
    ...(groupKey === undefined || groupKey === '' ? {} : { groupKey }),
    ...(collapseReplaceKey === undefined ? {} : { collapseReplaceKey }),
  };
}

function item<Type extends string>(type: Type, value: string | undefined): { type: Type; value: string }[] {
  return value === undefined ? [] : [{ type, value }];
}

const actionTypes = {
  RICH_LANDING: 'richlanding',
  NAVIGATE_TO_A_SCREEN: 'navigation',
  DEEPLINKING: 'deeplinking',
} as const;

/** Reads the action of a click with its value and key-value pairs, which both require an action. */
function readDefaultAction(details: RequestReader): { defaultAction?: DefaultAction } {
  const words = Object.keys(actionTypes) as (keyof typeof actionTypes)[];
  const word = details.choice('default_click_action', words);
  const value = details.template('default_click_action_value', 2_048);
  const keyValuePairs: Record<string, string> = {};
  for (const pair of details.parts('key_value_pairs', 100)) {
    const key = pair.requiredPlain('key', 256);
    if (Object.hasOwn(keyValuePairs, key)) pair.invalid('key', 'appears twice');
    keyValuePairs[key] = pair.template('value') ?? '';
  }
  if (word === undefined) {
    for (const name of ['default_click_action_value', 'key_value_pairs'])
      if (details.get(name) !== undefined) details.invalid(name, 'needs default_click_action');
    return {};
  }
  if (value === undefined) details.requires('default_click_action_value');
  return { defaultAction: { type: actionTypes[word], value: value ?? '', keyValuePairs } };
}

/** Reads the content of one push. */
export type ReadPush = (push: RequestReader, place: { isLocalized: boolean }) => CampaignContent;

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
  const listed = part.texts('locales', { maxItems: maxLocales + 1, maxCharacters: 100 });
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
  const count = details.integer('no_of_variations', { minimum: 1, maximum: maxVariations }) ?? 1;
  const type = details.isAbsent('distribution_type')
    ? 'MANUAL'
    : details.choice('distribution_type', ['MANUAL', 'SHERPA']);
  if (type === 'SHERPA') return readLearning(details, count);
  for (const name of details.names())
    if (name.startsWith('sherpa_') && !details.isAbsent(name)) details.invalid(name, 'needs distribution_type SHERPA');
  return { percents: readPercents(details, count) };
}

/** The interface documents only the word SHERPA; its members are our extension. */
function readLearning(details: RequestReader, count: number): Shares {
  if (count < 2) details.invalid('no_of_variations', `must be 2 to ${maxVariations} with distribution_type SHERPA`);
  if (!details.isAbsent('manual_distribution_percentage'))
    details.invalid('manual_distribution_percentage', 'cannot stand beside distribution_type SHERPA');
  for (const name of details.names())
    if (name.startsWith('sherpa_') && !['sherpa_metric', 'sherpa_minimum_percentage'].includes(name))
      details.refuse(name);
  const by = details.isAbsent('sherpa_metric')
    ? 'CLICKS'
    : (details.choice('sherpa_metric', learningMeasures) ?? 'CLICKS');
  const floorPercent =
    details.integer('sherpa_minimum_percentage', { minimum: 0, maximum: Math.floor(100 / count) }) ??
    defaultFloorPercent;
  const percents = Array.from({ length: count }, () => Math.floor(100 / count));
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
    return share.integer(name, { minimum: 0, maximum: 100 }) ?? 0;
  });
  const sum = percents.reduce((all, percent) => all + percent, 0);
  if (share.names().length > 0 && sum !== 100)
    details.invalid('manual_distribution_percentage', 'must be 100 together');
  return percents;
}
