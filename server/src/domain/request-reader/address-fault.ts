/** Which addresses a place takes: those of the schemes, or where a phone opens them those of its apps, too. */
export type Schemes = readonly string[] | 'web and apps';

// What is code, or a part of the phone, and no place to go to.
const refused = ['javascript:', 'vbscript:', 'data:', 'blob:', 'file:', 'content:', 'about:', 'intent:'];
// Without slashes 'shop.example:443' would be the scheme of an app.
const withoutSlashes = ['tel:', 'sms:', 'mailto:'];

const web = ['https:', 'http:'];

/** What is wrong with an address at a place that takes some; undefined if nothing is. */
export function addressFault(text: string, schemes: Schemes): string | undefined {
  const scheme = URL.canParse(text) ? new URL(text).protocol : '';
  if (schemes === 'web and apps')
    return web.includes(scheme) || withoutSlashes.includes(scheme) || isOfApp(text.trim(), scheme)
      ? undefined
      : 'must be a URL with https, http or the scheme of an app';
  return schemes.includes(scheme)
    ? undefined
    : `must be a URL with ${schemes.map((known) => known.replace(':', '')).join(' or ')}`;
}

function isOfApp(text: string, scheme: string): boolean {
  const prefix = `${scheme}//`;
  return (
    scheme !== '' &&
    !refused.includes(scheme) &&
    text.length > prefix.length &&
    text.slice(0, prefix.length).toLowerCase() === prefix
  );
}
