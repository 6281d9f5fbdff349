/** Languages that the composer offers, by speakers. The API accepts every language tag. */
export const offeredLanguages: readonly string[] = [
  ...[
    'en',
    'zh',
    'zh-Hant',
    'hi',
    'es',
    'fr',
    'ar',
    'bn',
    'pt',
    'pt-BR',
    'ru',
    'ur',
    'id',
    'de',
    'ja',
    'mr',
    'te',
    'tr',
  ],
  ...['ta', 'vi', 'ko', 'it', 'gu', 'pl', 'uk', 'fa', 'ml', 'kn', 'ms', 'my', 'nl', 'ro', 'th', 'sw', 'el', 'cs', 'hu'],
  ...[
    'sv',
    'he',
    'da',
    'fi',
    'nb',
    'sk',
    'bg',
    'hr',
    'sr',
    'lt',
    'lv',
    'et',
    'sl',
    'ca',
    'fil',
    'es-MX',
    'en-GB',
    'fr-CA',
  ],
];

const names = new Intl.DisplayNames(['en'], { type: 'language' });

/** Formats `pt-BR` as "Brazilian Portuguese". A tag without a name is shown as it is. */
export function languageName(tag: string): string {
  try {
    return names.of(tag) ?? tag;
  } catch {
    return tag;
  }
}
