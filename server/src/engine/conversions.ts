import { attributeEvent, revenueOf, windowHoursOf, matchGoal } from '../domain/campaigns/conversions.ts';
import { sessionIdleMinutes } from '../domain/limits/campaigns.ts';
import { addLearned } from '../storage/campaigns/variations.ts';
import type { LearnedRow } from '../storage/campaigns/variations.ts';
import { inTransaction } from '../storage/database.ts';
import type { Database, Transaction } from '../storage/database.ts';
import {
  findConvertedUsers,
  insertConversions,
  findMessagesOfEvents,
  measureIdleSeconds,
} from '../storage/ledger/conversions.ts';
import type { Conversion, ConvertedUser, MessageOfEvent } from '../storage/ledger/conversions.ts';
import { takeUnattributedEvents } from '../storage/users/events.ts';
import type { Job } from './jobs/job.ts';

const batchEvents = 500;

export type AttributeConversionsDependencies = {
  database: Database;
  /** How long an event waits before it is attributed. */
  settleSeconds: number;
};

/**
 * The job that counts events as conversions of the campaigns that reached their user before (interface 2.10). It claims events
 * and stores their conversions in one transaction: after a crash they are claimed again, two nodes never claim the same event,
 * and the key of a conversion also rejects a second row for one event.
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
        const messages = await findMessagesOfEvents(tx, taken);
        const conversions = await addSessions(tx, attribute(messages));
        const learned = await learnOf(tx, conversions);
        await insertConversions(tx, conversions);
        await addLearned(tx, learned);
        return taken.length;
      });
    },
  };
}

type Attributed = Conversion & Pick<MessageOfEvent, 'clickedAt'>;

/** Returns one conversion for each goal of a campaign that an event fulfils, and for each attribution that applies. */
function attribute(messages: readonly MessageOfEvent[]): Attributed[] {
  const ofEvents = Map.groupBy(messages, ({ eventId, campaignId }) => `${eventId}/${campaignId}`);
  return [...ofEvents.values()].flatMap((own) => {
    const { name, attributes, goals, occurredAt } = own[0]!;
    const fulfilled = goals.flatMap((goal, index) =>
      matchGoal(goal, { name, attributes }) ? [{ goal: index, revenue: revenueOf(goal, attributes) }] : [],
    );
    if (fulfilled.length === 0) return [];
    const attributed = attributeEvent(own, { occurredAt, windowHours: windowHoursOf(goals) });
    return attributed.flatMap(({ attribution, message }) =>
      fulfilled.map((goal) => ({ ...message, ...goal, attribution })),
    );
  });
}

/** Adds the conversions that are in the session of their click. */
async function addSessions(tx: Transaction, attributed: readonly Attributed[]): Promise<Conversion[]> {
  const clicked = attributed.filter(({ attribution }) => attribution === 'CLICK_THROUGH');
  const idleSeconds = await measureIdleSeconds(
    tx,
    clicked.map(({ clickedAt, ...conversion }) => ({ ...conversion, clickedAt: clickedAt! })),
  );
  const inSession = clicked.filter((_, index) => idleSeconds[index]! <= sessionIdleMinutes * 60);
  return [...attributed, ...inSession.map((conversion) => ({ ...conversion, attribution: 'IN_SESSION' as const }))];
}

/**
 * Returns the successes that conversions about to be stored add to runs that learn by their goal. A user counts once per run.
 * If two nodes store two events of a user at the same time, both may count.
 */
async function learnOf(tx: Transaction, conversions: readonly Conversion[]): Promise<LearnedRow[]> {
  const meant = conversions.filter(
    ({ attribution, learnsBy, goal, reach, variation }) =>
      attribution === 'TOTAL_CONVERSIONS' && learnsBy === 'GOAL' && goal === 0 && reach === null && variation !== null,
  );
  if (meant.length === 0) return [];
  const known = new Set((await findConvertedUsers(tx, meant)).map(keyOf));
  const fresh = new Map(meant.filter((conversion) => !known.has(keyOf(conversion))).map((row) => [keyOf(row), row]));
  return [...fresh.values()].map(({ workspaceId, runId, bucket, variation }) => ({
    ...{ workspaceId, runId, bucket, variation: variation! },
    ...{ trials: 0, successes: 1 },
  }));
}

function keyOf({ runId, userId }: ConvertedUser): string {
  return `${runId}/${userId}`;
}
