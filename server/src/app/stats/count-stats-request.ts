import type { Clock } from '../../clock.ts';
import { statsRequestsPerMinute } from '../../domain/stats/limits.ts';
import { countWithinLimit } from '../../storage/limits/limit-windows.ts';
import type { LimitGrant } from '../../storage/limits/limit-windows.ts';
import type { Database } from '../../storage/pool.ts';

/** Counts a request for statistics, if the minute has quota for it. */
export async function countStatsRequest(
  { database, clock }: { database: Database; clock: Clock },
  workspaceId: string,
): Promise<LimitGrant> {
  return (await database.begin((tx) =>
    countWithinLimit(tx, {
      operation: 'campaign-stats',
      workspaceId,
      wanted: 1,
      limit: statsRequestsPerMinute,
      windowSeconds: 60,
      at: clock.now(),
    }),
  )) as LimitGrant;
}
