import type { Clock } from '../../clock.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Logger } from '../../log.ts';
import type { Database } from '../../storage/database.ts';
import {
  endFinishedCampaigns,
  endFinishedRuns,
  retireFinishedCampaigns,
  sumRunCounts,
} from '../../storage/runs/run-states.ts';
import { settleStoppedRuns } from '../../storage/runs/stopped-runs.ts';
import type { Job } from '../job.ts';

export type EndRunsDependencies = { database: Database; clock: Clock; log: Logger };

/**
 * The job that ends runs with nothing left to send, and their campaigns: one-time campaigns with their last run,
 * periodic ones when no occurrence is left either. It also settles windows that were in flight when their run was
 * stopped.
 */
export function makeEndRuns({ database, clock, log }: EndRunsDependencies): Job {
  return {
    name: 'end-runs',
    intervalMilliseconds: 2000,
    async runOnce(now) {
      const { ended, retired } = await inTransaction(database, async (tx) => {
        const ended = await endFinishedRuns(tx, { at: now, limit: 100 });
        const campaignIds = [...new Set(ended.map((run) => run.campaignId))];
        if (ended.length > 0) await endFinishedCampaigns(tx, { campaignIds, at: now });
        return { ended, retired: await retireFinishedCampaigns(tx, { at: now, limit: 100 }) };
      });
      for (const run of ended) if (run.lane === 1) await logEnded({ database, log }, run);
      return ended.length + retired + (await settleStoppedRuns(database, { at: now, leasesEndedAt: clock.realNow() }));
    },
  };
}

type Ended = Awaited<ReturnType<typeof endFinishedRuns>>[number];

/** What became of a send to an audience. Those to named users are many, and have their line as calls. */
async function logEnded(
  { database, log }: Pick<EndRunsDependencies, 'database' | 'log'>,
  { id: runId, campaignId, workspaceId: workspace, status, reason }: Ended,
): Promise<void> {
  // Ended it is; a line without counts is better than none.
  const counts = await sumRunCounts(database, runId).catch(() => undefined);
  const line = { runId, campaignId, workspace, counts };
  if (status === 'FAILED') log.warn({ ...line, reason }, 'run failed');
  else log.info(line, 'run ended');
}
