import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { continueMendedRuns } from '../../storage/runs/run-refusals.ts';
import type { Job } from '../job.ts';

export type ContinueMendedRunsDependencies = { database: Database; clock: Clock; onContinued: () => void };

/**
 * The job that sends what waits for a refused credential when there is another, or when the provider took it as it was checked
 * again. What workers did meanwhile with credentials that they remembered is found the next time.
 */
export function makeContinueMendedRuns({ database, clock, onContinued }: ContinueMendedRunsDependencies): Job {
  return {
    name: 'continue-mended-runs',
    intervalMilliseconds: 2_000,
    async runOnce() {
      const continued = await continueMendedRuns(database, clock.now());
      if (continued > 0) onContinued();
      // Not again at once: for two seconds a worker may still know what was refused, and would be refused again and again.
      return 0;
    },
  };
}
