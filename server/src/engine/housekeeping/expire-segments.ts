import type { Database } from '../../storage/database.ts';
import { archiveExpiredSegments } from '../../storage/segments/segments.ts';
import type { Job } from '../job.ts';

const batch = 500;

/** The job that archives expired segments (interface 3.1). */
export function makeExpireSegments({ database }: { database: Database }): Job {
  return {
    name: 'expire-segments',
    intervalMilliseconds: 30_000,
    runOnce: (now) => archiveExpiredSegments(database, { at: now, limit: batch }),
  };
}
