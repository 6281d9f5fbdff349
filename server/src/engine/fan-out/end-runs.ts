import type { Clock } from '../../clock.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { endFinishedCampaigns, endFinishedRuns, retireFinishedCampaigns } from '../../storage/runs/run-states.ts';
import { settleStoppedRuns } from '../../storage/runs/stopped-runs.ts';
import type { Job } from '../job.ts';

/**
 * The job that ends runs with nothing left to send, and their campaigns: one-time campaigns with their last run,
 * periodic ones when no occurrence is left either. It also settles windows that were in flight when their run was
 * stopped.
 */
export function makeEndRuns({ database, clock }: { database: Database; clock: Clock }): Job {
  return {
    name: 'end-runs',
    intervalMilliseconds: 2000,
    async runOnce(now) {
      const changed = await inTransaction(database, async (tx) => {
        const ended = await endFinishedRuns(tx, { at: now, limit: 100 });
        const campaignIds = [...new Set(ended.map((run) => run.campaignId))];
        if (ended.length > 0) await endFinishedCampaigns(tx, { campaignIds, at: now });
        return ended.length + (await retireFinishedCampaigns(tx, { at: now, limit: 100 }));
      });
      return changed + (await settleStoppedRuns(database, { at: now, leasesEndedAt: clock.realNow() }));
    },
  };
}
