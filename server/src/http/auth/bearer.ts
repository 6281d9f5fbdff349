import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiKey } from '../../app/keys/authenticate-key.ts';
import { authenticateToken } from '../../app/tokens/authenticate-token.ts';
import type { AuthenticationDependencies, TokenDependencies } from '../../app/tokens/token-dependencies.ts';
import { ServiceError } from '../../domain/errors.ts';
import { dataCenterOfHost } from '../../domain/tokens/data-center.ts';
import type { Scope } from '../../domain/tokens/scopes.ts';
import { presentGatewayError } from './present.ts';
import { unknownCase } from '../../domain/unknown-case.ts';

export type BearerDependencies = AuthenticationDependencies & {
  /** Domain whose hosts name a data center (decision D1); without it any host serves all workspaces. */
  serviceDomain?: string | undefined;
  /** Where credentials are looked up: whose they are is not known before. */
  acrossWorkspaces?: TokenDependencies['database'];
};

/** The same for what happens before, or outside of, a call of one known workspace. */
export function acrossOf<Deps extends BearerDependencies>(deps: Deps): Deps {
  return { ...deps, database: deps.acrossWorkspaces ?? deps.database };
}

/** Authenticates the call and notes workspace and key in its facts; answers a refusal itself. */
export type RequireScope = (scope: Scope) => (request: FastifyRequest, reply: FastifyReply) => Promise<void>;

declare module 'fastify' {
  interface FastifyRequest {
    /** The key behind the call, after its authentication. */
    callerKey?: ApiKey;
  }
}

/**
 * Makes `requireScope(scope)`, a preHandler for routes that take `Authorization: Bearer` (decision D16). Families with
 * their own scheme use it if `isBearer` says so. Refusals have the shape of the gateway, not of the family.
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

/** Whether the call authenticates with Bearer, well or badly; then its family's own scheme does not apply. */
export function isBearer(request: FastifyRequest): boolean {
  return /^bearer(?: |$)/i.test(request.headers.authorization ?? '');
}

async function authenticate(deps: BearerDependencies, request: FastifyRequest, scope: Scope): Promise<ApiKey> {
  const query = request.query as Record<string, unknown> | undefined;
  // RFC 6750 §2.3 allows it and warns of it: addresses end in logs and histories.
  if (query && Object.hasOwn(query, 'access_token')) throw invalid('access token in the query');
  const token = /^bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) throw invalid('no Bearer token');
  const dataCenter = dataCenterOfHost(request.hostname, deps.serviceDomain);
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
