/**
 * Makes the driver read `sslmode` as PostgreSQL's own programs do: `require` encrypts, and only the two `verify-` modes
 * check the server's identity. By default the driver has other meanings.
 */
export function withKnownSslMode(url: string): string {
  if (!/[?&]sslmode=/.test(url) || /[?&]uselibpqcompat=/.test(url)) return url;
  return `${url}&uselibpqcompat=true`;
}

const knownModes = new Set(['disable', 'require', 'verify-ca', 'verify-full']);

/** Returns why an address cannot be used, as a phrase that follows its name; undefined when it can. */
export function findSslFault(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { searchParams } = new URL(url);
  const mode = searchParams.get('sslmode');
  if (mode === null) return undefined;
  // For other modes the driver would encrypt or fail, where PostgreSQL's programs continue unencrypted: the operator
  // asked for neither.
  if (!knownModes.has(mode))
    return 'takes sslmode=disable, require, verify-ca or verify-full: whether a connection is encrypted is not left to chance';
  if (mode === 'verify-ca' && !searchParams.has('sslrootcert'))
    return 'with sslmode=verify-ca needs sslrootcert: any certificate of a public authority would do otherwise';
  return undefined;
}
