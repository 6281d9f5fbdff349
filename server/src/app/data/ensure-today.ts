import type { Clock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { ensureEventsPartition } from '../../storage/users/events.ts';
import { eventDay } from './track-events.ts';

export type EnsureToday = () => Promise<void>;

/** Makes the partition of the day's events, once a day: it remembers the day. */
export function makeEnsureToday({ database, clock }: { database: Database; clock: Clock }): EnsureToday {
  let known: string | undefined;
  return async () => {
    const day = eventDay(clock.now());
    if (known !== day) await ensureEventsPartition(database, day);
    known = day;
  };
}
