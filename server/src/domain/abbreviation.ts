/**
 * Our own words with the installation's abbreviation in the names of headers and attributes, which we write with the
 * neutral one: `X-SVC-APPKEY`, `svc_push_opted`, `NOTIFICATION_CLICKED_SVC`. Never of what others wrote.
 */
export function spellAbbreviation(words: string, abbreviation: string): string {
  return words
    .replace(/\bSVC(?=[-_])|(?<=_)SVC\b/g, abbreviation.toUpperCase())
    .replace(/\bsvc(?=_)/g, abbreviation.toLowerCase());
}

/** The spellings that are taken in names of attributes: the installation's own and the neutral one. */
export function prefixesOf(abbreviation: string): readonly string[] {
  return [...new Set([abbreviation.toLowerCase(), 'svc'])];
}
