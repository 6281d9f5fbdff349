import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { authenticateApp } from '../../app/installations/authenticate-app.ts';
import type { AppAuthenticationDependencies, AppCaller } from '../../app/installations/authenticate-app.ts';
import type { NamedInstallation } from '../../app/installations/installations.ts';
import { dataCenterOfHost } from '../../domain/access/data-centers.ts';
import { isInstallationId, isInstallationSecret } from '../../domain/access/installations.ts';
import { ServiceError } from '../../domain/errors.ts';
import { presentDefaultError } from '../route/errors.ts';
import { problemRefusals } from '../route/own-dialect.ts';
import { hiddenRoute } from '../route/route.ts';
import type { Route, RouteDialect } from '../route/route.ts';
import type { VendorHeaders } from '../route/vendor-headers.ts';

/** The header with the secret of the installation, which the app made. */
export const secretHeader = 'Carillon-Installation-Secret';

declare module 'fastify' {
  interface FastifyRequest {
    /** The app of the call, after its key was checked. */
    callerApp?: AppCaller;
  }
}

export type InstallationDialectDependencies = {
  authentication: AppAuthenticationDependencies;
  vendorHeaders: VendorHeaders;
  serviceDomain?: string | undefined;
};

export type InstallationCaller = { app: AppCaller; secret: string };

/**
 * Makes the dialect of routes that apps call with their public key. Every response is readable from every origin, because errors
 * must be readable to be mended; only listed origins get more than an error.
 */
export function makeInstallationDialect(deps: InstallationDialectDependencies): RouteDialect<InstallationCaller> {
  return {
    tag: 'Apps of phones and sites',
    credentials: ['appKey'],
    headers: {
      [secretHeader]: Type.String({
        description:
          'The secret of the installation: 256 random bits in base64url, made by the app and kept on the device',
      }),
    },
    refusals: problemRefusals([
      'APP_KEY_UNKNOWN',
      'APP_ORIGIN_REFUSED',
      'INSTALLATION_UNKNOWN',
      'INSTALLATION_SIGNED_OUT',
      'APP_RATE_LIMITED',
      'PUSH_TOKEN_HELD',
      'IDENTITY_TOKEN_INVALID',
    ]),
    refuses: [401, 403, 429],
    vendorHeaders: deps.vendorHeaders,
    onEveryCall: allowOrigin,
    onRequest: [(request) => requireApp(deps, request)],
    callerOf: ({ callerApp, headers }) => {
      if (!callerApp) throw new Error('the route has no credential check');
      return { app: callerApp, secret: readSecret(headers[secretHeader.toLowerCase()]) };
    },
    presentError: (error, { reply }) => presentDefaultError(error, reply),
  };
}

/** @throws ServiceError APP_KEY_UNKNOWN, APP_ORIGIN_REFUSED */
async function requireApp(
  { authentication, serviceDomain }: InstallationDialectDependencies,
  request: FastifyRequest,
): Promise<void> {
  const { authorization, origin } = request.headers;
  const key = /^bearer +([A-Za-z0-9_-]+) *$/i.exec(authorization ?? '')?.[1];
  const dataCenter = dataCenterOfHost(request.hostname, serviceDomain);
  const app = await authenticateApp(authentication, { key, origin, dataCenter });
  request.facts.workspaceId = app.workspaceId;
  request.facts.keyId = app.keyId;
  request.callerApp = app;
  request.boundWorkspaceId = app.workspaceId;
}

/** A missing secret, or one of another form, is a wrong one. */
function readSecret(sent: string | string[] | undefined): string {
  if (typeof sent === 'string' && isInstallationSecret(sent)) return sent;
  throw new ServiceError('INSTALLATION_UNKNOWN', { detail: `${secretHeader} is missing or has another form` });
}

/** Returns the installation of the path or body. An id of another form is unknown. @throws ServiceError INSTALLATION_UNKNOWN */
export function nameInstallation({ app, secret }: InstallationCaller, id: unknown): NamedInstallation {
  if (typeof id !== 'string' || !isInstallationId(id))
    throw new ServiceError('INSTALLATION_UNKNOWN', { detail: 'the id has another form' });
  return { app, id, secret };
}

async function allowOrigin({ headers }: FastifyRequest, reply: FastifyReply): Promise<void> {
  reply.headers({ vary: 'origin', 'cache-control': 'no-store' });
  if (headers.origin !== undefined) reply.header('access-control-allow-origin', headers.origin);
}

/** Answers the preflight request of a browser, which carries no key: the request itself is checked. */
export function preflightRoute(dialect: RouteDialect<InstallationCaller>, url: string): Route {
  const rules = { onEveryCall: allowOrigin, callerOf: () => ({}), presentError: dialect.presentError };
  return hiddenRoute(rules, {
    method: 'OPTIONS',
    url,
    config: { isUnrecorded: true },
    handle: ({ reply }) =>
      reply
        .headers({
          'access-control-allow-methods': 'POST, PATCH',
          'access-control-allow-headers': `authorization, content-type, last-event-id, ${secretHeader.toLowerCase()}`,
          'access-control-max-age': '86400',
        })
        .code(204)
        .send(),
  });
}
