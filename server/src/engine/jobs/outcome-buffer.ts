import { isFaultOfContent } from '../../domain/database-faults.ts';
import type { Logger } from '../../log.ts';

/** Outcomes of requests that were sent, kept until they are stored. No other copy of them exists. */
export type OutcomeBuffer = {
  /**
   * Stores outcomes, retrying until the database accepts them: without stored outcomes, the messages would be sent again.
   * `store` must be idempotent, because a commit whose response was lost is repeated too (fault F17). If the database rejects
   * the content of the outcomes, they are dropped after twenty seconds. Otherwise they would keep this node from sending
   * forever.
   *
   * @throws LostWorkError from `store`; or the last attempt's error if the outcomes are dropped or the node stops
   */
  store<Result>(store: () => Promise<Result>): Promise<Result>;
  /** The number of outcomes waiting to be stored. While there are any, this node accepts no new work. */
  waiting(): number;
  /** Resolves when no outcome is waiting, or when the node stops. */
  settled(): Promise<void>;
  /** The kind of the newest fault while any outcome is waiting. */
  fault(): string | undefined;
  /**
   * Call when the node stops. Outcomes not stored within ten seconds are dropped, and the worker that takes over sends again.
   */
  noteStopping(): void;
};

/** Another worker has taken over the work, so there is nothing to store. */
export class LostWorkError extends Error {
  override readonly name = 'LostWorkError';
}

export type OutcomeBufferDependencies = { log: Logger; pause: (milliseconds: number) => Promise<unknown> };

const pauseMilliseconds = 1_000;
const maxStopMilliseconds = 10_000;
/** Attempts to store outcomes with rejected content. By then, a partition that another node is creating exists. */
const maxRefusals = 20;

export function makeOutcomeBuffer({ log, pause }: OutcomeBufferDependencies): OutcomeBuffer {
  const waiting = new Set<symbol>();
  const looks = new Set<() => void>();
  let newestFault: string | undefined;
  let stopAt: number | undefined;

  const look = (): void => {
    if (waiting.size > 0 && stopAt === undefined) return;
    for (const end of looks) end();
    looks.clear();
  };

  return {
    async store(store) {
      const own = Symbol('outcomes');
      let refusals = 0;
      try {
        for (;;) {
          try {
            return await store();
          } catch (error) {
            if (error instanceof LostWorkError) throw error;
            if (stopAt !== undefined && performance.now() > stopAt) throw error;
            if (isFaultOfContent(error) && (refusals += 1) > maxRefusals) {
              log.error({ err: error }, 'outcomes are given up: the database refuses what is in them');
              throw error;
            }
            newestFault = faultOf(error);
            if (!waiting.has(own))
              log.error({ err: error }, 'outcomes cannot be stored; they are kept and stored again');
            waiting.add(own);
            await pause(pauseMilliseconds);
          }
        }
      } finally {
        waiting.delete(own);
        look();
      }
    },
    waiting: () => waiting.size,
    async settled() {
      if (waiting.size > 0 && stopAt === undefined) await new Promise<void>((resolve) => looks.add(resolve));
    },
    fault: () => (waiting.size > 0 ? newestFault : undefined),
    noteStopping() {
      stopAt ??= performance.now() + maxStopMilliseconds;
      look();
    },
  };
}

/** Returns only the kind of a fault: a message may quote values of a row. */
function faultOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'Error').slice(0, 60);
}
