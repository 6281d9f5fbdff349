import {
  choice,
  flagOrText,
  list,
  part,
  partAs,
  partial,
  plain,
  readWith,
  record,
  required,
  requiredTemplate,
  requiredText,
  template,
  templateUrl,
  text,
  word,
} from '../../fields/combinators.ts';
import { reading, withoutAbsent } from '../../fields/field.ts';
import type { Fields } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import {
  androidOptions,
  iosOptions,
  platforms as everyPlatform,
  readIosOptions,
  webOptions,
} from '../../domain/content/content.ts';
import type {
  AndroidContent,
  CampaignContent,
  DefaultAction,
  IosContent,
  Platform,
  WebContent,
} from '../../domain/content/content.ts';
import { pushLocales, readLocales, readSummary } from '../../domain/content/locales.ts';
import { carriers, providerOverrides, readProviderOverrides, spreadOverrides } from '../../domain/content/overrides.ts';
import type { OwnContent } from '../../domain/content/texts.ts';
import { maxGroupKeyCharacters, maxRichItems } from '../../domain/limits/push.ts';

const maxKey = 256;
const maxValue = 2_048;
const webSchemes = ['https:', 'http:'];

const shownMembers = { message: requiredTemplate(), title: requiredTemplate() };

const keyValuePairs = readWith<Record<string, string>>(record(text()), (action, name) => {
  const found: Record<string, string> = {};
  const pairs = action.pairs(name);
  for (const key of pairs.names()) {
    // The names are validated too, and their faults are reported at the pairs.
    action.over({ [name]: key }).plain(name);
    found[key] = pairs.template(key) ?? '';
  }
  return found;
});

const defaultAction = partAs(
  {
    type: required(choice(['richlanding', 'navigation', 'deeplinking'])),
    value: requiredTemplate({ max: maxValue }),
    kvPairs: keyValuePairs,
  },
  {
    title: 'PushDefaultAction',
    read(_action, read): DefaultAction | undefined {
      const type = read('type');
      const value = read('value');
      const pairs = read('kvPairs') ?? {};
      return type && { type, value, keyValuePairs: pairs };
    },
  },
);

function richContent<const Type extends string>(types: readonly Type[]) {
  const members = { type: required(word(types)), value: requiredTemplate({ max: maxValue }) };
  const item = partAs(members, {
    read(item, read): { type: Type; value: string } | undefined {
      // Clients send kinds of media that this service does not have; the message is worth more without them than not at all.
      if (item.rules.dropsUnknownMedia && isOtherWord(item, types)) {
        item.warn('type', 'is unknown, so the item is left out');
        return undefined;
      }
      const type = read('type');
      const value = read('value');
      return type && { type, value };
    },
  });
  return list(item, { max: maxRichItems });
}

function isOtherWord(item: RequestReader, words: readonly string[]): boolean {
  const type = item.get('type');
  return typeof type === 'string' && !words.some((word) => item.rules.isChoice(type, word));
}

const androidAction = partAs(
  {
    type: required(word(['call', 'snooze', 'copy', 'share'])),
    value: template({ max: maxValue }),
    name: template({ max: maxKey }),
    iconURL: templateUrl(webSchemes),
  },
  {
    read(_action, read): AndroidContent['additionalActions'][number] | undefined {
      const type = read('type');
      const name = read('name') ?? '';
      const value = read('value') ?? '';
      const iconUrl = read('iconURL');
      return type && { type, name, value, ...(iconUrl === undefined ? {} : { iconUrl }) };
    },
  },
);

/** The members of a content on the wire (fact 3.3). A fallback has the same. */
const androidMembers = {
  ...shownMembers,
  summary: template(),
  Summary: template({ description: 'Older spelling of summary' }),
  channel_id: plain({ max: maxKey, description: 'Android notification channel' }),
  groupKey: plain({ description: 'At most 45 ASCII characters are kept' }),
  collapseReplaceKey: template({ max: maxKey, description: 'The same key updates the earlier notification' }),
  richContent: richContent(['image', 'coupon', 'sound']),
  defaultAction,
  additionalActions: list(androidAction, { maxItems: 2 }),
  options: androidOptions,
};

