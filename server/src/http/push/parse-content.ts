import { platforms as everyPlatform } from '../../domain/content/content.ts';
import type { AndroidContent, CampaignContent, DefaultAction, Platform } from '../../domain/content/content.ts';
import { readAndroidOptions, readIosOptions, readWebOptions, readLocales } from '../../domain/content/fields.ts';
import type { OwnContent } from '../../domain/content/texts.ts';
import type { RequestReader } from '../../domain/request-reader.ts';
import { readProviderOverrides, carriers, spreadOverrides } from '../../domain/content/overrides.ts';
import { maxGroupKeyCharacters, maxRichItems } from '../../domain/limits/push.ts';

const ownNames = new Map(everyPlatform.map((platform) => [platform as string, platform]));

export type ContentContext = {
  platforms: readonly Platform[];
  isSilent: boolean;
  /** Prefixes that may precede the names of our own keys, in lower case. */
  prefixes: readonly string[];
};

/** Parses `payload`: one entry for each targeted platform (fact 3.3). */
export function parseContent(body: RequestReader, { platforms, isSilent, prefixes }: ContentContext): CampaignContent {
  body.requires('payload');
  const payload = body.findPart('payload');
  if (!payload) return {};
  const content: CampaignContent = {};
  for (const platform of platforms) {
    if (payload.isAbsent(platform)) payload.invalid(platform, 'is required for this platform');
    const entry = payload.findPart(platform);
    if (!entry) continue;
    if (isSilent && platform === 'WEB') body.part('advancedSettings').invalid('silent', 'WEB cannot be silent');
    else if (isSilent) readSilent(content, { entry, platform });
    else if (platform === 'ANDROID') content.ANDROID = withFallback(parseAndroid, entry);
    else if (platform === 'IOS') content.IOS = withFallback(parseIos, entry);
    else content.WEB = withFallback(parseWeb, entry);
  }
  if (isSilent && !payload.isAbsent('locales')) payload.invalid('locales', 'cannot be in a silent message');
  else readLocales(content, { payload, names: ownNames });
  const { overrides, readsUser } = readProviderOverrides(payload, prefixes);
  spreadOverrides(content, { overrides, readsUser });
  const carrying = platforms.flatMap((platform) => carriers[platform]);
  for (const provider of Object.keys(overrides) as (keyof typeof overrides)[])
    if (!carrying.includes(provider)) payload.part('providerOverrides').warn(provider, 'has no effect here');
  return content;
}

/** Parses a silent message: only key-value pairs for the app, nothing to show. */
function readSilent(content: CampaignContent, { entry, platform }: { entry: RequestReader; platform: Platform }): void {
  for (const name of ['title', 'message'])
    if (!entry.isAbsent(name) && entry.get(name) !== '') entry.invalid(name, 'must be empty in a silent message');
  const { title: _title, message: _message, defaultAction: _action, ...others } = entry.members;
  const shown = entry.over(others);
  for (const name of shown.names()) if (!shown.isAbsent(name)) shown.invalid(name, 'cannot be in a silent message');
  const keyValuePairs = parsePairs(entry.part('defaultAction'));
  if (Object.keys(keyValuePairs).length === 0) entry.part('defaultAction').invalid('kvPairs', 'is required');
  const bare = { title: '', message: '', richContent: [], additionalActions: [] };
  const defaultAction = { type: 'navigation', value: '', keyValuePairs } as const;
  if (platform === 'ANDROID') content.ANDROID = { ...bare, defaultAction };
  else content.IOS = { ...bare, defaultAction, enableBadge: false };
}

/**
 * Parses content with its fallback. A fallback has the same members; missing ones come from the content. `{}` is not a
 * fallback.
 */
function withFallback<Content extends object>(
  parse: (entry: RequestReader) => Content,
  entry: RequestReader,
): Content & { fallback?: Content } {
  const content = parse(entry);
  const given = entry.findPart('fallback');
  const members = given?.sentMembers() ?? {};
  if (!given || Object.keys(members).length === 0) return content;
  const { fallback: _own, ...own } = entry.members;
  return { ...content, fallback: parse(given.over({ ...own, ...members })) };
}

function parseAndroid(entry: RequestReader): OwnContent['ANDROID'] {
  const summary = entry.over({ summary: entry.get('summary') ?? entry.members.Summary }).template('summary');
  const channelId = entry.plain('channel_id', 256);
  return {
    ...parseTexts(entry),
    ...(summary === undefined ? {} : { summary }),
    ...(channelId === undefined ? {} : { channelId }),
    ...parseKeys(entry),
    richContent: parseRichContent(entry, ['image', 'coupon', 'sound']),
    ...parseDefaultAction(entry),
    additionalActions: parseAndroidActions(entry),
    ...readAndroidOptions(entry),
  };
}

