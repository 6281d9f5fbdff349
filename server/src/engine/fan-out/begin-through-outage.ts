import type { Database, Transaction } from '../../storage/pool.ts';
import { isOutage } from './outlast-outage.ts';

/**
 * `database.begin` for work that must live through the end of its connection. When a statement fails with the
 * connection, the driver sends ROLLBACK down the dead socket, and what that throws reaches nobody and ends the process
 * (postgres 3.4.9, its issues 1154 and 1208). So the driver never hears of such a failure: it rejects `begin` by itself
 * when it sees the connection closed.
 */
export async function beginThroughOutage<Result>(
  database: Database,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  return (await database.begin(async (tx) => {
    try {
      return await work(tx);
    } catch (error) {
      if (isOutage(error)) return new Promise<never>(() => {});
      throw error;
    }
  })) as Result;
}
