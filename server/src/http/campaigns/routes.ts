import type { RouteFamily } from '../server/build-server.ts';
import type { CampaignRouteDependencies } from './call.ts';
import { migrationGuideRoute, campaignV1Routes } from './v1.ts';
import { campaignV5Routes } from './v5.ts';
import { winnerRoutes } from './winner.ts';

/** Campaign search and executions (interface 4.6). Each version has its own response shape, so each has its own scope. */
export function campaignRoutes(deps: CampaignRouteDependencies): RouteFamily {
  return async (server) => {
    migrationGuideRoute(server, deps.migrationGuideFile);
    await server.register(campaignV1Routes(deps));
    await server.register(campaignV5Routes(deps));
    await server.register(winnerRoutes(deps));
  };
}
