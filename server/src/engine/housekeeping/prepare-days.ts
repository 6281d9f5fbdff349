import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import { dayTables, makeDay } from '../../storage/retention/day-partitions.ts';
import type { Job } from '../job.ts';

const dayMilliseconds = 24 * 3_600_000;

/**
 * The job that makes the partitions of today and tomorrow, of the ledger and of the events, so that no send and no event
 * has to wait for one. Whoever finds a day missing all the same makes it.
 */
export function makePrepareDays({ database, log }: { database: Database; log: Logger }): Job {
  return {
    name: 'prepare-days',
    intervalMilliseconds: 600_000,
    async runOnce(now) {
      for (const ahead of [0, dayMilliseconds])
        for (const table of dayTables) {
          const day = new Date(now.getTime() + ahead).toISOString().slice(0, 10);
          if (await makeDay(database, { table, day })) log.info({ table, day }, 'day made');
        }
      return 0;
    },
  };
}
