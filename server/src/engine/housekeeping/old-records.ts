import type { RealClock, Clock } from '../../clock.ts';
import { campaignRequestIdKeptHours, keptProposalDays } from '../../domain/limits/campaigns.ts';
import { expiredTokenSeconds } from '../../domain/access/keys.ts';
import { idempotencyKeyHours } from '../../domain/limits/access.ts';
import { appEventIdDays, idleInstallationDays } from '../../domain/limits/installations.ts';
import { sourceMessageDays } from '../../domain/limits/source.ts';
import { liveActivityKeptHours } from '../../domain/limits/push.ts';
import { maxPausedHours } from '../../domain/limits/delivery.ts';
import { journeyHistoryDays } from '../../domain/limits/journeys.ts';
import { alertDays } from '../../domain/limits/retention.ts';
import { retentionTime, keptSince } from '../../domain/operations/retention.ts';
import type { RetentionDays } from '../../domain/operations/retention.ts';
import type { Logger } from '../../log.ts';
import { deleteOldCampaignRequestIds } from '../../storage/campaigns/campaigns.ts';
import { deleteExpiredReportFiles } from '../../storage/campaigns/report-files.ts';
import { inTransaction, deleteReceiptsBefore, readOldestTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { deleteOldAlerts } from '../../storage/installation/alerts.ts';
import { deleteOldApiLogEntries } from '../../storage/installation/api-log.ts';
import { deleteIdleInstallations, deleteOldEventIds } from '../../storage/installations.ts';
import { trimSandboxMessages } from '../../storage/installation/sandbox.ts';
import { deleteOldProviderTokens } from '../../storage/keys/provider-credentials.ts';
import { deleteExpiredRevocations } from '../../storage/keys/token-revocations.ts';
import { deleteExpiredAccessTokens, deleteExpiredRefreshTokens } from '../../storage/keys/tokens.ts';
import { dropOldEvidence, dropIdleBudgets } from '../../storage/limits/governor.ts';
import { deleteOldIdempotencyKeys } from '../../storage/limits/idempotency-keys.ts';
import { trimLimitWindows } from '../../storage/limits/sliding-windows.ts';
import { deleteOldEntries } from '../../storage/journeys/positions.ts';
import { deleteExpiredInboxContents, deleteExpiredInboxMessages } from '../../storage/inbox.ts';
import { deleteOldLiveActivities } from '../../storage/live-activities.ts';
import { deleteOldProposals, withdrawExpiredProposals } from '../../storage/campaigns/proposals.ts';
import { deleteOldSourceMessages } from '../../storage/source-messages.ts';
import { deleteOldChallenges } from '../../storage/push-token-challenges.ts';
import {
  deleteOldAuditLines,
  deleteOldErasures,
  deleteOldEventBatches,
  deleteOldImports,
  deleteOldInteractions,
  deleteOldMessages,
  deleteOldOperations,
  deleteOldPushRequests,
  listOldIds,
  messageTables,
  deleteOldRuns,
} from '../../storage/old-records.ts';
import type { DatedTable } from '../../storage/old-records.ts';
import { deleteOldCallbackReceivers } from '../../storage/outbox/receivers.ts';
import { deleteOldTriggers } from '../../storage/triggers.ts';
import type { Job } from '../jobs/job.ts';

export type DropOldRecordsDependencies = { database: Database; clock: RealClock; inboxMessages: number };

/**
 * The job that deletes records that are no longer needed: revocations of tokens, and
 * tokens that were stored when they were issued, a day after the token expired; idempotency keys, V1's request ids and Live Activities after 24 hours; report files after
 * seven days; expired messages of users' inboxes; unused send budgets; provider responses after a day; receivers that got no request for two days; installations without a user, ids of their events and challenges of push tokens; and the oldest
 * messages of the sandbox's inbox. The job `trim-old-records` removes records with a configured retention in days.
 */
export function makeDropOldRecords({ database, clock, inboxMessages }: DropOldRecordsDependencies): Job {
  return {
    name: 'drop-old-records',
    intervalMilliseconds: 30_000,
    async runOnce(now) {
      const hoursAgo = (hours: number): Date => new Date(now.getTime() - hours * 3_600_000);
      const tokensEndedAt = hoursAgo(expiredTokenSeconds / 3_600);
      await trimSandboxMessages(database, inboxMessages);
      const earlierNow = retentionTime({ now, realNow: clock.realNow() });
      // Sign-in attempts are counted in real time, so a clock that is ahead must not delete them.
      await trimLimitWindows(database, { at: earlierNow });
      const dropped = await Promise.all([
        deleteExpiredAccessTokens(database, tokensEndedAt),
        deleteExpiredRefreshTokens(database, tokensEndedAt),
        // A sandbox clock that is moved back must not bring a revoked token back to life.
        deleteExpiredRevocations(database, new Date(earlierNow.getTime() - expiredTokenSeconds * 1000)),
        deleteOldIdempotencyKeys(database, hoursAgo(idempotencyKeyHours)),
        dropIdleBudgets(database, now),
        dropOldEvidence(database, hoursAgo(24)),
        deleteOldProviderTokens(database, hoursAgo(24)),
        deleteOldCampaignRequestIds(database, hoursAgo(campaignRequestIdKeptHours)),
        deleteOldCallbackReceivers(database, { before: hoursAgo(2 * maxPausedHours), limit: 10_000 }),
        deleteExpiredReportFiles(database, { before: now, limit: 10_000 }),
        deleteOldEventIds(database, { before: keptSince(earlierNow, appEventIdDays), limit: 10_000 }),
        withdrawExpiredProposals(database, earlierNow),
        deleteOldProposals(database, { before: keptSince(earlierNow, keptProposalDays), limit: 10_000 }),
        deleteOldSourceMessages(database, { before: keptSince(earlierNow, sourceMessageDays), limit: 10_000 }),
        deleteIdleInstallations(database, { before: keptSince(earlierNow, idleInstallationDays), limit: 10_000 }),
        // The limit of challenges counts the last hour.
        deleteOldChallenges(database, { before: hoursAgo(1), limit: 10_000 }),
        deleteExpiredInboxMessages(database, { before: earlierNow, limit: 10_000 }),
        deleteExpiredInboxContents(database, { before: earlierNow, limit: 10_000 }),
        deleteOldLiveActivities(database, { before: hoursAgo(liveActivityKeptHours), limit: 10_000 }),
      ]);
      // After a full batch the job runs again immediately. A smaller remainder waits for the next interval.
      return dropped.some((count) => count >= 10_000) ? 1 : 0;
    },
  };
}

export type TrimOldRecordsDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  retention: Omit<RetentionDays, 'ledger' | 'events'>;
};

