import type { RouteFamily } from '../server/build-server.ts';
import { cohortRoutes } from './cohorts.ts';
import { fileSegmentRoutes } from './file-segments.ts';
import { filterSegmentRoutes } from './filter-segments.ts';
import type { SegmentRouteDependencies } from './answers.ts';

/** All routes of segments. Each of the three families has its own error shape, so each has its own scope. */
export function segmentRoutes(deps: SegmentRouteDependencies): RouteFamily {
  return async (server) => {
    await server.register(fileSegmentRoutes(deps));
    await server.register(filterSegmentRoutes(deps));
    await server.register(cohortRoutes(deps));
  };
}
