import type { Database } from '../../storage/database.ts';
import { archiveEndedApiKeys } from '../../storage/keys/api-keys.ts';
import type { Job } from '../job.ts';

/**
 * The job that archives keys whose overlap after a rotation has ended; they and their tokens are invalid from then on.
 */
export function makeArchiveEndedKeys({ database }: { database: Database }): Job {
  return {
    name: 'archive-ended-keys',
    intervalMilliseconds: 5_000,
    runOnce: (now) => archiveEndedApiKeys(database, now),
  };
}
