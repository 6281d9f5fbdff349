import type { CampaignContent, Platform } from './content.ts';
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
