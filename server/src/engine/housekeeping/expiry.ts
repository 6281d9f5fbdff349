import type { RealClock } from '../../clock.ts';
import { makeTokenSecret } from '../../domain/crypto/encryption.ts';
import type { Encryption } from '../../domain/crypto/encryption.ts';
import { archivedMembersKeptDays } from '../../domain/limits/segments.ts';
import { retentionTime } from '../../domain/operations/retention.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { archiveEndedApiKeys } from '../../storage/keys/api-keys.ts';
import { turnTokenSecrets } from '../../storage/keys/token-secrets.ts';
import {
  deleteFrozenAudiences,
  deleteMembersOfArchived,
  deleteRemovedMembers,
} from '../../storage/segments/segment-members.ts';
import { dropSegmentStaging, findAbandonedStaging } from '../../storage/segments/segment-staging.ts';
import { archiveExpiredSegments } from '../../storage/segments/segments.ts';
import type { Job } from '../jobs/job.ts';

export type RotateTokenSecretsDependencies = {
  database: Database;
  clock: RealClock;
  encryption: Encryption;
  log: Logger;
};

const batch = 500;

/** The job that archives expired segments (interface 3.1). */
export function makeExpireSegments({ database }: { database: Database }): Job {
  return {
    name: 'expire-segments',
    intervalMilliseconds: 30_000,
    runOnce: (now) => archiveExpiredSegments(database, { at: now, limit: batch }),
  };
}

/** The job that archives keys when their overlap after a rotation ends. From then on, the keys and their tokens are invalid. */
export function makeArchiveEndedKeys({ database }: { database: Database }): Job {
  return {
    name: 'archive-ended-keys',
    intervalMilliseconds: 5_000,
    runOnce: (now) => archiveEndedApiKeys(database, now),
  };
}

/**
 * The job that gives tokens a new secret every 90 days, and retires the previous one when its last token has expired. Only the
 * database's time counts: a sandbox clock that was moved forward retires nothing.
 */
export function makeRotateTokenSecrets({ database, clock, encryption, log }: RotateTokenSecretsDependencies): Job {
  return {
    name: 'rotate-token-secrets',
    intervalMilliseconds: 600_000,
    async runOnce(now) {
      const at = clock.realNow();
      const planAt = retentionTime({ now, realNow: at });
      const encryptNew = (number: number): Buffer => makeTokenSecret(encryption, number);
      const turned = await inTransaction(database, (tx) => turnTokenSecrets(tx, { planAt, at, encryptNew }));
      if (turned.retired.length > 0 || turned.added !== undefined) log.info(turned, 'token secrets rotated');
      return 0;
    },
  };
}

const batchRows = 20_000;

/**
 * The job that deletes data that is no longer readable: members removed before any version in use, members of segments archived
 * for 30 days, the frozen audiences of ended runs, and staging tables whose worker died.
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
