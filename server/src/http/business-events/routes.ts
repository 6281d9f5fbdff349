import type { FastifyInstance } from 'fastify';
import type { RouteFamily } from '../build-server.ts';
import { makeRequireCampaignAccess } from '../campaigns/campaign-access.ts';
import { presentV1Error } from '../campaigns/present-v1.ts';
import { presentV5Error } from '../campaigns/present-v5.ts';
import { toServiceError } from '../to-service-error.ts';
import type { BusinessEventRouteDependencies } from './business-event-route-dependencies.ts';
import { addV1BusinessEvents } from './v1-routes.ts';
import { addV5BusinessEvents } from './v5-routes.ts';

type Version = {
  add: (server: FastifyInstance, deps: BusinessEventRouteDependencies) => void;
  presentError: typeof presentV1Error;
};

/** Business events, V1 and V5 (fact 6.3): keys, limits and errors are those of campaigns. */
export function businessEventRoutes(deps: BusinessEventRouteDependencies): RouteFamily {
  const versions: Version[] = [
    { add: addV1BusinessEvents, presentError: presentV1Error },
    { add: addV5BusinessEvents, presentError: presentV5Error },
  ];
  return async (server) => {
    for (const { add, presentError } of versions) {
      await server.register(async (scope) => {
        // The shapes document the routes; the family's own errors come from parse-business-event.ts.
        scope.setValidatorCompiler(() => () => true);
        scope.setErrorHandler((error, request, reply) =>
          presentError(toServiceError(error, request), { request, reply }),
        );
        scope.addHook('onRequest', makeRequireCampaignAccess(deps, { appKey: 'optional' }));
        add(scope, deps);
      });
    }
  };
}
