/**
 * Replaces the neutral abbreviation in our own texts with the installation's, in names of headers and attributes:
 * `X-SVC-APPKEY`, `svc_push_opted`, `NOTIFICATION_CLICKED_SVC`. Never call it with text that others wrote.
 */
export function spellAbbreviation(words: string, abbreviation: string): string {
  return words
    .replace(/\bSVC(?=[-_])|(?<=_)SVC\b/g, abbreviation.toUpperCase())
    .replace(/\bsvc(?=_)/g, abbreviation.toLowerCase());
}

/** Returns the abbreviations that are accepted in attribute names: the installation's and the neutral one. */
export function prefixesOf(abbreviation: string): readonly string[] {
  return [...new Set([abbreviation.toLowerCase(), 'svc'])];
}
