import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import {
  deleteFrozenAudiences,
  deleteMembersOfArchived,
  deleteRemovedMembers,
} from '../../storage/segments/segment-members.ts';
import { dropSegmentStaging, findAbandonedStaging } from '../../storage/segments/segment-staging.ts';
import type { Job } from '../job.ts';
import { archivedMembersKeptDays } from '../../domain/segments/limits.ts';

const batchRows = 20_000;

/**
 * The job that deletes what no reader can see any more: members removed before any version in use, members of segments
 * archived for 30 days, the frozen audiences of runs that have ended, staging tables whose worker died.
 */
export function makeDropSegmentLeftovers({ database }: { database: Database }): Job {
  return {
    name: 'drop-segment-leftovers',
    intervalMilliseconds: 60_000,
    async runOnce(now) {
      for (const key of await findAbandonedStaging(database)) await dropSegmentStaging(database, key);
      const archivedBefore = new Date(now.getTime() - archivedMembersKeptDays * 24 * 3_600_000);
      const limit = batchRows;
      return inTransaction(database, async (tx) => {
        const removed = await deleteRemovedMembers(tx, { limit });
        const archived = await deleteMembersOfArchived(tx, { archivedBefore, at: now, limit });
        const frozen = await deleteFrozenAudiences(tx, { at: now, limit });
        return removed + archived + frozen;
      });
    },
  };
}
