import type { ConnectionPool, Receipt } from './connection-pool.ts';
import { plainQuery } from './statement.ts';
import type { Tag } from './statement.ts';

export type TransactionOutcome = 'stored' | 'not stored' | 'unknown';

// Covers most of a fail-over; few callers wait longer for a response.
const readBackMilliseconds = 25_000;
const pauseMilliseconds = 100;

/**
 * Returns the commit with a receipt, in one message, so that it costs no round trip. A transaction that has changed
 * nothing stores none, and so needs no flush to disk. There is no `on conflict`: if the outcome was looked up first,
 * the insert fails, and with it the transaction. Changes on a cluster's workers alone give the coordinator no
 * transaction id, so on a cluster every transaction that may have changed something stores a receipt.
 */
export function commitWithReceipt({ poolId, number }: Receipt, sent: 'changes' | 'questions'): string {
  const isOnCluster = sent === 'changes' ? ` or current_setting('citus.shard_count', true) is not null` : '';
  return `insert into transaction_receipts (pool_id, number, is_stored) select '${poolId}', ${number}, true
    where pg_current_xact_id_if_assigned() is not null${isOnCluster}; commit`;
}

/** True if a statement may change rows; a false positive costs a receipt, on a cluster. */
export function mayChangeRows(text: string): boolean {
  return /\b(?:insert|update|delete|merge|copy|truncate)\b/i.test(text);
}

/**
 * Looks up whether a transaction was stored when its commit got no response. Retries while the database is away, for as
 * long as a caller may be waiting. Other sources do not survive the loss: a session's state ends with it, and a
 * transaction id that was not flushed is assigned again after a crash (docs/decisions/0029).
 *
 * A transaction that has changed nothing counts as not stored.
 */
export async function readOutcome(pool: ConnectionPool, receipt: Receipt): Promise<TransactionOutcome> {
  const patience = AbortSignal.timeout(readBackMilliseconds);
  for (;;) {
    try {
      return await ask(pool, receipt);
    } catch {
      if (pool.isEnding() || patience.aborted) return 'unknown';
      await new Promise((resolve) => setTimeout(resolve, pauseMilliseconds));
    }
  }
}

/**
 * Stores "not stored" under the receipt's key. If the transaction is still committing, this waits for its end; if it
 * was stored, its receipt exists already. Otherwise it can never be stored from now on, so the result stays true. A
 * lost response to this commit does no harm: on a retry the row shows which of the two was first.
 */
async function ask(pool: ConnectionPool, { poolId, number }: Receipt): Promise<TransactionOutcome> {
  const connection = await pool.take();
  try {
    await connection.run(plainQuery(`begin${pool.transactionSettings()}; set local lock_timeout = '2s'`));
    await connection.run(
      plainQuery(`insert into transaction_receipts (pool_id, number, is_stored) values ('${poolId}', ${number}, false)
        on conflict (pool_id, number) do nothing`),
    );
    const { rows } = await connection.run(
      plainQuery(`select is_stored as "isStored" from transaction_receipts
        where pool_id = '${poolId}' and number = ${number}`),
    );
    const { command } = await connection.run(plainQuery('commit'));
    if (command !== 'COMMIT') throw new Error('the question was rolled back');
    return rows[0]!.isStored ? 'stored' : 'not stored';
  } finally {
    // This closes a connection whose transaction is still open.
    pool.giveBack(connection);
  }
}

/**
 * Returns the oldest transaction that is still running: all earlier ones have ended. As text, because it may exceed the
 * integers that JavaScript represents exactly.
 */
export async function readOldestTransaction(tx: Tag): Promise<string> {
  const [row] = await tx<{ id: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text as id`;
  return row!.id;
}

/**
 * Deletes receipts of transactions before the given one; at most 10,000 per call, so that the job stays short. Receipts
 * of future transactions come from the database this one was restored from, and are deleted too. There is no index
 * except the key, which is written at each commit: the table is small enough to scan. A join, since an array of
 * positions may be compared with every row.
 */
export async function deleteReceiptsBefore(tx: Tag, transactionId: string): Promise<number> {
  const rows = await tx`
    delete from transaction_receipts
    using (
      select ctid as receipt from transaction_receipts
      where made_in < ${transactionId}::xid8 or made_in >= pg_snapshot_xmax(pg_current_snapshot()) limit 10000
    ) as old
    where transaction_receipts.ctid = old.receipt`;
  return rows.count;
}
