import { matchGoal } from '../../domain/campaigns/match-goal.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findReachedEvents, insertConversions } from '../../storage/ledger/interactions.ts';
import type { Conversion, ReachedEvent } from '../../storage/ledger/interactions.ts';
import { takeUnattributedEvents } from '../../storage/users/events.ts';
import type { Job } from '../job.ts';
import { conversionWindowHours } from '../../domain/campaigns/limits.ts';

const batchEvents = 500;

/**
 * An event waits this long before it is looked at: a window stores its deliveries with the instant just before its
 * transaction, and only committed rows can be found. Twice the maximum time the database allows a transaction to be
 * idle (`idle_in_transaction_session_timeout`, 60 s).
 */
export const settleMilliseconds = 120_000;

/**
 * The job that counts events as conversions of the campaigns that reached their user before (interface 2.10). It takes
 * events and stores their conversions in one transaction: after a crash they are taken again, two nodes never take the
 * same event, and the key of a conversion also rejects a second row for one event.
 */
export function makeAttributeConversions({ database }: { database: Database }): Job {
  return {
    name: 'attribute-conversions',
    intervalMilliseconds: 5_000,
    async runOnce(now) {
      const until = new Date(now.getTime() - settleMilliseconds);
      return inTransaction(database, async (tx) => {
        const taken = await takeUnattributedEvents(tx, { until, limit: batchEvents });
        if (taken.length === 0) return 0;
        const reached = await findReachedEvents(tx, { taken, windowHours: conversionWindowHours });
        await insertConversions(tx, reached.flatMap(toConversions));
        return taken.length;
      });
    },
  };
}

/** One for each goal of the campaign that the event fulfils. */
function toConversions({ name, attributes, goals, ...reached }: ReachedEvent): Conversion[] {
  return goals.flatMap((goal, index) => (matchGoal(goal, { name, attributes }) ? [{ ...reached, goal: index }] : []));
}
