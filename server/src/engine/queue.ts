import { setTimeout as wait } from 'node:timers/promises';
import { Logger as QueueLogger, run } from 'graphile-worker';
import type { Runner } from 'graphile-worker';
import type { Logger } from '../log.ts';
import { openQueuePool } from '../storage/postgres/connection-pool.ts';
import type { QueuePool } from '../storage/postgres/connection-pool.ts';
import { taskNames } from './enqueue.ts';

export type Queue = { stop(): Promise<void> };

export type QueueDependencies = {
  databaseUrl: string;
  log: Logger;
  wakeFanOut: () => void;
  wakeSegments: () => void;
  /** How often it looks when no notification comes. */
  pollMilliseconds?: number;
  /** How long after its end it is begun again. */
  restartMilliseconds?: number;
};

/**
 * Listens to the job queue. A job is a wake-up and nothing more: the work is in our tables, is claimed there and would
 * be found within a second without it. Should the library end its runner, it is begun again.
 */
export async function startQueue(deps: QueueDependencies): Promise<Queue> {
  const { log, restartMilliseconds = 5_000 } = deps;
  const stopping = new AbortController();
  const closing = new Set<Promise<void>>();
  let runner: OpenRunner | undefined = await openRunner(deps);

  async function keepOpen(): Promise<void> {
    while (!stopping.signal.aborted) {
      let fault: unknown;
      try {
        runner ??= await openRunner(deps);
        fault = await Promise.race([runner.ended, aborted(stopping.signal)]);
        // Not waited for: wake-ups come through the next runner meanwhile.
        const closed = runner.close().finally(() => closing.delete(closed));
        closing.add(closed);
      } catch (error) {
        fault = error;
      }
      runner = undefined;
      if (stopping.signal.aborted) return;
      log.warn({ err: fault }, 'queue ended');
      await wait(restartMilliseconds, undefined, { signal: stopping.signal, ref: false }).catch(() => {});
    }
  }
  const kept = keepOpen();

  return {
    async stop() {
      stopping.abort();
      await kept;
      await Promise.all(closing);
    },
  };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** A runner of the library and the connections it has to itself. */
type OpenRunner = {
  /** Resolves with the reason when it has ended, or will wake nobody any more. */
  ended: Promise<unknown>;
  /** Ends it and closes its connections, after ten seconds at the latest. */
  close(): Promise<void>;
};

async function openRunner(deps: QueueDependencies): Promise<OpenRunner> {
  const connections = openQueuePool(deps.databaseUrl);
  try {
    const runner = await runQueue(deps, connections);
    return {
      ended: endOf(runner),
      async close() {
        const limit = new AbortController();
        const late = wait(maxStopMilliseconds, undefined, { signal: limit.signal }).catch(() => {});
        await Promise.race([runner.stop().catch(() => {}), late]);
        limit.abort();
        await connections.close();
      },
    };
  } catch (error) {
    await connections.close();
    throw error;
  }
}

const maxStopMilliseconds = 5_000;
// Two workers that each look every two seconds: twenty seconds without one good look.
const maxFaults = 20;

/**
 * The library's own promise is not enough. After a job that could not be settled it stops itself and may then wait for
 * ever for another job that was to be settled meanwhile. A fault while it reads the names of its tasks stays with it for
 * ever. Only another runner gets over both.
 */
function endOf(runner: Runner): Promise<unknown> {
  return new Promise((resolve) => {
    runner.promise.then(() => resolve(undefined), resolve);
    runner.events.on('pool:fatalError', ({ error }) => resolve(error));
    let faults = 0;
    const isWell = (): void => {
      faults = 0;
    };
    runner.events.on('worker:getJob:empty', isWell);
    runner.events.on('job:start', isWell);
    runner.events.on('worker:getJob:error', ({ error }) => {
      faults += 1;
      if (faults === maxFaults) resolve(error);
    });
  });
}

function runQueue(
  { log, wakeFanOut, wakeSegments, pollMilliseconds = 2_000 }: QueueDependencies,
  { pool }: QueuePool,
): Promise<Runner> {
  return run({
    pgPool: pool,
    concurrency: 2,
    pollInterval: pollMilliseconds,
    // Signals end this process in one place (main.ts).
    noHandleSignals: true,
    noPreparedStatements: true,
    preset: {
      plugins: [keepWorking],
      // Settled in batches, of what comes at one moment: only then does the library see to a job that cannot be settled
      // (as while the database restarts). Without them the rejection is nobody's and ends the process.
      worker: { completeJobBatchDelay: 0, failJobBatchDelay: 0 },
    },
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
}

/** A worker that ends itself does not end the others. */
const keepWorking: GraphileConfig.Plugin = {
  name: 'carillon-keep-working',
  version: '1.0.0',
  worker: {
    middleware: {
      poolWorkerPrematureExit(_next, event) {
        event.replaceWithNewWorker();
      },
    },
  },
};
