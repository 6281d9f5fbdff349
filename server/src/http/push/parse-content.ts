import type {
  AndroidContent,
  CampaignContent,
  DefaultAction,
  IosContent,
  Platform,
  WebContent,
} from '../../domain/campaigns/content.ts';
import type { FieldReader } from './field-reader.ts';

const maxGroupKeyCharacters = 45;
const maxRichItems = 10;

/** Reads `payload`: one entry for each targeted platform (fact 3.3). */
export function parseContent(reader: FieldReader, value: unknown, platforms: readonly Platform[]): CampaignContent {
  const payload = reader.record(value, 'payload');
  if (!payload) {
    if (value === undefined) reader.invalid('payload', 'is required');
    return {};
  }
  const content: CampaignContent = {};
  for (const platform of platforms) {
    const field = `payload.${platform}`;
    const entry = reader.record(payload[platform], field);
    if (!entry) {
      if (payload[platform] === undefined) reader.invalid(field, 'is required for this platform');
      continue;
    }
    if (platform === 'ANDROID') content.ANDROID = withFallback(parseAndroid, { reader, entry, field });
    else if (platform === 'IOS') content.IOS = withFallback(parseIos, { reader, entry, field });
    else content.WEB = withFallback(parseWeb, { reader, entry, field });
  }
  return content;
}

type Entry = { reader: FieldReader; entry: Record<string, unknown>; field: string };

/** A fallback has the same members; those it leaves out are the content's own. `{}` is none. */
function withFallback<Content extends object>(
  parse: (entry: Entry) => Content,
  at: Entry,
): Content & { fallback?: Content } {
  const content = parse(at);
  const fallback = at.reader.record(at.entry.fallback, `${at.field}.fallback`);
  if (!fallback || Object.keys(fallback).length === 0) return content;
  const { fallback: _own, ...own } = at.entry;
  return { ...content, fallback: parse({ ...at, entry: { ...own, ...fallback }, field: `${at.field}.fallback` }) };
}

function parseAndroid({ reader, entry, field }: Entry): Omit<AndroidContent, 'fallback'> {
  const summary = reader.template(entry.summary ?? entry.Summary, `${field}.summary`);
  const channelId = reader.plain(entry.channel_id, `${field}.channel_id`, { longest: 256 });
  return {
    ...parseTexts({ reader, entry, field }),
    ...(summary === undefined ? {} : { summary }),
    ...(channelId === undefined ? {} : { channelId }),
    ...parseKeys({ reader, entry, field }),
    richContent: parseRichContent({ reader, entry, field }, ['image', 'coupon', 'sound'] as const),
    ...parseDefaultAction({ reader, entry, field }),
    additionalActions: parseAndroidActions({ reader, entry, field }),
  };
}

function parseIos({ reader, entry, field }: Entry): Omit<IosContent, 'fallback'> {
  const subtitle = reader.template(entry.subtitle, `${field}.subtitle`);
  const richContent = parseRichContent({ reader, entry, field }, [
    'gif',
    'coupon',
    'sound',
    'image',
    'audio',
    'video',
  ] as const);
  const media = richContent.filter(({ type }) => type === 'image' || type === 'audio' || type === 'video');
  if (media.length > 1) reader.invalid(`${field}.richContent`, 'may hold one of image, audio and video');
  const actions = reader.list(entry.additionalActions, `${field}.additionalActions`, 1) ?? [];
  return {
    ...parseTexts({ reader, entry, field }),
    ...(subtitle === undefined ? {} : { subtitle }),
    ...parseKeys({ reader, entry, field }),
    enableBadge: reader.boolean(entry.enableIosBadge, `${field}.enableIosBadge`) ?? false,
    richContent,
    ...parseDefaultAction({ reader, entry, field }),
    additionalActions: actions.map((action, index) => {
      const at = `${field}.additionalActions[${index}]`;
      const category = reader.record(action, at)?.category;
      reader.plain(category, `${at}.category`);
      return { category: reader.requiredText(category, `${at}.category`, { longest: 256 }) };
    }),
  };
}

