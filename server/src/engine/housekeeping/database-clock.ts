import { keepInStep } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import type { Job } from '../jobs/job.ts';

export type FollowDatabaseClockDependencies = { database: Database; clock: Clock; onMoved: () => void };

/**
 * The job that keeps this node's clock in step with the database's, and with the sandbox's if another node moved it or let
 * it stand.
 */
export function makeFollowDatabaseClock({ database, clock, onMoved }: FollowDatabaseClockDependencies): Job {
  return {
    name: 'follow-database-clock',
    intervalMilliseconds: 5_000,
    async runOnce() {
      await keepInStep(clock, () => readDatabaseClock(database));
      const before = { offset: clock.offsetMilliseconds(), standsAt: clock.standsAt()?.getTime() };
      const installation = await findInstallation(database);
      // This node moved it while it was read: what was read may be from before, and jobs would look at a time that is over.
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
