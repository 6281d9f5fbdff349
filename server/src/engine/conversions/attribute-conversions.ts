import { matchGoal } from '../../domain/campaigns/match-goal.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { findReachedEvents, insertConversions } from '../../storage/ledger/interactions.ts';
import type { Conversion, ReachedEvent } from '../../storage/ledger/interactions.ts';
import { takeUnattributedEvents } from '../../storage/users/events.ts';
import type { Job } from '../job.ts';
import { conversionWindowHours } from '../../domain/campaigns/limits.ts';

const batchEvents = 500;

export type AttributeConversionsDependencies = {
  database: Database;
  /** How long an event waits before it is looked at. */
  settleSeconds: number;
};

/**
 * The job that counts events as conversions of the campaigns that reached their user before (interface 2.10). It takes
 * events and stores their conversions in one transaction: after a crash they are taken again, two nodes never take the
 * same event, and the key of a conversion also rejects a second row for one event.
 */
export function makeAttributeConversions({ database, settleSeconds }: AttributeConversionsDependencies): Job {
  return {
    name: 'attribute-conversions',
    intervalMilliseconds: Math.min(5_000, settleSeconds * 500),
    async runOnce(now) {
      const until = new Date(now.getTime() - settleSeconds * 1000);
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