const category = partAs(
  { category: requiredText({ max: maxKey }) },
  {
    read(action, read) {
      action.plain('category');
      return { category: read('category') };
    },
  },
);
const maxCategories = 1;

const iosMembers = {
  ...shownMembers,
  subtitle: template(),
  groupKey: plain(),
  collapseReplaceKey: template({ max: maxKey }),
  enableIosBadge: flagOrText(),
  richContent: richContent(['gif', 'coupon', 'sound', 'image', 'audio', 'video']),
  defaultAction,
  additionalActions: list(category, { maxItems: maxCategories }),
  options: iosOptions,
};

const webMembers = {
  ...shownMembers,
  redirectURL: templateUrl(webSchemes, 'Absent: a click opens the site'),
  iconURL: templateUrl(webSchemes, "Absent: the browser's own icon"),
  imageURL: templateUrl(['https:'], 'https'),
  autoDismiss: flagOrText(),
  options: webOptions,
};

/** `payload`: one entry for each targeted platform. */
export const payload = part({
  ANDROID: withFallback(androidMembers, { title: 'PushAndroidContent', parse: parseAndroid }),
  IOS: withFallback(iosMembers, { title: 'PushIosContent', parse: parseIos }),
  WEB: withFallback(webMembers, { title: 'PushWebContent', parse: parseWeb }),
  locales: pushLocales,
  providerOverrides,
});

type ContentPart<Own> = { title: string; parse: (entry: RequestReader) => Own };

/**
 * A content with its fallback. A fallback has the same members; missing ones come from the content. `{}` is not a fallback.
 */
function withFallback<Own extends object>(members: Fields, { title, parse }: ContentPart<Own>) {
  const fallback = partial(part(members));
  return partAs(
    { ...members, fallback },
    {
      title,
      read(entry): Own & { fallback?: Own } {
        const content = parse(entry);
        const given = entry.findPart('fallback');
        const sent = given?.sentMembers() ?? {};
        if (!given || Object.keys(sent).length === 0) return content;
        const { fallback: _own, ...own } = entry.members;
        return { ...content, fallback: parse(given.over({ ...own, ...sent })) };
      },
    },
  );
}

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
  const entries = body.findPart('payload');
  if (!entries) return {};
  const content: CampaignContent = {};
  for (const platform of platforms) {
    if (entries.isAbsent(platform)) entries.invalid(platform, 'is required for this platform');
    const entry = entries.findPart(platform);
    if (!entry) continue;
    if (isSilent && platform === 'WEB') body.part('advancedSettings').invalid('silent', 'WEB cannot be silent');
    else if (isSilent) readSilent(content, { entry, platform });
    else if (platform === 'ANDROID') content.ANDROID = payload.members.ANDROID.readIn(entry)!;
    else if (platform === 'IOS') content.IOS = payload.members.IOS.readIn(entry)!;
    else content.WEB = payload.members.WEB.readIn(entry)!;
  }
  if (isSilent && !entries.isAbsent('locales')) entries.invalid('locales', 'cannot be in a silent message');
  else readLocales(content, { payload: entries, names: ownNames });
  const { overrides, readsUser } = readProviderOverrides(entries, prefixes);
  spreadOverrides(content, { overrides, readsUser });
  const carrying = platforms.flatMap((platform) => carriers[platform]);
  for (const provider of Object.keys(overrides) as (keyof typeof overrides)[])
    if (!carrying.includes(provider)) entries.part('providerOverrides').warn(provider, 'has no effect here');
  return content;
}

