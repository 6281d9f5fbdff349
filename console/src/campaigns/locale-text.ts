/** `German (de)`. */
export function localeText(locale: string | null): string {
  if (locale === null || locale === 'default') return 'Default language';
  const name = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' }).of(locale);
  return name === undefined ? locale : `${name} (${locale})`;
}
