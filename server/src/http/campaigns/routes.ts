import type { RouteFamily } from '../build-server.ts';
import type { CampaignRouteDependencies } from './campaign-route-dependencies.ts';
import { migrationGuideRoute } from './deprecation.ts';
import { campaignV1Routes } from './v1-routes.ts';
import { campaignV5Routes } from './v5-routes.ts';
import { winnerRoutes } from './winner-routes.ts';

/** Campaign search and executions (interface 4.6); each version answers in its own shape, so each has its own scope. */
export function campaignRoutes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    migrationGuideRoute(server, deps.migrationGuideFile);
    await server.register(campaignV1Routes(deps));
    await server.register(campaignV5Routes(deps));
    await server.register(winnerRoutes(deps));
  };
}
