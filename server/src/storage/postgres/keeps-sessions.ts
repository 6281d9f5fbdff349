import { ConnectionPool } from './connection-pool.ts';
import { plainQuery } from './statement.ts';

// A pooler in session mode with one session left makes the second connection wait. It is not in transaction mode, so
// waiting this long counts as keeping sessions.
const patienceMilliseconds = 5_000;

/**
 * Whether a connection to this address keeps one session of the database, as it does without a pooler and behind one in
 * session mode. A pooler in transaction mode picks a session for each transaction: two connections that send one after
 * the other, each twice in a row, then meet the same session, or one of them meets two, whether it takes the session used
 * last (two connections, one session) or the next in turn (one connection, two sessions).
 */
export async function keepsSessions(url: string): Promise<boolean> {
  const pool = new ConnectionPool({ url, connections: 2, name: 'carillon', pooler: 'transaction' });
  let limit: NodeJS.Timeout | undefined;
  const patience = new Promise<boolean>((resolve) => {
    limit = setTimeout(() => resolve(true), patienceMilliseconds);
  });
  try {
    return await Promise.race([look(pool), patience]);
  } finally {
    clearTimeout(limit);
    await pool.end(0);
  }
}

async function look(pool: ConnectionPool): Promise<boolean> {
  const connections = [await pool.take(), await pool.take()];
  const seen = connections.map(() => new Set<number>());
  try {
    for (let round = 0; round < 3; round += 1) {
      for (const [index, connection] of connections.entries()) {
        for (let time = 0; time < 2; time += 1) {
          const { rows } = await connection.run(plainQuery('select pg_backend_pid() as pid'));
          seen[index]!.add(rows[0]!.pid as number);
        }
      }
    }
  } finally {
    for (const connection of connections) pool.giveBack(connection);
  }
  const [first, second] = seen as [Set<number>, Set<number>];
  return first.size === 1 && second.size === 1 && [...first].every((pid) => !second.has(pid));
}
