import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../app/accounts/audit.ts';
import { authenticateKey } from '../../app/keys/authenticate-key.ts';
import type { ApiKey } from '../../app/keys/authenticate-key.ts';
import type { AuthenticationDependencies, TokenDependencies } from '../../app/tokens/prove-clients.ts';
import { authenticateToken } from '../../app/tokens/authenticate-token.ts';
import { opensAsPassword } from '../../domain/access/keys.ts';
import type { Scope } from '../../domain/access/keys.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { unknownCase } from '../../domain/unknown-case.ts';
import { presentGatewayError } from './gateway-errors.ts';
import { calledDataCenter } from '../server/call-origin.ts';

/** The errors that the called family uses. */
export type ApiKeyErrors = { missing: ErrorName; invalid: ErrorName; notCovering: ErrorName };

/**
 * Makes the hook of a family that accepts Basic (workspace id and API key) or Bearer (decision D16, D45). Afterwards
 * `request.callerKey` is the key of the call.
 */
export function makeRequireApiKey(deps: BearerDependencies, scope: Scope, errors: ApiKeyErrors) {
  const requireScope = makeRequireBearer(deps)(scope);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (isBearer(request)) return requireScope(request, reply);
    if (request.headers.authorization === undefined) throw new ServiceError(errors.missing);
    const basic = readBasic(request.headers);
    if (!basic) throw new ServiceError(errors.invalid, { detail: 'the header is not Basic authentication' });
    const dataCenter = calledDataCenter(request, deps.serviceDomain);
    const presented = { workspaceId: basic.username, secret: basic.password, dataCenter, at: deps.clock.now() };
    const found = await authenticateKey(acrossOf(deps), presented);
    if (found.outcome !== 'ok') throw new ServiceError(errors.invalid, { detail: 'unknown workspace or key' });
    request.facts.workspaceId = found.key.workspaceId;
    request.facts.keyId = found.key.id;
    if (!opensAsPassword(found.key, scope))
      throw new ServiceError(errors.notCovering, { detail: `a key of kind ${found.key.kind}` });
    request.callerKey = found.key;
    request.boundWorkspaceId = found.key.workspaceId;
  };
}

/** The caller of a route that requires a key or a token. */
export type KeyCaller = { workspaceId: string; key: ApiKey; actor: Actor };

/** Returns the caller that the credential check of the route has found. */
export function keyCallerOf({ callerKey: key }: FastifyRequest): KeyCaller {
  if (!key) throw new Error('the route has no credential check');
  return { workspaceId: key.workspaceId, key, actor: { kind: 'program', name: key.name } };
}

export type BearerDependencies = AuthenticationDependencies & {
  /** Domain with the hosts that name a data center (decision D1); without it any host serves all workspaces. */
  serviceDomain?: string | undefined;
  /** The database for looking up credentials: their workspace is not known yet. */
  acrossWorkspaces?: TokenDependencies['database'];
};

/** Returns the dependencies for work before or outside a call of one known workspace. */
export function acrossOf<Deps extends BearerDependencies>(deps: Deps): Deps {
  return { ...deps, database: deps.acrossWorkspaces ?? deps.database };
}

/** Authenticates the call and records workspace and key in its facts; sends the error response itself. */
export type RequireScope = (scope: Scope) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The key of the call, after authentication. */
    callerKey?: ApiKey;
  }
}

/**
 * Makes `requireScope(scope)`, a preHandler for routes that accept `Authorization: Bearer` (decision D16). Families with
 * their own scheme use it if `isBearer` returns true. Errors have the shape of the gateway, not of the family.
 */
export function makeRequireBearer(deps: BearerDependencies): RequireScope {
  return (scope) => async (request, reply) => {
    try {
      request.callerKey = await authenticate(deps, request, scope);
      request.boundWorkspaceId = request.callerKey.workspaceId;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      await presentGatewayError(error, { request, reply, scope });
    }
  };
}

/** True if the call uses Bearer, even invalidly; then its family's own scheme does not apply. */
export function isBearer(request: FastifyRequest): boolean {
  return /^bearer(?: |$)/i.test(request.headers.authorization ?? '');
}

async function authenticate(deps: BearerDependencies, request: FastifyRequest, scope: Scope): Promise<ApiKey> {
  const query = request.query as Record<string, unknown> | undefined;
  // RFC 6750 §2.3 allows it and warns of it: addresses end up in logs and histories.
  if (query && Object.hasOwn(query, 'access_token')) throw invalid('access token in the query');
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) throw invalid('no Bearer token');
  const dataCenter = calledDataCenter(request, deps.serviceDomain);
  const authentication = await authenticateToken(acrossOf(deps), { token, scope, dataCenter, at: deps.clock.now() });
  if ('key' in authentication) {
    request.facts.workspaceId = authentication.key.workspaceId;
    request.facts.keyId = authentication.key.id;
  }
  switch (authentication.outcome) {
    case 'ok':
      return authentication.key;
    case 'invalid':
      throw invalid('unknown, revoked or dead token');
    case 'expired':
      throw new ServiceError('AUTHENTICATION_EXPIRED');
    case 'scope-missing':
      throw new ServiceError('SCOPE_MISSING', { detail: `the key does not cover ${scope}` });
    default:
      return unknownCase(authentication);
  }
}

function invalid(detail: string): ServiceError {
  return new ServiceError('AUTHENTICATION_INVALID', { detail });
}

export type BasicCredentials = { username: string; password: string };

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

/**
 * Reads the credentials of an `Authorization: Basic` header (RFC 7617): strict base64, UTF-8, split at the first colon.
 * Returns undefined for anything else, as for a missing header.
 */
export function readBasic(headers: IncomingHttpHeaders): BasicCredentials | undefined {
  const value = headers.authorization;
  const encoded = value === undefined ? undefined : /^basic +(\S+) *$/i.exec(value)?.[1];
  if (encoded === undefined || !base64.test(encoded)) return undefined;
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(encoded, 'base64'));
  } catch {
    return undefined;
  }
  const colon = text.indexOf(':');
  if (colon < 0) return undefined;
  return { username: text.slice(0, colon), password: text.slice(colon + 1) };
}
