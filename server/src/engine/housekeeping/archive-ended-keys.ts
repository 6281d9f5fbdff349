import type { Database } from '../../storage/pool.ts';
import { archiveEndedApiKeys } from '../../storage/keys/api-keys.ts';
import type { Job } from '../job.ts';

/** The duty that archives keys whose time after a rotation is over; they and their tokens fail from then on. */
export function archiveEndedKeys({ database }: { database: Database }): Job {
  return {
    name: 'archive-ended-keys',
    intervalMilliseconds: 5_000,
    runOnce: (now) => archiveEndedApiKeys(database, now),
  };
}
