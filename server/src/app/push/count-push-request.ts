import type { Clock } from '../../clock.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { countWithinLimit } from '../../storage/limits/limit-windows.ts';
import type { LimitGrant } from '../../storage/limits/limit-windows.ts';
import { makeCommitTogether } from './commit-together.ts';

/**
 * Counts one push request against the workspace's limit. Requests that arrive together are counted together: one row
 * per workspace and batch.
 */
export function makeCountPushRequest(deps: {
  database: Database;
  clock: Clock;
  requestsPerMinute: number;
}): (workspaceId: string) => Promise<LimitGrant> {
  return makeCommitTogether((workspaceIds) => countBatch(deps, workspaceIds), {
    batchItems: 1_000,
    waitingItems: 20_000,
  });
}

async function countBatch(
  { database, clock, requestsPerMinute }: Parameters<typeof makeCountPushRequest>[0],
  workspaceIds: string[],
): Promise<LimitGrant[]> {
  const wanted = new Map<string, number>();
  for (const id of workspaceIds) wanted.set(id, (wanted.get(id) ?? 0) + 1);
  const grants = new Map<string, LimitGrant>();
  await inTransaction(database, async (tx) => {
    // In order of id: two nodes lock the same counters in the same order.
    for (const workspaceId of [...wanted.keys()].sort()) {
      const grant = await countWithinLimit(tx, {
        operation: 'push',
        workspaceId,
        wanted: wanted.get(workspaceId)!,
        limit: requestsPerMinute,
        windowSeconds: 60,
        at: clock.now(),
      });
      grants.set(workspaceId, grant);
    }
  });
  const left = new Map([...grants].map(([id, grant]) => [id, grant.granted]));
  return workspaceIds.map((id) => {
    const grant = grants.get(id)!;
    const rest = left.get(id)!;
    left.set(id, rest - 1);
    return { ...grant, granted: rest > 0 ? 1 : 0 };
  });
}
