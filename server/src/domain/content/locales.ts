import { part, readWith, record, template, templateUrl } from '../../fields/combinators.ts';
import { readMembers, withoutAbsent } from '../../fields/field.ts';
import type { Field, Fields } from '../../fields/field.ts';
import type { RequestReader } from '../../fields/request-reader.ts';
import { maxLocales } from '../limits/push.ts';
import type { CampaignContent, LocaleTexts, Platform } from './content.ts';
import type { OwnContent } from './texts.ts';

/** The user attribute that holds the user's language. */
export const languageAttribute = 'locale';

/** The known languages of a user: that of the device, else that in the user's attribute `locale`. */
export type KnownLanguages = { ofDevice: string | null; ofUser: unknown };

/** Returns the tag of the texts for a user; undefined: the user gets the content's own texts. */
export function chooseLanguage(
  content: CampaignContent,
  { platform, ofDevice, ofUser }: KnownLanguages & { platform: Platform },
): string | undefined {
  const locales = content[platform]?.locales;
  return locales && closestTag((tag) => Object.hasOwn(locales, tag), { ofDevice, ofUser });
}

/** Returns the existing tag that is closest to a user's language. */
export function closestTag(has: (tag: string) => boolean, { ofDevice, ofUser }: KnownLanguages): string | undefined {
  // Apps and forms also write the tag as Java and C do.
  const ofAttribute = typeof ofUser === 'string' ? canonicalTag(ofUser.replaceAll('_', '-')) : undefined;
  const wanted = ofDevice ?? ofAttribute;
  return wanted === undefined ? undefined : tagsFor(wanted).find(has);
}

/** Returns the content of a platform in a language, each made once. `language` undefined: the content for all others. */
export type ContentIn = <P extends Platform>(platform: P, language: string | undefined) => OwnContent[P];

/** If a language lacks a text, the text of the wider language is used, and finally the content's own. */
export function makeContentIn(content: CampaignContent): ContentIn {
  const made = new Map<string, OwnContent[Platform]>();
  return <P extends Platform>(platform: P, language: string | undefined) => {
    const key = `${platform} ${language}`;
    const known = made.get(key);
    if (known) return known as OwnContent[P];
    const { locales = {}, fallback: _fallback, ...base } = content[platform]!;
    const tags = language === undefined ? [] : tagsFor(language).reverse();
    const texts = tags.map((tag) => (Object.hasOwn(locales, tag) ? locales[tag] : {}));
    const own = Object.assign({}, base, ...texts) as OwnContent[P];
    made.set(key, own);
    return own;
  };
}

export function hasLocales(content: CampaignContent): boolean {
  return Object.values(content).some(({ locales }) => locales !== undefined);
}

/** Returns every language with texts for the platform. */
export function languagesOf(content: CampaignContent, platform: Platform): string[] {
  return Object.keys(content[platform]?.locales ?? {});
}

/** Returns a language tag (BCP 47) in canonical form, `pt-br` as `pt-BR`; undefined if the text is not a tag. */
export function canonicalTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/** Returns the tags that may have texts for a language, the closest first: exact, language and script, language. */
export function tagsFor(tag: string): string[] {
  const { language, script } = new Intl.Locale(tag).maximize();
  return [...new Set([tag, ...(script === undefined ? [] : [`${language}-${script}`]), language])];
}

const webSchemes = ['https:', 'http:'];

/** A text that may be left out, but not be empty. */
const textIfSent = readWith(template(), (entry, name) =>
  entry.get(name) === undefined ? undefined : entry.requiredTemplate(name),
);
const shownTexts = { title: textIfSent, message: textIfSent };
const androidTexts = { ...shownTexts, summary: template() };
const olderSpelling = { Summary: template({ description: 'Older spelling of summary' }) };
const iosTexts = { ...shownTexts, subtitle: template() };
const webAddresses = {
  redirectURL: templateUrl(webSchemes),
  iconURL: templateUrl(webSchemes),
  imageURL: templateUrl(['https:'], 'https'),
};
const webTexts = { ...shownTexts, ...webAddresses };
const textsOf = { ANDROID: { ...androidTexts, ...olderSpelling }, IOS: iosTexts, WEB: webTexts };

/** `locales`, next to the platforms: texts and addresses by language. In campaigns the platforms are in lower case. */
export const pushLocales = locales({ ANDROID: part(textsOf.ANDROID), IOS: part(iosTexts), WEB: part(webTexts) });
export const campaignLocales = locales({ android: part(androidTexts), ios: part(iosTexts), web: part(webTexts) });

function locales(platforms: Fields): Field<object> {
  return record(part(platforms), `Texts by language tag (BCP 47); at most ${maxLocales}`);
}

/** The names of the platforms in the body. */
type Names = ReadonlyMap<string, Platform>;

/** Reads `locales` into the contents of their platforms: only texts and addresses, by language tag. */
export function readLocales(
  content: CampaignContent,
  { payload, names }: { payload: RequestReader; names: Names },
): void {
  const languages = payload.findPart('locales');
  if (!languages) return;
  const sent = languages.names().filter((name) => languages.get(name) !== undefined);
  if (sent.length > maxLocales) return payload.invalid('locales', `must have at most ${maxLocales} languages`);
  const seen = new Set<string>();
  for (const name of sent) {
    const tag = canonicalTag(name);
    if (tag === undefined || seen.has(tag)) {
      languages.invalid(name, tag === undefined ? 'is no language tag' : 'is given twice');
      continue;
    }
    seen.add(tag);
    const locale = languages.findPart(name);
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

function readTexts(entry: RequestReader, platform: Platform): LocaleTexts {
  for (const name of entry.names())
    if (entry.get(name) !== undefined && !Object.hasOwn(textsOf[platform], name))
      entry.invalid(name, 'is not a text or an address');
  return withoutAbsent<LocaleTexts>({
    title: shownTexts.title.read(entry, 'title'),
    message: shownTexts.message.read(entry, 'message'),
    ...(platform === 'ANDROID' ? { summary: readSummary(entry) } : {}),
    ...(platform === 'IOS' ? { subtitle: iosTexts.subtitle.read(entry, 'subtitle') } : {}),
    ...(platform === 'WEB' ? readWebTexts(entry) : {}),
  });
}

/** Reads the summary of an Android content; `Summary` is an older spelling, which is read if there is no `summary`. */
export function readSummary(entry: RequestReader): string | undefined {
  return androidTexts.summary.read(entry.over({ summary: entry.get('summary') ?? entry.members.Summary }), 'summary');
}

function readWebTexts(entry: RequestReader): Pick<LocaleTexts, 'redirectUrl' | 'iconUrl' | 'imageUrl'> {
  const { redirectURL, iconURL, imageURL } = readMembers(entry, webAddresses);
  return withoutAbsent({ redirectUrl: redirectURL, iconUrl: iconURL, imageUrl: imageURL });
}