/** Parses a silent message: only key-value pairs for the app, nothing to show. */
function readSilent(content: CampaignContent, { entry, platform }: { entry: RequestReader; platform: Platform }): void {
  for (const name of ['title', 'message'])
    if (!entry.isAbsent(name) && entry.get(name) !== '') entry.invalid(name, 'must be empty in a silent message');
  const { title: _title, message: _message, defaultAction: _action, ...others } = entry.members;
  const shown = entry.over(others);
  for (const name of shown.names()) if (!shown.isAbsent(name)) shown.invalid(name, 'cannot be in a silent message');
  const pairs = keyValuePairs.read(entry.part('defaultAction'), 'kvPairs') ?? {};
  if (Object.keys(pairs).length === 0) entry.part('defaultAction').invalid('kvPairs', 'is required');
  const bare = { title: '', message: '', richContent: [], additionalActions: [] };
  const action = { type: 'navigation', value: '', keyValuePairs: pairs } as const;
  if (platform === 'ANDROID') content.ANDROID = { ...bare, defaultAction: action };
  else content.IOS = { ...bare, defaultAction: action, enableBadge: false };
}

function parseAndroid(entry: RequestReader): OwnContent['ANDROID'] {
  const read = reading(entry, androidMembers);
  const summary = readSummary(entry);
  const channelId = read('channel_id');
  return {
    ...parseTexts(entry),
    ...withoutAbsent<Pick<AndroidContent, 'summary' | 'channelId'>>({ summary, channelId }),
    ...parseKeys(entry),
    richContent: read('richContent') ?? [],
    ...parseDefaultAction(entry),
    additionalActions: read('additionalActions') ?? [],
    ...withoutAbsent<Pick<AndroidContent, 'options'>>({ options: read('options') }),
  };
}

function parseIos(entry: RequestReader): OwnContent['IOS'] {
  const read = reading(entry, iosMembers);
  const subtitle = read('subtitle');
  const media = ['image', 'audio', 'video'];
  const items = read('richContent') ?? [];
  if (items.filter(({ type }) => media.includes(type)).length > 1)
    entry.invalid('richContent', 'may hold one of image, audio and video');
  const actions = entry.items('additionalActions', maxCategories);
  const enableBadge = read('enableIosBadge') ?? false;
  const neighbours = { enablesBadge: enableBadge, hasCategory: actions.names().length > 0 };
  return {
    ...parseTexts(entry),
    ...withoutAbsent<Pick<IosContent, 'subtitle'>>({ subtitle }),
    ...parseKeys(entry),
    enableBadge,
    richContent: items,
    ...parseDefaultAction(entry),
    additionalActions: actions.names().map((index) => category.readIn(actions.part(index))!),
    ...withoutAbsent<Pick<IosContent, 'options'>>({ options: readIosOptions(entry, neighbours) }),
  };
}

function parseWeb(entry: RequestReader): OwnContent['WEB'] {
  const read = reading(entry, webMembers);
  const imageUrl = read('imageURL');
  return {
    ...parseTexts(entry),
    redirectUrl: read('redirectURL') ?? '',
    iconUrl: read('iconURL') ?? '',
    ...withoutAbsent<Pick<WebContent, 'imageUrl'>>({ imageUrl }),
    autoDismiss: read('autoDismiss') ?? false,
    ...withoutAbsent<Pick<WebContent, 'options'>>({ options: read('options') }),
  };
}

function parseTexts(entry: RequestReader): { message: string; title: string } {
  const read = reading(entry, shownMembers);
  return { message: read('message'), title: read('title') };
}

function parseKeys(entry: RequestReader): { groupKey?: string; collapseReplaceKey?: string } {
  const read = reading(entry, androidMembers);
  const groupKey = normaliseGroupKey(read('groupKey'));
  return withoutAbsent({ groupKey, collapseReplaceKey: read('collapseReplaceKey') });
}

/**
 * Returns a key of at most 45 ASCII letters and digits; other letters, special characters and spaces are dropped
 * (fact 3.3).
 */
function normaliseGroupKey(text: string | undefined): string | undefined {
  const key = text?.replace(/[^A-Za-z0-9]/g, '').slice(0, maxGroupKeyCharacters);
  return key === '' ? undefined : key;
}

function parseDefaultAction(entry: RequestReader): { defaultAction?: DefaultAction } {
  return withoutAbsent({ defaultAction: defaultAction.read(entry, 'defaultAction') });
}
