import type { FastifyReply, FastifyRequest } from 'fastify';
import { authenticateKey } from '../../app/keys/authenticate-key.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { ErrorName } from '../../domain/errors.ts';
import { dataCenterOfHost } from '../../domain/tokens/data-center.ts';
import { opensAsPassword } from '../../domain/tokens/scopes.ts';
import type { Scope } from '../../domain/tokens/scopes.ts';
import { readBasic } from './basic.ts';
import { acrossOf, isBearer, makeRequireBearer } from './bearer.ts';
import type { BearerDependencies } from './bearer.ts';

/** The words of the family that is called. */
export type ApiKeyErrors = { missing: ErrorName; invalid: ErrorName; notCovering: ErrorName };

/**
 * Makes the hook of a family that takes Basic (workspace id and API key) or Bearer (decision D16, D45). The key behind
 * the call is `request.callerKey` afterwards.
 */
export function makeRequireApiKey(deps: BearerDependencies, scope: Scope, errors: ApiKeyErrors) {
  const requireScope = makeRequireBearer(deps)(scope);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    if (isBearer(request)) return requireScope(request, reply);
    if (request.headers.authorization === undefined) throw new ServiceError(errors.missing);
    const basic = readBasic(request.headers);
    if (!basic) throw new ServiceError(errors.invalid, { detail: 'the header is no Basic authentication' });
    const dataCenter = dataCenterOfHost(request.hostname, deps.serviceDomain);
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