/** Removes the next batch of older records. @returns the number of removed rows in its table */
type Trim = { table: string; keptDays: number; runOnce: (before: Date) => Promise<number> };

type DatedTrim = {
  table: DatedTable;
  keptDays: number;
  /** Rows per batch. A run has up to a few hundred dependent rows, which are removed with it. */
  batch: number;
  remove: (tx: Transaction, old: { ids: readonly string[]; before: Date }) => Promise<number>;
};

const batchRows = 5_000;
// The maximum number of batches without removable rows that are skipped per run of the job.
const maxPassedBatches = 20;

/**
 * The job that removes records that are past their retention: one batch of each kind per run of the job, one batch per
 * transaction, dependent records before the records that they belong to. Work in progress is kept, however old.
 */
export function makeTrimOldRecords({ database, clock, log, retention }: TrimOldRecordsDependencies): Job {
  const { messages, operations, audit } = retention;
  const trims: Trim[] = [
    trimOldest('device_interactions', retention.interactions, deleteOldInteractions),
    trimOldest('push_requests', retention.pushRequests, deleteOldPushRequests),
    trimOldest('triggers', retention.pushRequests, deleteOldTriggers),
    trimOldest('journey_positions', journeyHistoryDays, (database, old) =>
      inTransaction(database, (tx) => deleteOldEntries(tx, old)),
    ),
    trimDated({ table: 'runs', keptDays: retention.runs, batch: 100, remove: deleteOldRuns }),
    ...messageTables.map((of) =>
      trimDated({
        ...{ table: of.table, keptDays: messages, batch: 500 },
        remove: (tx, old) => deleteOldMessages(tx, { of, ...old }),
      }),
    ),
    trimDated({ table: 'event_stream_batches', keptDays: messages, batch: 500, remove: deleteOldEventBatches }),
    trimDated({ table: 'segment_operations', keptDays: operations, batch: 20, remove: deleteOldOperations }),
    trimOldest('imports', operations, deleteOldImports),
    trimDated({ table: 'audit_log', keptDays: audit, batch: batchRows, remove: deleteOldAuditLines }),
    trimDated({ table: 'erasures', keptDays: audit, batch: batchRows, remove: deleteOldErasures }),
    trimOldest('alerts', alertDays, deleteOldAlerts),
    trimOldest('api_log', retention.apiLog, (tx, { before }) => deleteOldApiLogEntries(tx, before)),
  ];

  function trimOldest(
    table: string,
    keptDays: number,
    remove: (tx: Database, old: { before: Date; limit: number }) => Promise<number>,
  ): Trim {
    return { table, keptDays, runOnce: (before) => remove(database, { before, limit: batchRows }) };
  }

  function trimDated({ table, keptDays, batch, remove }: DatedTrim): Trim {
    let after = '';
    async function runOnce(before: Date): Promise<number> {
      for (let passed = 0; passed < maxPassedBatches; passed += 1) {
        const ids = await listOldIds(database, { table, after, before, limit: batch });
        after = ids.length < batch ? '' : ids.at(-1)!;
        const removed = ids.length === 0 ? 0 : await inTransaction(database, (tx) => remove(tx, { ids, before }));
        if (removed > 0 || after === '') return removed;
      }
      return 0;
    }
    return { table, keptDays, runOnce };
  }

  return {
    name: 'trim-old-records',
    intervalMilliseconds: 600_000,
    async runOnce(at) {
      const now = retentionTime({ now: at, realNow: clock.realNow() });
      const removed: Record<string, number> = {};
      const faults: unknown[] = [];
      for (const { table, keptDays, runOnce } of trims)
        try {
          const count = await runOnce(keptSince(now, keptDays));
          if (count > 0) removed[table] = count;
        } catch (error) {
          // A table that cannot be trimmed must not block the others.
          faults.push(error);
        }
      const total = Object.values(removed).reduce((sum, count) => sum + count, 0);
      if (total > 0) log.info({ removed }, 'old records removed');
      if (faults.length > 0) throw faults[0];
      return total;
    },
  };
}

// An outcome is queried within half a minute, and a transaction with a lost connection ends within one minute.
const keptMinutes = 10;

/**
 * The job that deletes receipts of transactions (docs/decisions/0029) when their outcome can no longer be queried. Each run
 * notes the oldest transaction at that time. Ten minutes later, all transactions before it are old. If the process ends, its
 * notes are lost and the next process starts again.
 */
export function makeDropOldReceipts({ database, clock }: { database: Database; clock: Clock }): Job {
  let looks: { at: number; oldest: string }[] = [];
  return {
    name: 'drop-old-receipts',
    intervalMilliseconds: 30_000,
    async runOnce() {
      // The sandbox moves the time of campaigns, not that of connections.
      const at = clock.realNow().getTime();
      looks.push({ at, oldest: await readOldestTransaction(database) });
      const passed = looks.findLast((look) => look.at <= at - keptMinutes * 60_000);
      if (passed === undefined) return 0;
      looks = looks.slice(looks.indexOf(passed));
      return (await deleteReceiptsBefore(database, passed.oldest)) >= 10_000 ? 1 : 0;
    },
  };
}
