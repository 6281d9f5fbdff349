import type { CampaignContent, Platform } from './content.ts';
import type { OwnContent } from './texts.ts';

/** In which of a user's attributes their language stands. */
export const languageAttribute = 'locale';

/** Languages that are known of a user: what the device says, else what the user's attribute `locale` says. */
export type KnownLanguages = { ofDevice: string | null; ofUser: unknown };

/** The tag under which the texts for a user stand; undefined: the content's own are for them. */
export function chooseLanguage(
  content: CampaignContent,
  { platform, ofDevice, ofUser }: KnownLanguages & { platform: Platform },
): string | undefined {
  const locales = content[platform]?.locales;
  return locales && closestTag((tag) => Object.hasOwn(locales, tag), { ofDevice, ofUser });
}

/** The tag closest to a user's language among those that there are. */
export function closestTag(has: (tag: string) => boolean, { ofDevice, ofUser }: KnownLanguages): string | undefined {
  // Apps and forms write it as Java and C do, too.
  const ofAttribute = typeof ofUser === 'string' ? canonicalTag(ofUser.replaceAll('_', '-')) : undefined;
  const wanted = ofDevice ?? ofAttribute;
  return wanted === undefined ? undefined : tagsFor(wanted).find(has);
}

/** The content of a platform in a language, each made once; undefined: the one for everybody else. */
export type ContentIn = <P extends Platform>(platform: P, language: string | undefined) => OwnContent[P];

/** In a language each text that is missing is that of the wider one, at last the content's own. */
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

/** Every language in which there is a text of the platform. */
export function languagesOf(content: CampaignContent, platform: Platform): string[] {
  return Object.keys(content[platform]?.locales ?? {});
}

/** A language tag (BCP 47) as it is written everywhere, `pt-br` as `pt-BR`; undefined for what is no tag. */
export function canonicalTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}

/** The tags under which texts for it may stand, the closest first: exact, language and script, language. */
export function tagsFor(tag: string): string[] {
  const { language, script } = new Intl.Locale(tag).maximize();
  return [...new Set([tag, ...(script === undefined ? [] : [`${language}-${script}`]), language])];
}
