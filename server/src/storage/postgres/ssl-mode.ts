/**
 * `sslmode` as PostgreSQL's own programs take it: `require` encrypts, and only the two `verify-` modes check whom. The driver has
 * meanings of its own unless it is told.
 */
export function withKnownSslMode(url: string): string {
  if (!/[?&]sslmode=/.test(url) || /[?&]uselibpqcompat=/.test(url)) return url;
  return `${url}&uselibpqcompat=true`;
}

const knownModes = new Set(['disable', 'require', 'verify-ca', 'verify-full']);

/** Why an address cannot be used, in words that begin behind its name; undefined when it can. */
export function findSslFault(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { searchParams } = new URL(url);
  const mode = searchParams.get('sslmode');
  if (mode === null) return undefined;
  // The driver would encrypt or fail, where PostgreSQL's programs go on in the clear: neither is what was asked for.
  if (!knownModes.has(mode))
    return 'takes sslmode=disable, require, verify-ca or verify-full: whether a connection is encrypted is not left to chance';
  if (mode === 'verify-ca' && !searchParams.has('sslrootcert'))
    return 'with sslmode=verify-ca needs sslrootcert: any certificate of a public authority would do otherwise';
  return undefined;
}
