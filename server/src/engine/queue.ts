import { Logger as QueueLogger, run } from 'graphile-worker';
import type { Logger } from '../log.ts';
import { taskNames } from './enqueue.ts';

export type Queue = { stop(): Promise<void> };

export type QueueDependencies = {
  databaseUrl: string;
  log: Logger;
  wakeFanOut: () => void;
  wakeSegments: () => void;
};

/**
 * Listens to the job queue. A job is a wake-up and nothing more: the work is in our tables, is claimed there and would
 * be found within a second without it.
 */
export async function startQueue({ databaseUrl, log, wakeFanOut, wakeSegments }: QueueDependencies): Promise<Queue> {
  const runner = await run({
    connectionString: databaseUrl,
    concurrency: 2,
    maxPoolSize: 4,
    pollInterval: 2_000,
    // Signals end this process in one place (main.ts).
    noHandleSignals: true,
    noPreparedStatements: true,
    logger: new QueueLogger(() => (level, message) => {
      if (level === 'error' || level === 'warning') log.warn({ queue: message }, 'queue');
      else log.trace({ queue: message }, 'queue');
    }),
    taskList: {
      [taskNames.wakeFanOut]: async () => {
        wakeFanOut();
      },
      [taskNames.wakeSegments]: async () => {
        wakeSegments();
      },
    },
  });
  // Rejects when the database is away for long; the duties poll on and the queue comes back with the next start.
  runner.promise.catch((error: unknown) => log.error({ err: error }, 'queue ended'));
  return {
    async stop() {
      await runner.stop().catch(() => {});
    },
  };
}
