import type { Clock } from '../../clock.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { settleStoppedRuns } from '../../storage/runs/campaign-runs.ts';
import { endFinishedRuns } from '../../storage/runs/ended-runs.ts';
import {
  endFinishedCampaigns,
  listJoinedCampaigns,
  retireFinishedCampaigns,
  sumRunCounts,
} from '../../storage/runs/run-states.ts';
import type { Job } from '../jobs/job.ts';

export type EndRunsDependencies = { database: Database; clock: Clock; log: Logger };

const intervalMilliseconds = 2_000;
const maxRuns = 1_000;
const maxJoinedCampaigns = 1_000;

/**
 * The job that ends runs with nothing left to send, and their campaigns. A one-time campaign ends with its last run, a periodic
 * campaign when it also has no occurrence left. A campaign that pushes to named users join more often than every five seconds stays
 * open between them. The job therefore looks at the open campaigns of this kind every two seconds, a thousand at a time; these
 * include those of a node that died after it had ended their runs. The job also settles windows that were in flight when their run was stopped.
 */
export function makeEndRuns({ database, clock, log }: EndRunsDependencies): Job {
  let sweptAt = -Infinity;
  let lastJoined = '';
  return {
    name: 'end-runs',
    intervalMilliseconds,
    async runOnce(now) {
      const isSweep = Math.abs(now.getTime() - sweptAt) >= intervalMilliseconds;
      const { ended, joined, retired } = await inTransaction(database, async (tx) => {
        const ended = await endFinishedRuns(tx, { at: now, limit: maxRuns });
        const joined = isSweep ? await listJoinedCampaigns(tx, { after: lastJoined, limit: maxJoinedCampaigns }) : [];
        const campaignIds = [...new Set([...ended.map((run) => run.campaignId), ...joined])];
        if (campaignIds.length > 0) await endFinishedCampaigns(tx, { campaignIds, at: now });
        return { ended, joined, retired: await retireFinishedCampaigns(tx, { at: now, limit: 100 }) };
      });
      if (isSweep) {
        sweptAt = now.getTime();
        lastJoined = joined.length < maxJoinedCampaigns ? '' : joined.at(-1)!;
      }
      for (const run of ended) if (run.lane === 1) await logEnded({ database, log }, run);
      return ended.length + retired + (await settleStoppedRuns(database, { at: now, leasesEndedAt: clock.realNow() }));
    },
  };
}

/** Campaigns end this long after their runs to named users, many with one statement. */
const endMilliseconds = 100;

/**
 * Returns a function that ends campaigns whose runs to named users have ended, unless others are open. It does not wake the job,
 * which looks at every run that is under way. If a campaign cannot be ended, the job finds it.
 */
export function makeEndNamedCampaigns({ database, clock, log }: EndRunsDependencies): (campaignIds: string[]) => void {
  const noted = new Set<string>();
  let isWaiting = false;
  const end = async (): Promise<void> => {
    const campaignIds = [...noted];
    noted.clear();
    isWaiting = false;
    try {
      await inTransaction(database, (tx) => endFinishedCampaigns(tx, { campaignIds, at: clock.now() }));
    } catch (error) {
      log.warn({ err: error }, 'campaigns of named users were not ended');
    }
  };
  return (campaignIds) => {
    for (const id of campaignIds) noted.add(id);
    if (isWaiting || noted.size === 0) return;
    isWaiting = true;
    setTimeout(() => void end(), endMilliseconds).unref();
  };
}

type Ended = Awaited<ReturnType<typeof endFinishedRuns>>[number];

/** Logs the outcome of a send to an audience. Sends to named users are frequent and are logged as API calls instead. */
async function logEnded(
  { database, log }: Pick<EndRunsDependencies, 'database' | 'log'>,
  { id: runId, campaignId, workspaceId: workspace, status, reason }: Ended,
): Promise<void> {
  // The run has ended anyway; a line without counts is better than none.
  const counts = await sumRunCounts(database, runId).catch(() => undefined);
  const line = { runId, campaignId, workspace, counts };
  if (status === 'FAILED') log.warn({ ...line, reason }, 'run failed');
  else log.info(line, 'run ended');
}
