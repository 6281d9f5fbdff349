import type { RouteFamily } from '../build-server.ts';
import { cohortRoutes } from './cohort-routes.ts';
import { fileSegmentRoutes } from './file-segment-routes.ts';
import { filterSegmentRoutes } from './filter-segment-routes.ts';
import type { SegmentRouteDependencies } from './segment-route-dependencies.ts';

/** All routes of segments; each of the three families answers errors in its own shape, so each has its own scope. */
export function segmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  return async (server) => {
    await server.register(fileSegmentRoutes(deps));
    await server.register(filterSegmentRoutes(deps));
    await server.register(cohortRoutes(deps));
  };
}
