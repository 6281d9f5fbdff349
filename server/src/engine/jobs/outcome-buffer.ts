import { isFaultOfContent } from '../../domain/database-faults.ts';
import type { Logger } from '../../log.ts';

/** What is known of requests that have left, until it is stored: nobody else knows it. */
export type OutcomeBuffer = {
  /**
   * Stores outcomes, again and again until the database takes them: given up, they would be sent a second time. `store`
   * must be idempotent, because a commit whose response was lost is repeated too (fault F17). What it refuses for what is in
   * them is given up after twenty seconds: it would keep this node from sending for ever.
   *
   * @throws LostWorkError of `store`; what the last try threw, when they are given up or the node stops
   */
  store<Result>(store: () => Promise<Result>): Promise<Result>;
  /** How many of them wait to be stored. While any does, this node takes on nothing new. */
  waiting(): number;
  /** Resolves when none waits any more, or the node stops. */
  settled(): Promise<void>;
  /** The kind of the newest fault, while any waits. */
  fault(): string | undefined;
  /** The node stops: what cannot be stored within ten seconds is given up, and sent again by whoever takes it over. */
  noteStopping(): void;
};

/** The work is another worker's by now: there is nothing to store. */
export class LostWorkError extends Error {
  override readonly name = 'LostWorkError';
}

export type OutcomeBufferDependencies = { log: Logger; pause: (milliseconds: number) => Promise<unknown> };

const pauseMilliseconds = 1_000;
const maxStopMilliseconds = 10_000;
/** Tries of what is refused for what is in it: a partition that another node makes is there by then. */
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

/** The kind and no more: a message may quote values of a row. */
function faultOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'Error').slice(0, 60);
}
