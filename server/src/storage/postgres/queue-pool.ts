import pg from 'pg';
import { withKnownSslMode } from './connection-pool.ts';

export type QueuePool = {
  /** For the job queue's library, which asks for one of the driver's own. */
  pool: pg.Pool;
  /** Closes all connections, and resolves when they are closed, or after five seconds. */
  close(): Promise<void>;
};

/**
 * The connections of the job queue. One of the library's own is ended without being waited for, and its listeners are
 * gone before its connections: an embedded database that shuts down at that moment would end this process.
 */
export function openQueuePool(url: string): QueuePool {
  const pool = new pg.Pool({ connectionString: withKnownSslMode(url), max: 4, connectionTimeoutMillis: 10_000 });
  // The library hears of a lost connection by the statement that fails.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return {
    pool,
    async close() {
      let limit: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => (limit = setTimeout(resolve, 5_000)));
      await Promise.race([pool.end(), late]);
      clearTimeout(limit);
    },
  };
}
