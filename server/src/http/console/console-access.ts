import type { FastifyInstance } from 'fastify';
import type { ConsoleAccountDependencies, SignedIn } from '../../app/accounts/account-dependencies.ts';
import { authorizeSession } from '../../app/accounts/authorize-session.ts';
import type { Permission } from '../../domain/accounts/roles.ts';
import { ServiceError } from '../../domain/errors.ts';
import { refuseCrossSite } from '../refuse-cross-site.ts';
import type { ConsoleCookies } from './console-cookies.ts';

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
