import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import type { Job } from '../job.ts';

export type FollowDatabaseClockDependencies = { database: Database; clock: Clock; onMoved: () => void };

/**
 * The job that keeps this node's clock in step with the database's, and with the sandbox's offset if another node moved
 * it.
 */
export function makeFollowDatabaseClock({ database, clock, onMoved }: FollowDatabaseClockDependencies): Job {
  return {
    name: 'follow-database-clock',
    intervalMilliseconds: 5_000,
    async runOnce() {
      clock.anchor(await readDatabaseClock(database));
      const offset = (await findInstallation(database))?.clockOffsetMilliseconds ?? 0;
      if (offset !== clock.offsetMilliseconds()) {
        clock.setOffset(offset);
        onMoved();
      }
      return 0;
    },
  };
}
