import type { Database } from '../../storage/database.ts';
import { inTransaction } from '../../storage/database.ts';
import { allBuckets } from '../../storage/segments/segment-members.ts';
import { deleteRemovedTopic, listRemovedTopics } from '../../storage/topics.ts';
import { deleteChoicesOfTopic } from '../../storage/users/topic-choices.ts';
import type { Job } from '../jobs/job.ts';

// A window that was claimed before its campaign was stopped may still read the choices; its lease is much shorter.
const settledMilliseconds = 3_600_000;

/**
 * The job that deletes what users chose about a removed topic, bucket by bucket, and then the topic. A repeat after a crash finds
 * less to delete.
 */
export function makeRemoveTopics({ database }: { database: Database }): Job {
  return {
    name: 'remove-topics',
    intervalMilliseconds: 600_000,
    async runOnce(now) {
      const [oldest] = await listRemovedTopics(database, 1);
      if (!oldest || now.getTime() - oldest.removedAt.getTime() < settledMilliseconds) return 0;
      const { id, workspaceId } = oldest;
      for (const bucket of allBuckets)
        await inTransaction(database, (tx) => deleteChoicesOfTopic(tx, { workspaceId, bucket, topicId: id }));
      await deleteRemovedTopic(database, id);
      return 1;
    },
  };
}
