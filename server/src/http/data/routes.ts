import { acrossOf } from '../route/auth.ts';
import { addRoutes } from '../route/route.ts';
import type { RouteFamily } from '../server/build-server.ts';
import { authenticationRoute } from './authentication.ts';
import { inQuery, makeDataRoute } from './call.ts';
import type { DataRouteDependencies } from './call.ts';
import { incomingRoutes } from './incoming.ts';
import { usersRoutes } from './users.ts';

export type { DataRouteDependencies };

/**
 * Routes of the data family (fact 5): import users, devices and events, one by one or in bulk; export, merge and delete
 * users; block devices; test the connection.
 */
export function dataRoutes(deps: DataRouteDependencies): RouteFamily {
  return async (server) => {
    const dataRoute = makeDataRoute(deps);
    const incoming = incomingRoutes(deps, dataRoute);
    await addRoutes(server, [
      ...incoming,
      ...incoming.map(inQuery),
      ...usersRoutes(deps, dataRoute),
      // Its credentials are in the body, so it is not bound to a workspace.
      authenticationRoute(acrossOf(deps)),
    ]);
  };
}
