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
 * Routes of the data family (fact 5): import users, devices and events, one by one or in bulk; export, merge and delete
 * users; block devices; test the connection.
 */
export function dataRoutes(deps: DataRouteDependencies): RouteFamily {
  return async (server) => {
    // The shapes only document the routes; the parsers report the family's own errors.
    server.setValidatorCompiler(() => () => true);
    server.setErrorHandler(async (error, request, reply) => {
      await showLimitOfRefusal(deps, { request, reply });
      return presentDataError(toServiceError(error, request), { request, reply });
    });
    for (const route of [...incomingRoutes(deps.vendorHeaders.prefixes), ...usersRoutes])
      addDataRoute(server as unknown as FastifyInstance, deps, route);
    // Its credentials are in the body, so it is not bound to a workspace.
    addAuthenticationRoute(server as unknown as FastifyInstance, acrossOf(deps));
  };
}

/**
 * Adds the state of the limit to every response to a known caller (fact 0.1), even if the call was rejected before it was
 * counted.
 */
async function showLimitOfRefusal(
  deps: DataRouteDependencies,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<void> {
  const operation = request.routeOptions.config.dataOperation;
  const { workspaceId } = request.facts;
  if (operation === undefined || workspaceId === undefined || reply.hasHeader('x-ratelimit-limit')) return;
  // Outside of the handler the call is not bound to a workspace. If the limit cannot be read, the error response is still sent.
  const grant = await peekDataCall(acrossOf(deps), { workspaceId, operation }).catch(() => undefined);
  if (grant) showLimit(reply, grant);
}