function parseIos(entry: RequestReader): OwnContent['IOS'] {
  const subtitle = entry.template('subtitle');
  const richContent = parseRichContent(entry, ['gif', 'coupon', 'sound', 'image', 'audio', 'video']);
  const media = richContent.filter(({ type }) => type === 'image' || type === 'audio' || type === 'video');
  if (media.length > 1) entry.invalid('richContent', 'may hold one of image, audio and video');
  const actions = entry.items('additionalActions', 1);
  const enableBadge = entry.flag('enableIosBadge') ?? false;
  return {
    ...parseTexts(entry),
    ...(subtitle === undefined ? {} : { subtitle }),
    ...parseKeys(entry),
    enableBadge,
    richContent,
    ...parseDefaultAction(entry),
    additionalActions: actions.names().map((index) => {
      const action = actions.part(index);
      action.plain('category');
      return { category: action.requiredText('category', 256) };
    }),
    ...readIosOptions(entry, { enablesBadge: enableBadge, hasCategory: actions.names().length > 0 }),
  };
}

function parseWeb(entry: RequestReader): OwnContent['WEB'] {
  const requiredUrl = (name: 'redirectURL' | 'iconURL'): string =>
    entry.requires(name) ? (entry.templateUrl(name, ['https:', 'http:']) ?? '') : '';
  const imageUrl = entry.templateUrl('imageURL', ['https:']);
  return {
    ...parseTexts(entry),
    redirectUrl: requiredUrl('redirectURL'),
    iconUrl: requiredUrl('iconURL'),
    ...(imageUrl === undefined ? {} : { imageUrl }),
    autoDismiss: entry.flag('autoDismiss') ?? false,
    ...readWebOptions(entry),
  };
}

function parseTexts(entry: RequestReader): { message: string; title: string } {
  return { message: entry.requiredTemplate('message'), title: entry.requiredTemplate('title') };
}

function parseKeys(entry: RequestReader): { groupKey?: string; collapseReplaceKey?: string } {
  const groupKey = normaliseGroupKey(entry.plain('groupKey'));
  const collapseReplaceKey = entry.template('collapseReplaceKey', 256);
  return {
    ...(groupKey === undefined ? {} : { groupKey }),
    ...(collapseReplaceKey === undefined ? {} : { collapseReplaceKey }),
  };
}

/**
 * Returns a key of at most 45 ASCII letters and digits; other letters, special characters and spaces are dropped
 * (fact 3.3).
 */
function normaliseGroupKey(text: string | undefined): string | undefined {
  const key = text?.replace(/[^A-Za-z0-9]/g, '').slice(0, maxGroupKeyCharacters);
  return key === '' ? undefined : key;
}

function parseRichContent<const Type extends string>(
  entry: RequestReader,
  types: readonly Type[],
): { type: Type; value: string }[] {
  const items = entry.items('richContent', maxRichItems);
  return items.names().flatMap((index) => {
    const item = items.part(index);
    item.requires('type');
    const type = item.choice('type', types);
    const value = item.requiredTemplate('value', 2_048);
    return type === undefined ? [] : [{ type, value }];
  });
}

function parseDefaultAction(entry: RequestReader): { defaultAction?: DefaultAction } {
  const action = entry.findPart('defaultAction');
  if (!action) return {};
  action.requires('type');
  const type = action.choice('type', ['richlanding', 'navigation', 'deeplinking']);
  const value = action.requiredTemplate('value', 2_048);
  const keyValuePairs = parsePairs(action);
  return type === undefined ? {} : { defaultAction: { type, value, keyValuePairs } };
}

function parsePairs(action: RequestReader): Record<string, string> {
  const keyValuePairs: Record<string, string> = {};
  const pairs = action.pairs('kvPairs');
  for (const name of pairs.names()) {
    // The names are validated too, and their faults are reported at the pairs.
    action.over({ kvPairs: name }).plain('kvPairs');
    keyValuePairs[name] = pairs.template(name) ?? '';
  }
  return keyValuePairs;
}

function parseAndroidActions(entry: RequestReader): AndroidContent['additionalActions'] {
  const actions = entry.items('additionalActions', 2);
  return actions.names().flatMap((index) => {
    const action = actions.part(index);
    action.requires('type');
    const type = action.choice('type', ['call', 'snooze', 'copy', 'share']);
    const name = action.template('name', 256) ?? '';
    const value = action.template('value', 2_048) ?? '';
    const iconUrl = action.templateUrl('iconURL', ['https:', 'http:']);
    return type === undefined ? [] : [{ type, name, value, ...(iconUrl === undefined ? {} : { iconUrl }) }];
  });
}
