import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ConsoleAccountDependencies, SignedIn } from '../../app/accounts/audit.ts';
import { authorizeSession, requirePermission } from '../../app/accounts/sign-in.ts';
import type { Permission } from '../../domain/access/accounts.ts';
import { ServiceError } from '../../domain/errors.ts';
import { refuseCrossSite } from '../server/call-origin.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The permission that a route of the console requires. `none`: callable without signing in. */
    permission?: Permission | 'none';
  }
  interface FastifyRequest {
    /** The user who calls a route of the console. */
    signedIn: SignedIn;
  }
}

export const consoleApi = '/console/api';

/**
 * Installs the only access check of the console's routes: changes must come from our own pages, and the signed-in user must
 * have the route's permission in the workspace of the call. A route without a permission rejects every user.
 */
export function guardConsole(server: FastifyInstance, { accounts, cookies, agents }: Guarding): void {
  server.decorateRequest('signedIn', null as unknown as SignedIn);
  server.addHook('onRoute', (route) => {
    // The API log is for callers of the API. The audit log records what users do in the console, and page files are not API
    // calls.
    if (route.url.startsWith('/console')) route.config = { ...route.config, isUnrecorded: true };
  });
  server.addHook('onRequest', async (request) => {
    const { url = '', config } = request.routeOptions;
    if (!url.startsWith(consoleApi)) return;
    if (request.method !== 'GET' && request.method !== 'HEAD') refuseCrossSite(request);
    if (config.permission === 'none') return;
    if (config.permission === undefined) throw new ServiceError('INTERNAL', { detail: `${url} names no permission` });
    const workspaceId = workspaceNamed(request);
    const asked = { permission: config.permission, workspaceId };
    const agent = agents.current();
    if (agent) {
      const kind = agents.routes.get(`${request.method} ${url}`);
      if (kind === undefined)
        throw new ServiceError('ACCOUNT_NOT_PERMITTED', { detail: 'agents may not call this route' });
      if (kind === 'propose' && agent.agent?.mayPropose !== true)
        throw new ServiceError('ACCOUNT_NOT_PERMITTED', { detail: 'the token may only read' });
      requirePermission(agent, asked);
      request.signedIn = agent;
    } else {
      const token = request.cookies[cookies.session.name];
      request.signedIn = await authorizeSession(accounts, { token, ...asked });
    }
    // The roles were checked for this workspace, so the database gives access to no other.
    request.boundWorkspaceId = workspaceId;
  });
}

type Guarding = {
  accounts: ConsoleAccountDependencies;
  cookies: ConsoleCookies;
  agents: {
    /** The user for whom an agent of this process calls; a call over the network has none. */
    current(): SignedIn | undefined;
    /** The routes that agents may call: those that read, and those that need a token that may propose. */
    routes: ReadonlyMap<string, 'read' | 'propose'>;
  };
};

/**
 * Returns the workspace that a call acts on, which every route takes from the query alone. A query that repeats it is not a
 * text, so it names none, and the schema of the route rejects it.
 */
function workspaceNamed(request: FastifyRequest): string | undefined {
  const { workspaceId } = request.query as { workspaceId?: unknown };
  return typeof workspaceId === 'string' ? workspaceId : undefined;
}

type CookieSettings = {
  isSecure: boolean;
  /** The secret of this installation, the same on all of its nodes. */
  installationSecret: Buffer;
};

/**
 * Names the console's cookies. Browsers do not separate cookies by port, so the names include the installation: otherwise
 * two installations on one host would sign each other's users out. Over TLS the names begin with `__Host-`: browsers accept
 * such cookies only from this host and only over TLS, so neither a sibling host of the same domain nor an attacker on a
 * plain connection can plant one. Such a name requires the path `/` and `Secure`. Over plain http, as on a developer's
 * machine, a browser would drop such a cookie, so there the names are plain and the path is as narrow as possible.
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
      // Lax: the browser returns from another site and must send the cookie.
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

/** Returns eight hexadecimal digits that do not reveal the secret. */
function nameInstallation(secret: Buffer): string {
  return createHmac('sha256', secret).update('console cookies').digest('hex').slice(0, 8);
}

/**
 * Returns the origin for text that a user copies from the console, such as a curl command: the public URL if one is set,
 * otherwise the origin of the request.
 */
export function serviceOrigin(request: FastifyRequest, publicUrl: string | undefined): string {
  return publicUrl ?? `${request.protocol}://${request.host}`;
}

/**
 * Returns the address of a one-time link, which signs in any user who opens it: at the public URL, otherwise a path. The
 * console completes a path with the origin that its page was loaded from. The Host header of a request may be forged, and
 * would send the code to an attacker's host.
 */
export function oneTimeAddress(path: string, publicUrl: string | undefined): string {
  return publicUrl === undefined ? path : `${publicUrl}${path}`;
}
