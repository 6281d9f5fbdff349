import type { Clock } from '../../clock.ts';
import { statsRequestsPerMinute } from '../../domain/stats/limits.ts';
import { countWithinLimit } from '../../storage/limits/limit-marks.ts';
import type { LimitGrant } from '../../storage/limits/limit-marks.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';

/** Counts a request for statistics, if the minute has quota for it. */
export async function countStatsRequest(
  { database, clock }: { database: Database; clock: Clock },
  workspaceId: string,
): Promise<LimitGrant> {
  return await inTransaction(database, (tx) =>
    countWithinLimit(tx, {
      operation: 'campaign-stats',
      workspaceId,
      wanted: 1,
      limit: statsRequestsPerMinute,
      windowSeconds: 60,
      at: clock.now(),
    }),
  );
}
