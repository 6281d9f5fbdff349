import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { peekDataCall } from '../../app/data.ts';
import { acrossOf } from '../route/auth.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { toServiceError } from '../route/errors.ts';
import { addAuthenticationRoute } from './authentication.ts';
import { showLimit, addDataRoute } from './call.ts';
import type { DataRouteDependencies } from './call.ts';
import { incomingRoutes } from './incoming.ts';
import { usersRoutes } from './users.ts';
import { presentDataError } from './answers.ts';

export type { DataRouteDependencies };

/**
 * The data family (fact 5): people, devices and events in, one by one or in bulk; people exported, merged, deleted;
 * devices blocked; a test of the connection.
 */
export function dataRoutes(deps: DataRouteDependencies): RouteFamily {
  return async (server) => {
    // The shapes document the routes; the family's own errors come from the parse files.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler(async (error, request, reply) => {
      await showLimitOfRefusal(deps, { request, reply });
      return presentDataError(toServiceError(error, request), { request, reply });
    });
    for (const route of [...incomingRoutes(deps.vendorHeaders.prefixes), ...usersRoutes])
      addDataRoute(server as unknown as FastifyInstance, deps, route);
    // Its credentials are in the body, so it is bound to none.
    addAuthenticationRoute(server as unknown as FastifyInstance, acrossOf(deps));
  };
}

/**
 * Every response to a known caller carries the state of the limit (fact 0.1), even if it was refused before being
 * counted.
 */
async function showLimitOfRefusal(
  deps: DataRouteDependencies,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<void> {
  const operation = request.routeOptions.config.dataOperation;
  const { workspaceId } = request.facts;
  if (operation === undefined || workspaceId === undefined || reply.hasHeader('x-ratelimit-limit')) return;
  // Outside of the handler the call is bound to no workspace. A refusal must not become a fault because its limit could not be read.
  const grant = await peekDataCall(acrossOf(deps), { workspaceId, operation }).catch(() => undefined);
  if (grant) showLimit(reply, grant);
}
