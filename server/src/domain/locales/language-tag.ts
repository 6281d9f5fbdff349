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
