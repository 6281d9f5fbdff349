import { keepInStep } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import type { Job } from '../jobs/job.ts';

export type FollowDatabaseClockDependencies = { database: Database; clock: Clock; onMoved: () => void };

/**
 * The job that keeps this node's clock in step with the database's. It also follows the sandbox's clock if another node moved
 * or stopped it.
 */
export function makeFollowDatabaseClock({ database, clock, onMoved }: FollowDatabaseClockDependencies): Job {
  return {
    name: 'follow-database-clock',
    intervalMilliseconds: 5_000,
    async runOnce() {
      await keepInStep(clock, () => readDatabaseClock(database));
      const before = { offset: clock.offsetMilliseconds(), standsAt: clock.standsAt()?.getTime() };
      const installation = await findInstallation(database);
      // This node moved the clock during the read. The read values may be outdated, and jobs would run for a time in the past.
      if (clock.offsetMilliseconds() !== before.offset || clock.standsAt()?.getTime() !== before.standsAt) return 0;
      const offset = installation?.clockOffsetMilliseconds ?? 0;
      const standsAt = installation?.clockFrozenAt ?? undefined;
      const isMoved = offset !== clock.offsetMilliseconds() || standsAt?.getTime() !== clock.standsAt()?.getTime();
      if (isMoved) {
        clock.setOffset(offset);
        clock.standAt(standsAt);
        onMoved();
      }
      return 0;
    },
  };
}
