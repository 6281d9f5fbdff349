import type { CampaignContent, LocaleTexts, Platform } from '../campaigns/content.ts';
import { maxLocales } from '../content-options/limits.ts';
import type { RequestReader } from '../request-reader/request-reader.ts';
import { canonicalTag } from './language-tag.ts';

/** Under which names the platforms stand there. */
type Names = ReadonlyMap<string, Platform>;

const web = ['https:', 'http:'];

/** Reads `locales` into the contents of their platforms: by language tag, texts and addresses alone. */
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
          redirectUrl: entry.templateUrl('redirectURL', web),
          iconUrl: entry.templateUrl('iconURL', web),
          imageUrl: entry.templateUrl('imageURL', ['https:']),
        }
      : {}),
  };
  return Object.fromEntries(Object.entries(members).filter(([, text]) => text !== undefined)) as LocaleTexts;
}
