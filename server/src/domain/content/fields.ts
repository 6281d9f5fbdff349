import {
  maxActionNameCharacters,
  maxActionTitleCharacters,
  maxBadge,
  maxBadgeIncrement,
  maxLocArgs,
  maxOfferedActions,
  maxTimeoutSeconds,
  maxVibrateMilliseconds,
  maxVibrateSteps,
  maxLocales,
} from '../limits/push.ts';
import type { Schemes, RequestReader } from '../request-reader.ts';
import { payloadModes } from './content.ts';
import type {
  AndroidOptions,
  BadgeChange,
  IosOptions,
  LocKeys,
  OfferedAction,
  WebOptions,
  CampaignContent,
  LocaleTexts,
  Platform,
} from './content.ts';
import { canonicalTag } from './locales.ts';

const maxName = 256;
const webSchemes = ['https:', 'http:'];

/** Reads `options` of a platform, for pushes and campaigns alike. The result is empty if there are none. */
export function readAndroidOptions(content: RequestReader): { options?: AndroidOptions } {
  const part = content.findPart('options');
  if (!part) return {};
  return nonEmpty<AndroidOptions>({
    deliveryMode: part.choice('deliveryMode', payloadModes),
    visibility: part.choice('visibility', ['private', 'public', 'secret']),
    color: matching(part, 'color', { pattern: /^#[0-9a-fA-F]{6}$/, reason: 'must be a colour such as #0a7d5a' }),
    icon: part.plain('icon', maxName),
    sticky: part.flag('sticky'),
    timeoutSeconds: part.integer('timeoutSeconds', { minimum: 1, maximum: maxTimeoutSeconds }),
    badge: readBadge(part, 'badge'),
    locKeys: readLocKeys(part, ['title', 'body']),
    directBootOk: part.flag('directBootOk'),
    bandwidthConstrainedOk: part.flag('bandwidthConstrainedOk'),
    restrictedSatelliteOk: part.flag('restrictedSatelliteOk'),
    analyticsLabel: matching(part, 'analyticsLabel', {
      pattern: /^[A-Za-z0-9\-_.~%]{1,50}$/,
      reason: 'must have 1 to 50 letters, digits and -_.~%',
    }),
  });
}

export type IosNeighbours = { enablesBadge: boolean; hasCategory: boolean };

export function readIosOptions(
  content: RequestReader,
  { enablesBadge, hasCategory }: IosNeighbours,
): { options?: IosOptions } {
  const part = content.findPart('options');
  if (!part) return {};
  if (enablesBadge && !part.isAbsent('badge')) part.invalid('badge', 'cannot be combined with enableIosBadge');
  if (hasCategory && !part.isAbsent('additionalActions'))
    part.invalid('additionalActions', 'cannot be combined with a category');
  return nonEmpty<IosOptions>({
    interruptionLevel: part.choice('interruptionLevel', ['passive', 'active', 'time-sensitive', 'critical']),
    relevanceScore: part.share('relevanceScore'),
    targetContentId: part.plain('targetContentId', maxName),
    filterCriteria: part.plain('filterCriteria', maxName),
    sound: readSound(part),
    badge: readBadge(part, 'badge'),
    contentAvailable: part.flag('contentAvailable'),
    launchImage: part.plain('launchImage', maxName),
    locKeys: readLocKeys(part, ['title', 'subtitle', 'body']),
    additionalActions: readActions(part, 'web and apps'),
  });
}

export function readWebOptions(content: RequestReader): { options?: WebOptions } {
  const part = content.findPart('options');
  if (!part) return {};
  const [tag, renotify, silent] = [part.plain('tag', maxName), part.flag('renotify'), part.flag('silent')];
  const vibrate = readVibrate(part);
  // Browsers throw in both cases and show nothing.
  if (renotify === true && tag === undefined) part.invalid('renotify', 'needs a tag');
  if (silent === true && vibrate !== undefined) part.invalid('silent', 'cannot be combined with vibrate');
  return nonEmpty<WebOptions>({
    additionalActions: readActions(part, webSchemes),
    badgeURL: part.templateUrl('badgeURL', ['https:']),
    tag,
    renotify,
    silent,
    requireInteraction: part.flag('requireInteraction'),
    lang: readLanguage(part),
    dir: part.choice('dir', ['auto', 'ltr', 'rtl']),
    vibrate,
    timestamp: part.integer('timestamp', { minimum: 0, maximum: 8_640_000_000_000_000 }),
    declarative: part.choice('declarative', ['auto', 'always', 'never']),
    appBadge: readBadge(part, 'appBadge'),
  });
}

function readBadge(part: RequestReader, name: string): BadgeChange | undefined {
  const badge = part.findPart(name);
  if (!badge) return undefined;
  badge.requires('operation');
  const operation = badge.choice('operation', ['set', 'clear', 'increment']);
  if (operation === 'clear') {
    if (!badge.isAbsent('value')) badge.invalid('value', 'must be absent for clear');
    return { operation };
  }
  if (operation !== undefined) badge.requires('value');
  const range =
    operation === 'increment' ? { minimum: 1, maximum: maxBadgeIncrement } : { minimum: 0, maximum: maxBadge };
  const value = badge.integer('value', range);
  return operation !== undefined && value !== undefined ? { operation, value } : undefined;
}

function readSound(part: RequestReader): IosOptions['sound'] {
  const sound = part.findPart('sound');
  if (!sound) return undefined;
  const name = sound.requiredPlain('name', maxName);
  const volume = sound.share('volume');
  if (sound.flag('critical') === true) return { name, critical: true, ...(volume === undefined ? {} : { volume }) };
  if (volume !== undefined) sound.invalid('volume', 'needs critical');
  return { name };
}

function readLocKeys(part: RequestReader, texts: readonly ('title' | 'subtitle' | 'body')[]): LocKeys | undefined {
  const keys = part.findPart('locKeys');
  if (!keys) return undefined;
  const found: LocKeys = {};
  for (const text of texts) {
    const key = keys.plain(`${text}LocKey`, maxName);
    const items = keys.items(`${text}LocArgs`, maxLocArgs);
    const args = items.names().map((index) => items.template(index, 1_024) ?? '');
    if (args.length > 0 && key === undefined) keys.invalid(`${text}LocArgs`, `needs ${text}LocKey`);
    if (key === undefined) continue;
    found[`${text}LocKey`] = key;
    if (args.length > 0) found[`${text}LocArgs`] = args;
  }
  return Object.keys(found).length === 0 ? undefined : found;
}

function readActions(part: RequestReader, schemes: Schemes): OfferedAction[] | undefined {
  if (part.isAbsent('additionalActions')) return undefined;
  const names = new Set<string>();
  return part.parts('additionalActions', maxOfferedActions).map((button) => {
    const action = button.requiredPlain('action', maxActionNameCharacters);
    if (action !== '' && !/^[A-Za-z0-9_-]+$/.test(action))
      button.invalid('action', `must have 1 to ${maxActionNameCharacters} letters, digits, - and _`);
    if (names.has(action)) button.invalid('action', 'is given twice');
    names.add(action);
    const title = button.requiredTemplate('title', maxActionTitleCharacters);
    button.requires('url');
    const url = button.templateUrl('url', schemes) ?? '';
    const iconURL = button.templateUrl('iconURL', ['https:']);
    return { action, title, url, ...(iconURL === undefined ? {} : { iconURL }) };
  });
}

function readVibrate(part: RequestReader): number[] | undefined {
  if (part.isAbsent('vibrate')) return undefined;
  const items = part.items('vibrate', maxVibrateSteps);
  const range = { minimum: 0, maximum: maxVibrateMilliseconds };
  return items.names().map((index) => items.integer(index, range) ?? 0);
}

function readLanguage(part: RequestReader): string | undefined {
  const tag = part.plain('lang', 100);
  if (tag === undefined) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    part.invalid('lang', 'is no language tag');
    return undefined;
  }
}

type Form = { pattern: RegExp; reason: string };

function matching(part: RequestReader, name: string, { pattern, reason }: Form): string | undefined {
  const text = part.text(name);
  if (text === undefined || pattern.test(text)) return text;
  part.invalid(name, reason);
  return undefined;
}

/** Returns the given members as options; no options at all if none was given. */
function nonEmpty<Options extends object>(members: {
  [Name in keyof Options]-?: Options[Name] | undefined;
}): { options?: Options } {
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return given.length === 0 ? {} : { options: Object.fromEntries(given) as Options };
}

/** The names of the platforms in the body. */
type Names = ReadonlyMap<string, Platform>;

/** Reads `locales` into the contents of their platforms: only texts and addresses, by language tag. */
export function readLocales(
  content: CampaignContent,
  { payload, names }: { payload: RequestReader; names: Names },
): void {
  const part = payload.findPart('locales');
  if (!part) return;
  const sent = part.names().filter((name) => part.get(name) !== undefined);
  if (sent.length > maxLocales) return payload.invalid('locales', `must have at most ${maxLocales} languages`);
  const seen = new Set<string>();
  for (const name of sent) {
    const tag = canonicalTag(name);
    if (tag === undefined || seen.has(tag)) {
      part.invalid(name, tag === undefined ? 'is no language tag' : 'is given twice');
      continue;
    }
    seen.add(tag);
    const locale = part.findPart(name);
    for (const platformName of locale?.names() ?? []) {
      if (locale!.get(platformName) === undefined) continue;
      const platform = names.get(platformName);
      const own = platform && content[platform];
      const entry = own && locale!.findPart(platformName);
      if (!own) locale!.invalid(platformName, 'is not a platform of this push');
      else if (entry) (own.locales ??= {})[tag] = readTexts(entry, platform);
    }
  }
}

const textsOf: Record<Platform, readonly string[]> = {
  ANDROID: ['title', 'message', 'summary', 'Summary'],
  IOS: ['title', 'message', 'subtitle'],
  WEB: ['title', 'message', 'redirectURL', 'iconURL', 'imageURL'],
};

function readTexts(entry: RequestReader, platform: Platform): LocaleTexts {
  for (const name of entry.names())
    if (entry.get(name) !== undefined && !textsOf[platform].includes(name))
      entry.invalid(name, 'is no text and no address');
  const required = (name: string) => (entry.get(name) === undefined ? undefined : entry.requiredTemplate(name));
  const members = {
    title: required('title'),
    message: required('message'),
    ...(platform === 'ANDROID'
      ? { summary: entry.over({ summary: entry.get('summary') ?? entry.members.Summary }).template('summary') }
      : {}),
    ...(platform === 'IOS' ? { subtitle: entry.template('subtitle') } : {}),
    ...(platform === 'WEB'
      ? {
          redirectUrl: entry.templateUrl('redirectURL', webSchemes),
          iconUrl: entry.templateUrl('iconURL', webSchemes),
          imageUrl: entry.templateUrl('imageURL', ['https:']),
        }
      : {}),
  };
  return Object.fromEntries(Object.entries(members).filter(([, text]) => text !== undefined)) as LocaleTexts;
}
