import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { correctTurns } from '../../storage/runs/turns.ts';
import type { Job } from '../jobs/job.ts';

/**
 * The job that keeps the turns of runs in agreement with their chunks (decision 0074): runs that were paused, that waited for a
 * time, or whose worker died have work again, and ended runs have no turn. Workers do not depend on it: they also claim chunks
 * that have no turn.
 */
export function makeCorrectTurns({
  database,
  clock,
  wakeWorkers,
}: {
  database: Database;
  clock: Clock;
  wakeWorkers: () => void;
}): Job {
  return {
    name: 'correct-turns',
    intervalMilliseconds: 1000,
    async runOnce(now) {
      const woken = await correctTurns(database, { at: now, leasedAt: clock.realNow() });
      if (woken > 0) wakeWorkers();
      // Not repeated at once: a row that a worker holds is looked at a second later.
      return 0;
    },
  };
}
