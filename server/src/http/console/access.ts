import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConsoleAccountDependencies, SignedIn } from '../../app/accounts/audit.ts';
import { authorizeSession } from '../../app/accounts/sign-in.ts';
import type { Permission } from '../../domain/access/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { refuseCrossSite } from '../server/call-origin.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The permission a route of the console requires. `none`: callable without signing in. */
    permission?: Permission | 'none';
  }
  interface FastifyRequest {
    /** Who calls a route of the console. */
    signedIn: SignedIn;
  }
}

export const consoleApi = '/console/api';

/**
 * The only access check of the console's routes: changes must come from our own pages, and the signed-in user must have
 * the route's permission. A route without a permission refuses everybody.
 */
export function guardConsole(
  server: FastifyInstance,
  { accounts, cookies }: { accounts: ConsoleAccountDependencies; cookies: ConsoleCookies },
): void {
  server.decorateRequest('signedIn', null as unknown as SignedIn);
  server.addHook('onRoute', (route) => {
    // The API log is for callers of the API; what users do in the console is in the audit log, and its files are nobody's call.
    if (route.url.startsWith('/console')) route.config = { ...route.config, isUnrecorded: true };
  });
  server.addHook('onRequest', async (request) => {
    const { url = '', config } = request.routeOptions;
    if (!url.startsWith(consoleApi)) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') refuseCrossSite(request);
    if (config.permission === 'none') return;
    if (config.permission === undefined) throw new ServiceError('INTERNAL', { detail: `${url} names no permission` });
    const token = request.cookies[cookies.session.name];
    request.signedIn = await authorizeSession(accounts, { token, permission: config.permission });
    // A user of the console may see every workspace, one at a time.
    const { workspaceId } = request.query as { workspaceId?: unknown };
    if (typeof workspaceId === 'string') request.boundWorkspaceId = workspaceId;
  });
}

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

/**
 * Returns the origin for what a user copies from the console, such as a curl command: the public URL where one is set, else
 * the origin of the request.
 */
export function serviceOrigin(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `${request.protocol}://${request.host}`;
}

/**
 * Returns the address of a one-time link, which signs in whoever opens it: at the public URL, else a path. A path is
 * completed by the console with the origin that its page was loaded from; the Host header of a request may be forged, and
 * would send the code to a host of somebody else's.
 */
export function oneTimeAddress(path: string, publicUrl: string | undefined): string {
  return publicUrl === undefined ? path : `${publicUrl}${path}`;
}
