import { inTransaction, planByValues } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { claimPositions } from '../../storage/journeys/due-positions.ts';
import { addJourneyFigures, endPositions } from '../../storage/journeys/positions.ts';
import { listEndingJourneys, listOpenEntries, noteEnded } from '../../storage/journeys/stopped-journeys.ts';
import type { EndingJourney } from '../../storage/journeys/stopped-journeys.ts';
import { utcDay } from '../../storage/runs/runs.ts';

// A request that read the journey while it was active may store an entry after the stop. No transaction takes that long.
const watchedMilliseconds = 600_000;
const journeysPerRun = 10;

type Ending = { now: Date; limit: number };

/**
 * Lets users leave stopped journeys, in batches. A journey is looked at for ten minutes after its stop, because an event that came at
 * the same moment may let somebody enter a little later.
 *
 * @returns how many entries it ended
 */
export async function endStoppedJourneys(database: Database, { now, limit }: Ending): Promise<number> {
  let all = 0;
  for (const journey of await listEndingJourneys(database, journeysPerRun)) {
    const { listed, ended } = await endBatch(database, { journey, now, limit });
    all += ended;
    const isOver = now.getTime() - journey.stoppedAt.getTime() > watchedMilliseconds;
    if (listed === 0 && isOver) await noteEnded(database, journey);
  }
  return all;
}

type Batch = Ending & { journey: EndingJourney };

/** Entries that others hold are listed, but not ended; the next batch finds them again. */
async function endBatch(
  database: Database,
  { journey: { workspaceId, journeyId }, now, limit }: Batch,
): Promise<{ listed: number; ended: number }> {
  return inTransaction(database, async (tx) => {
    await planByValues(tx);
    const keys = await listOpenEntries(tx, { workspaceId, journeyId, limit });
    const held = await claimPositions(tx, { keys, due: 'at any time' });
    await endPositions(tx, { ended: held.map((position) => ({ ...position, reason: 'STOPPED' as const })), at: now });
    const changes = held.map(({ version }) => ({
      ...{ workspaceId, journeyId, version, step: '', edge: 'STOPPED', users: 1 },
    }));
    await addJourneyFigures(tx, { changes, day: utcDay(now), slot: 0 });
    return { listed: keys.length, ended: held.length };
  });
}
