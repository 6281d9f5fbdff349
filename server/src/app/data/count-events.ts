import type { Database } from '../../storage/pool.ts';
import { countWithinLimit } from '../../storage/sql/limit-marks.ts';
import type { LimitCount, LimitGrant } from '../../storage/sql/limit-marks.ts';

/** Facts 5: events per workspace and minute, not requests. */
export const eventsPerMinute = 30_000;

/**
 * Counts the events of a request if there is room for all of them, else none. A refusal says when there would be room
 * for all. Every statement works under the lock of the workspace's counter, so nothing changes between them.
 */
export async function countEvents(database: Database, count: LimitCount): Promise<LimitGrant> {
  const { wanted, limit } = count;
  return database.begin(async (tx) => {
    // Room for one under a limit that is lower by the others is room for all.
    const room = await countWithinLimit(tx, { ...count, wanted: 0, limit: limit - wanted + 1 });
    if (room.remaining > 0) return countWithinLimit(tx, count);
    const { remaining } = await countWithinLimit(tx, { ...count, wanted: 0 });
    return { granted: 0, remaining, retryAfterSeconds: Math.max(1, room.retryAfterSeconds) };
  }) as Promise<LimitGrant>;
}
