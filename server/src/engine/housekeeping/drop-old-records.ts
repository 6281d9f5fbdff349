import type { RealClock } from '../../clock.ts';
import type { Database } from '../../storage/database.ts';
import { deleteExpiredAccessTokens, deleteExpiredRefreshTokens } from '../../storage/keys/tokens.ts';
import { deleteExpiredReportFiles } from '../../storage/campaigns/report-files.ts';
import { deleteOldCampaignRequestIds } from '../../storage/campaigns/campaigns.ts';
import { deleteOldIdempotencyKeys } from '../../storage/limits/idempotency-keys.ts';
import { deleteOldCallbackReceivers } from '../../storage/outbox/callback-receivers.ts';
import { deleteOldProviderTokens } from '../../storage/keys/provider-credentials.ts';
import { dropOldEvidence } from '../../storage/limits/provider-evidence.ts';
import { dropIdleBudgets } from '../../storage/limits/send-budgets.ts';
import { deleteOldLiveActivities } from '../../storage/live-activities/live-activities.ts';
import { trimLimitWindows } from '../../storage/limits/limit-windows.ts';
import { trimSandboxMessages } from '../../storage/installation/sandbox.ts';
import type { Job } from '../job.ts';
import { campaignRequestIdKeptHours } from '../../domain/campaigns/limits.ts';
import { liveActivityKeptHours } from '../../domain/live-activities/limits.ts';
import { maxPausedHours } from '../../domain/outbox/limits.ts';
import { retentionTime } from '../../domain/retention/retention-days.ts';
import { idempotencyKeyHours } from '../../domain/idempotency/limits.ts';
import { expiredTokenSeconds } from '../../domain/tokens/limits.ts';

export type DropOldRecordsDependencies = { database: Database; clock: RealClock; inboxMessages: number };

/**
 * The job that deletes what is no longer needed: tokens a day after their expiry (until then *expired* and *invalid*
 * are distinguished, decision D13), idempotency keys, V1's request ids and Live Activities after 24 hours, report files after seven days, unused send
 * budgets, provider answers after a day, receivers that nothing was posted to for two days, the oldest inbox messages. What the settings keep for days is
 * `trim-old-records`'.
 */
export function makeDropOldRecords({ database, clock, inboxMessages }: DropOldRecordsDependencies): Job {
  return {
    name: 'drop-old-records',
    intervalMilliseconds: 30_000,
    async runOnce(now) {
      const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);
      const tokensEndedAt = hoursAgo(expiredTokenSeconds / 3_600);
      await trimSandboxMessages(database, inboxMessages);
      // Attempts to sign in are counted in real time, so a clock that is ahead must not forget them.
      await trimLimitWindows(database, { at: retentionTime({ now, realNow: clock.realNow() }) });
      const dropped = await Promise.all([
        deleteExpiredAccessTokens(database, tokensEndedAt),
        deleteExpiredRefreshTokens(database, tokensEndedAt),
        deleteOldIdempotencyKeys(database, hoursAgo(idempotencyKeyHours)),
        dropIdleBudgets(database, now),
        dropOldEvidence(database, hoursAgo(24)),
        deleteOldProviderTokens(database, hoursAgo(24)),
        deleteOldCampaignRequestIds(database, hoursAgo(campaignRequestIdKeptHours)),
        deleteOldCallbackReceivers(database, { before: hoursAgo(2 * maxPausedHours), limit: 10_000 }),
        deleteExpiredReportFiles(database, { before: now, limit: 10_000 }),
        deleteOldLiveActivities(database, { before: hoursAgo(liveActivityKeptHours), limit: 10_000 }),
      ]);
      // A full batch is followed by another immediately; small remainders wait for the next interval.
      return dropped.some((count) => count >= 10_000) ? 1 : 0;
    },
  };
}
