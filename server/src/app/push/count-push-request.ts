import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { countBeforehand } from '../../storage/limits/limit-marks.ts';
import type { LimitGrant } from '../../storage/limits/limit-marks.ts';
import { batchPause, makeWorkTogether } from './work-together.ts';

/**
 * Counts one push request against the workspace's limit. Requests that arrive together are counted together: one row
 * per workspace and batch.
 */
export function makeCountPushRequest(deps: {
  database: Database;
  clock: Clock;
  requestsPerMinute: number;
}): (workspaceId: string) => Promise<LimitGrant> {
  return makeWorkTogether((workspaceIds) => countBatch(deps, workspaceIds), {
    batchItems: 1_000,
    waitingItems: 20_000,
    // Both would count for the same workspaces.
    batchesAtOnce: 1,
    pause: batchPause,
  });
}

async function countBatch(
  { database, clock, requestsPerMinute }: Parameters<typeof makeCountPushRequest>[0],
  workspaceIds: string[],
): Promise<LimitGrant[]> {
  const wanted = new Map<string, number>();
  for (const id of workspaceIds) wanted.set(id, (wanted.get(id) ?? 0) + 1);
  const counts = [...wanted].map(([workspaceId, count]) => ({
    operation: 'push',
    workspaceId,
    wanted: count,
    limit: requestsPerMinute,
    windowSeconds: 60,
    at: clock.now(),
  }));
  const granted = await countBeforehand(database, counts);
  const grants = new Map(counts.map(({ workspaceId }, place) => [workspaceId, granted[place]!]));
  const left = new Map([...grants].map(([id, grant]) => [id, grant.granted]));
  return workspaceIds.map((id) => {
    const grant = grants.get(id)!;
    const rest = left.get(id)!;
    left.set(id, rest - 1);
    return { ...grant, granted: rest > 0 ? 1 : 0 };
  });
}
