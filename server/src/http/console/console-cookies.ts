import { createHmac } from 'node:crypto';

type CookieSettings = {
  isSecure: boolean;
  /** Of this installation, the same on all of its nodes. */
  installationSecret: Buffer;
};

/**
 * The console's cookies. Browsers do not tell the ports of a host apart, so the names carry the installation: otherwise
 * two installations on one host would sign each other's users out. Where the service is reached over TLS the names begin
 * with `__Host-`: browsers then take them from this host alone, over TLS alone, so neither a neighbour below the same domain
 * nor somebody on a plain connection can plant one; such a name demands the path `/` and `Secure`. On plain http, as on one's
 * own machine, a browser would drop such a cookie, so there they have plain names and the narrowest path.
 */
export function makeConsoleCookies({ isSecure, installationSecret }: CookieSettings): ConsoleCookies {
  const installation = nameInstallation(installationSecret);
  const nameOf = (name: string): string => `${isSecure ? '__Host-' : ''}${name}_${installation}`;
  const pathOf = (path: string): string => (isSecure ? '/' : path);
  const common = { httpOnly: true, secure: isSecure } as const;
  return {
    session: {
      name: nameOf('carillon_session'),
      attributes: { ...common, path: pathOf('/console'), sameSite: 'strict' },
    },
    company: {
      name: nameOf('carillon_company'),
      // Lax: the browser comes back from another site, and must bring it along.
      attributes: { ...common, path: pathOf(companyCallbackPath), sameSite: 'lax' },
    },
  };
}

export const companyCallbackPath = '/console/api/company/callback';

type Cookie = {
  name: string;
  attributes: { path: string; httpOnly: true; secure: boolean; sameSite: 'strict' | 'lax' };
};

export type ConsoleCookies = { session: Cookie; company: Cookie };

/** Eight hexadecimal digits, from which the secret cannot be calculated. */
function nameInstallation(secret: Buffer): string {
  return createHmac('sha256', secret).update('console cookies').digest('hex').slice(0, 8);
}
