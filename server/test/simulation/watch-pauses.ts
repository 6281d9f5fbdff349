import type { Clock } from '../../src/clock.ts';
import type { Database } from '../../src/storage/database.ts';
import type { SimulatedRequest } from './simulated-providers.ts';
import { listSelfPausedRuns } from './simulated-store.ts';

/** A run that the product paused by itself. */
export type SelfPause = { runId: string; realAt: number; requestsBefore: number };

type Watched = { database: Database; clock: Clock; requests: readonly SimulatedRequest[] };

/** Notes when the product pauses a run by itself, which it can do only for an answer. */
export function makePauseWatch({ database, clock, requests }: Watched) {
  const pauses: SelfPause[] = [];
  let known = new Set<string>();
  let requestsBefore = 0;
  return {
    pauses,
    async look(): Promise<void> {
      if (requests.length === requestsBefore) return;
      requestsBefore = requests.length;
      const paused = await listSelfPausedRuns(database);
      const added = paused.filter((runId) => !known.has(runId));
      pauses.push(...added.map((runId) => ({ runId, realAt: clock.realNow().getTime(), requestsBefore })));
      known = new Set(paused);
    },
  };
}
