import type { Clock } from '../../clock.ts';
import { alertDays } from '../../domain/retention/limits.ts';
import { keptSince, retentionTime } from '../../domain/retention/retention-days.ts';
import type { RetentionDays } from '../../domain/retention/retention-days.ts';
import type { Logger } from '../../log.ts';
import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { deleteOldAlerts } from '../../storage/installation/alerts.ts';
import { deleteOldApiLogEntries } from '../../storage/installation/api-log.ts';
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
} from '../../storage/retention/old-records.ts';
import type { DatedTable } from '../../storage/retention/old-records.ts';
import { deleteOldRuns } from '../../storage/retention/old-runs.ts';
import { deleteOldTriggers } from '../../storage/triggers/triggers.ts';
import type { Job } from '../job.ts';

export type TrimOldRecordsDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  retention: Omit<RetentionDays, 'ledger' | 'events'>;
};

/** Removes the next batch of what is older. @returns how many rows of its table */
type Trim = { table: string; keptDays: number; runOnce: (before: Date) => Promise<number> };

type DatedTrim = {
  table: DatedTable;
  keptDays: number;
  /** A run has up to a few hundred rows of its own, which go with it. */
  batch: number;
  remove: (tx: Transaction, old: { ids: readonly string[]; before: Date }) => Promise<number>;
};

const batchRows = 5_000;
// Batches in which everything must stay that are passed by in a round.
const maxPassedBatches = 20;

/**
 * The job that removes records that are older than they are kept: one batch of each kind a round, a batch a transaction,
 * what belongs to others before these. What is under way stays, however old.
 */
export function makeTrimOldRecords({ database, clock, log, retention }: TrimOldRecordsDependencies): Job {
  const { messages, operations, audit } = retention;
  const trims: Trim[] = [
    trimOldest('device_interactions', retention.interactions, deleteOldInteractions),
    trimOldest('push_requests', retention.pushRequests, deleteOldPushRequests),
    trimOldest('triggers', retention.pushRequests, deleteOldTriggers),
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
          // One table that cannot be trimmed keeps no other from it.
          faults.push(error);
        }
      const total = Object.values(removed).reduce((sum, count) => sum + count, 0);
      if (total > 0) log.info({ removed }, 'old records removed');
      if (faults.length > 0) throw faults[0];
      return total;
    },
  };
}
