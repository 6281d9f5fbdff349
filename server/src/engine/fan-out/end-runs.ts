import type { Database } from '../../storage/pool.ts';
import { endFinishedCampaigns, endFinishedRuns } from '../../storage/sql/run-states.ts';
import type { Duty } from '../duty.ts';

/** The duty that ends runs with nothing left to send, and the one-time campaigns they belong to. */
export function endRuns({ database }: { database: Database }): Duty {
  return {
    name: 'end-runs',
    intervalMilliseconds: 2000,
    async runOnce(now) {
      return database.begin(async (tx) => {
        const ended = await endFinishedRuns(tx, { at: now, limit: 100 });
        if (ended.length > 0) {
          await endFinishedCampaigns(tx, {
            campaignIds: [...new Set(ended.map((run) => run.campaignId))].sort(),
            at: now,
          });
        }
        return ended.length;
      });
    },
  };
}
