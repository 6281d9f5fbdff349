import type { ConnectionPool, Receipt } from './connection-pool.ts';
import { plainQuery } from './statement.ts';
import type { Tag } from './statement.ts';

export type TransactionOutcome = 'stored' | 'not stored' | 'unknown';

// A fail-over takes most of it, and few callers wait for a response longer than this.
const readBackMilliseconds = 25_000;
const pauseMilliseconds = 100;

/**
 * Commits with a receipt, in one message, so that it costs no round trip. A transaction that has changed nothing leaves
 * none, and so needs no flush to disk. Without `on conflict`: if the outcome was asked for first, this fails, and with it
 * the transaction. What was changed on the workers of a cluster alone has no transaction id on the coordinator: there
 * whatever may have changed something leaves a receipt.
 */
export function commitWithReceipt({ poolId, number }: Receipt, sent: 'changes' | 'questions'): string {
  const isOnCluster = sent === 'changes' ? ` or current_setting('citus.shard_count', true) is not null` : '';
  return `insert into transaction_receipts (pool_id, number, is_stored) select '${poolId}', ${number}, true
    where pg_current_xact_id_if_assigned() is not null${isOnCluster}; commit`;
}

/** Whether a statement may change rows; one that is only like it costs a receipt, on a cluster. */
export function mayChangeRows(text: string): boolean {
  return /\b(?:insert|update|delete|merge|copy|truncate)\b/i.test(text);
}

/**
 * Finds out whether a transaction was stored whose commit was sent and not answered. While the database is away it asks
 * again, for as long as a caller may be waiting. Other ways to know do not survive the loss: a session's state ends with
 * it, and a transaction id that was not flushed is given again after a crash (docs/decisions/0029).
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
 * Stores "it is not" where the receipt would stand. While the transaction is still being committed this waits for its
 * end; if it has been stored, its receipt stands there already. Otherwise it can never be stored from now on, and the
 * answer stays true. A lost answer to this commit is no harm: asked again, the row says whose it is.
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
    // One whose transaction is still open is closed by this.
    pool.giveBack(connection);
  }
}

/**
 * The oldest transaction that is still running: all before it have ended. As text, because it is wider than a number that
 * JavaScript keeps exactly.
 */
export async function readOldestTransaction(tx: Tag): Promise<string> {
  const [row] = await tx<{ id: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::text as id`;
  return row!.id;
}

/**
 * Forgets receipts of transactions before the given one; at most 10,000 a call, so that the job stays short. Those of a
 * transaction yet to come are of a database this one was restored from. No index but the key, which is written at each
 * commit: what is read whole here is small. Joined, since an array of places may be compared with every row.
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