function parseWeb({ reader, entry, field }: Entry): Omit<WebContent, 'fallback'> {
  const requiredUrl = (name: 'redirectURL' | 'iconURL'): string => {
    if (entry[name] === undefined) reader.invalid(`${field}.${name}`, 'is required');
    return reader.templateUrl(entry[name], `${field}.${name}`, ['https:', 'http:']) ?? '';
  };
  const imageUrl = reader.templateUrl(entry.imageURL, `${field}.imageURL`, ['https:']);
  return {
    ...parseTexts({ reader, entry, field }),
    redirectUrl: requiredUrl('redirectURL'),
    iconUrl: requiredUrl('iconURL'),
    ...(imageUrl === undefined ? {} : { imageUrl }),
    autoDismiss: reader.boolean(entry.autoDismiss, `${field}.autoDismiss`) ?? false,
  };
}

function parseTexts({ reader, entry, field }: Entry): { message: string; title: string } {
  return {
    message: reader.requiredTemplate(entry.message, `${field}.message`),
    title: reader.requiredTemplate(entry.title, `${field}.title`),
  };
}

function parseKeys({ reader, entry, field }: Entry): { groupKey?: string; collapseReplaceKey?: string } {
  const groupKey = normaliseGroupKey(reader.plain(entry.groupKey, `${field}.groupKey`));
  const collapseReplaceKey = reader.template(entry.collapseReplaceKey, `${field}.collapseReplaceKey`, { longest: 256 });
  return {
    ...(groupKey === undefined ? {} : { groupKey }),
    ...(collapseReplaceKey === undefined ? {} : { collapseReplaceKey }),
  };
}

/** At most 45 ASCII letters and digits; other letters, specials and spaces are dropped (fact 3.3). */
function normaliseGroupKey(text: string | undefined): string | undefined {
  const key = text?.replace(/[^A-Za-z0-9]/g, '').slice(0, maxGroupKeyCharacters);
  return key === '' ? undefined : key;
}

function parseRichContent<const Type extends string>(
  { reader, entry, field }: Entry,
  types: readonly Type[],
): { type: Type; value: string }[] {
  const items = reader.list(entry.richContent, `${field}.richContent`, maxRichItems) ?? [];
  return items.flatMap((item, index) => {
    const at = `${field}.richContent[${index}]`;
    const record = reader.record(item, at);
    if (record && record.type === undefined) reader.invalid(`${at}.type`, 'is required');
    const type = reader.choice(record?.type, `${at}.type`, types);
    const value = reader.requiredTemplate(record?.value, `${at}.value`, { longest: 2_048 });
    return type === undefined ? [] : [{ type, value }];
  });
}

function parseDefaultAction({ reader, entry, field }: Entry): { defaultAction?: DefaultAction } {
  const at = `${field}.defaultAction`;
  const action = reader.record(entry.defaultAction, at);
  if (!action) return {};
  if (action.type === undefined) reader.invalid(`${at}.type`, 'is required');
  const type = reader.choice(action.type, `${at}.type`, ['richlanding', 'navigation', 'deeplinking'] as const);
  const value = reader.requiredTemplate(action.value, `${at}.value`, { longest: 2_048 });
  const keyValuePairs: Record<string, string> = {};
  for (const [name, pair] of Object.entries(reader.record(action.kvPairs, `${at}.kvPairs`) ?? {})) {
    reader.plain(name, `${at}.kvPairs`);
    keyValuePairs[name] = reader.template(pair, `${at}.kvPairs.${name}`) ?? '';
  }
  return type === undefined ? {} : { defaultAction: { type, value, keyValuePairs } };
}

function parseAndroidActions({ reader, entry, field }: Entry): AndroidContent['additionalActions'] {
  const actions = reader.list(entry.additionalActions, `${field}.additionalActions`, 2) ?? [];
  return actions.flatMap((item, index) => {
    const at = `${field}.additionalActions[${index}]`;
    const action = reader.record(item, at);
    if (action && action.type === undefined) reader.invalid(`${at}.type`, 'is required');
    const type = reader.choice(action?.type, `${at}.type`, ['call', 'snooze', 'copy', 'share'] as const);
    const name = reader.template(action?.name, `${at}.name`, { longest: 256 }) ?? '';
    const value = reader.template(action?.value, `${at}.value`, { longest: 2_048 }) ?? '';
    const iconUrl = reader.templateUrl(action?.iconURL, `${at}.iconURL`, ['https:', 'http:']);
    return type === undefined ? [] : [{ type, name, value, ...(iconUrl === undefined ? {} : { iconUrl }) }];
  });
}
