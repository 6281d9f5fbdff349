import { inSnapshot } from './database.ts';
import type { Database, Transaction } from './database.ts';
import { planByValues } from './plan-by-values.ts';

// SQLSTATE query_canceled.
const canceled = '57014';

/**
 * Work that reads one state of the database and ends in time: a question that somebody waits for, of a size that nobody
 * knows beforehand. Each statement may take as long.
 */
export async function withinTime<Result>(
  database: Database,
  { milliseconds, work }: { milliseconds: number; work: (tx: Transaction) => Promise<Result> },
): Promise<{ result: Result } | 'too slow'> {
  try {
    return await inSnapshot(database, async (tx) => {
      await tx`select set_config('statement_timeout', ${String(milliseconds)}, true)`;
      await planByValues(tx);
      return { result: await work(tx) };
    });
  } catch (error) {
    if ((error as { code?: string }).code === canceled) return 'too slow';
    throw error;
  }
}
