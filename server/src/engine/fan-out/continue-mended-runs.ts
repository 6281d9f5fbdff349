import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { releaseCheckedKeys } from '../../storage/limits/provider-evidence.ts';
import { continueMendedRuns } from '../../storage/runs/run-refusals.ts';
import type { Job } from '../job.ts';

export type ContinueMendedRunsDependencies = { database: Database; clock: Clock; onContinued: () => void };

/**
 * The job that sends the messages that wait for a refused credential when there is another one, when a device of the held key
 * was accepted, or when the provider accepted the credential as it was checked again. Messages that workers held meanwhile,
 * by what they remembered, are found the next time.
 */
export function makeContinueMendedRuns({ database, clock, onContinued }: ContinueMendedRunsDependencies): Job {
  return {
    name: 'continue-mended-runs',
    intervalMilliseconds: 2_000,
    async runOnce() {
      await releaseCheckedKeys(database, clock.now());
      const continued = await continueMendedRuns(database, clock.now());
      if (continued > 0) onContinued();
      // Not again at once: for two seconds a worker may still know what was refused, and would be refused again and again.
      return 0;
    },
  };
}
