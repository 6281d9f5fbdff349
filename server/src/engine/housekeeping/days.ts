import type { Clock } from '../../clock.ts';
import { keptSince, retentionTime } from '../../domain/operations/retention.ts';
import type { RetentionDays } from '../../domain/operations/retention.ts';
import type { Logger } from '../../log.ts';
import { keepFailures } from '../../storage/campaigns/campaign-failures.ts';
import type { Database } from '../../storage/database.ts';
import {
  dropDay,
  hasDeliveriesSince,
  hasUnattributedEvents,
  listOldDays,
  listUnfinishedDays,
  dayTables,
  makeDay,
} from '../../storage/day-partitions.ts';
import type { DayTable } from '../../storage/day-partitions.ts';
import type { Job } from '../jobs/job.ts';

export type DropOldDaysDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  retention: Pick<RetentionDays, 'ledger' | 'events'>;
};

// The maximum number of days checked per run of the job: more than a paused run may hold back.
const maxDays = 1_000;
// A statement with this many runs takes well below a second.
const runsAtOnce = 500;
// How long until a day that is still needed is checked again. Each check reads the whole day.
const secondLookMilliseconds = 24 * 3_600_000;

/**
 * The job that drops days of the ledger and of the events that are past their retention, oldest first, one per run of the job.
 * A ledger day stays until all its runs are over, and then for the retention time after its last delivery. The reasons for its
 * failed deliveries are stored first.
 */
export function makeDropOldDays({ database, clock, log, retention }: DropOldDaysDependencies): Job {
  const neededUntil = new Map<string, number>();
  /** The progress of storing a day's failures. */
  let counted: { day: string; last: number } | undefined;

  /** @returns true if all of the day's failures are stored */
  async function keepFailuresOf(day: string): Promise<boolean> {
    const after = counted?.day === day ? counted.last : 0;
    const last = await keepFailures(database, { day, after, limit: runsAtOnce });
    counted = last === undefined ? undefined : { day, last };
    return last === undefined;
  }

  async function findDroppable(table: DayTable, since: Date): Promise<string | undefined> {
    const before = since.toISOString().slice(0, 10);
    const days = await listOldDays(database, { table, before, limit: maxDays });
    if (days.length === 0) return undefined;
    const open = table === 'deliveries' ? new Set(await listUnfinishedDays(database)) : new Set();
    const lookedAt = clock.realNow().getTime();
    for (const day of days.filter((one) => !open.has(one))) {
      if ((neededUntil.get(`${table} ${day}`) ?? 0) > lookedAt) continue;
      const isNeeded =
        table === 'deliveries'
          ? await hasDeliveriesSince(database, { day, since })
          : await hasUnattributedEvents(database, day);
      if (!isNeeded) return day;
      neededUntil.set(`${table} ${day}`, lookedAt + secondLookMilliseconds);
    }
    return undefined;
  }

  /** @returns 1 if there may be more to do immediately */
  async function dropOne(table: DayTable, { now, keptDays }: { now: Date; keptDays: number }): Promise<number> {
    const day = await findDroppable(table, keptSince(now, keptDays));
    if (day === undefined) return 0;
    if (table === 'deliveries' && !(await keepFailuresOf(day))) return 1;
    const outcome = await dropDay(database, { table, day, keptDays });
    if (outcome === 'dropped') log.info({ table, day, keptDays }, 'day dropped');
    neededUntil.delete(`${table} ${day}`);
    return outcome === 'dropped' ? 1 : 0;
  }

  return {
    name: 'drop-old-days',
    intervalMilliseconds: 60_000,
    async runOnce(at) {
      const now = retentionTime({ now: at, realNow: clock.realNow() });
      const ledger = await dropOne('deliveries', { now, keptDays: retention.ledger });
      return ledger + (await dropOne('events', { now, keptDays: retention.events }));
    },
  };
}

const dayMilliseconds = 24 * 3_600_000;

/**
 * The job that creates today's and tomorrow's partitions, of the ledger and of the events, so that no send and no event has to
 * wait for one. If a day is missing anyway, the code that needs it creates it.
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
