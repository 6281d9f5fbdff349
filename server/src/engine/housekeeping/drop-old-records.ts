import type { Database } from '../../storage/pool.ts';
import { deleteExpiredAccessTokens, deleteExpiredRefreshTokens } from '../../storage/keys/tokens.ts';
import { deleteOldApiLogEntries } from '../../storage/installation/api-log.ts';
import { deleteOldCampaignRequestIds } from '../../storage/campaigns/campaigns.ts';
import { deleteOldIdempotencyKeys } from '../../storage/limits/idempotency-keys.ts';
import { deleteOldProviderTokens } from '../../storage/keys/provider-credentials.ts';
import { dropIdleBudgets } from '../../storage/limits/send-budgets.ts';
import { trimLimitWindows } from '../../storage/limits/limit-windows.ts';
import { trimSandboxMessages } from '../../storage/installation/sandbox.ts';
import type { Job } from '../job.ts';

const hour = 3_600_000;
const apiLogRetentionMilliseconds = 7 * 24 * hour;

export type DropOldRecordsDependencies = { database: Database; inboxMessages: number };

/**
 * The duty that forgets what is no longer needed: tokens a day after their expiry (until then *expired* and *invalid*
 * are told apart, decision D13), idempotency keys and V1's request ids after 24 hours, the API log after a week, send
 * budgets nobody uses, the oldest inbox messages.
 */
export function dropOldRecords({ database, inboxMessages }: DropOldRecordsDependencies): Job {
  return {
    name: 'drop-old-records',
    intervalMilliseconds: 30_000,
    async runOnce(now) {
      const dayAgo = new Date(now.getTime() - 24 * hour);
      await trimSandboxMessages(database, inboxMessages);
      await trimLimitWindows(database, { at: now });
      const dropped = await Promise.all([
        deleteExpiredAccessTokens(database, dayAgo),
        deleteExpiredRefreshTokens(database, dayAgo),
        deleteOldIdempotencyKeys(database, dayAgo),
        dropIdleBudgets(database, now),
        deleteOldProviderTokens(database, dayAgo),
        deleteOldCampaignRequestIds(database, dayAgo),
        deleteOldApiLogEntries(database, new Date(now.getTime() - apiLogRetentionMilliseconds)),
      ]);
      // A full batch asks for another round at once; small remainders wait for the next interval.
      return dropped.some((count) => count >= 10_000) ? 1 : 0;
    },
  };
}
