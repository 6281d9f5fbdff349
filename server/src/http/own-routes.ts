import type { FastifyInstance } from 'fastify';
import type { Scope } from '../domain/tokens/scopes.ts';
import { makeRequireApiKey } from './auth/api-key.ts';
import type { BearerDependencies } from './auth/bearer.ts';
import { isGatewayError, presentGatewayError } from './auth/present.ts';
import { presentDefaultError } from './present-default-error.ts';
import { toServiceError } from './to-service-error.ts';

/** Who may call a route that no contract knows: whose key or token has this scope. */
export function makeRequireOwnKey(deps: BearerDependencies, scope: Scope) {
  return makeRequireApiKey(deps, scope, {
    missing: 'AUTHENTICATION_INVALID',
    invalid: 'AUTHENTICATION_INVALID',
    notCovering: 'SCOPE_MISSING',
  });
}

/** Bodies are read member by member (`own-body.ts`), and errors are problems (RFC 9457), but those of tokens. */
export function presentOwnErrors(server: FastifyInstance): void {
  server.setValidatorCompiler(() => () => true);
  server.setErrorHandler((error, request, reply) => {
    const fault = toServiceError(error, request);
    return isGatewayError(fault) ? presentGatewayError(fault, { request, reply }) : presentDefaultError(fault, reply);
  });
}
