import { isDatabaseFault } from '../../domain/database-faults.ts';
import type { Logger } from '../../log.ts';

/** Takes at most as many items that are due, tells which, and works them in one transaction. @returns how many */
export type ProcessBatch = (batch: {
  limit: number;
  except: readonly string[];
  onTaken: (ids: readonly string[]) => void;
}) => Promise<number>;

type Fault = { id: string; error: unknown; retryAt: Date };
type Apart = { now: Date; limit: number; putOff: Backoff; onFault: (fault: Fault) => void };

/**
 * Works a batch together; one that throws is worked item by item, so that the item at fault keeps none of the others back. It is
 * tried again later.
 *
 * @returns how many were worked
 * @throws what took none throws, and a fault of the database, which is no item's
 */
export async function processOneByOne(work: ProcessBatch, { now, limit, putOff, onFault }: Apart): Promise<number> {
  let taken: readonly string[] = [];
  const ask = async (most: number): Promise<number> => {
    taken = [];
    const done = await work({ limit: most, except: putOff.list(now), onTaken: (ids) => (taken = ids) });
    for (const id of taken) putOff.remove(id);
    return done;
  };
  try {
    return await ask(limit);
  } catch (error) {
    if (taken.length === 0 || isDatabaseFault(error)) throw error;
  }
  let worked = 0;
  for (let looks = 0; looks < limit; looks += 1) {
    try {
      if ((await ask(1)) === 0) break;
      worked += 1;
    } catch (error) {
      const [id] = taken;
      if (id === undefined || isDatabaseFault(error)) throw error;
      onFault({ id, error, retryAt: putOff.add(id, now) });
    }
  }
  return worked;
}

/** One line of the log for each item at fault. */
export function makeFaultLogger(log: Logger, what: 'run' | 'campaign'): Apart['onFault'] {
  return ({ id, error, retryAt }) =>
    log.error({ [`${what}Id`]: id, err: error, retryAt }, `${what} cannot be started; others go before it`);
}

/** What could not be started, by its id, and when each is tried again: meanwhile those behind it are. */
export type Backoff = {
  /** Those that are not tried yet. */
  list(now: Date): string[];
  /** It failed. @returns when it is tried again */
  add(id: string, now: Date): Date;
  /** It was started. */
  remove(id: string): void;
};

type Waiting = { until: Date; failures: number };

const firstSeconds = 2;
const maxSeconds = 60;
/** Of what was stopped meanwhile nothing is heard any more. */
const forgottenMilliseconds = 10 * 60_000;

export function makeBackoff(): Backoff {
  const waiting = new Map<string, Waiting>();
  return {
    list: (now) => [...waiting].filter(([, { until }]) => until > now).map(([id]) => id),
    add(id, now) {
      for (const [other, { until }] of waiting)
        if (now.getTime() - until.getTime() > forgottenMilliseconds) waiting.delete(other);
      const failures = (waiting.get(id)?.failures ?? 0) + 1;
      const seconds = Math.min(maxSeconds, firstSeconds * 2 ** Math.min(failures - 1, 10));
      const until = new Date(now.getTime() + seconds * 1000);
      waiting.set(id, { until, failures });
      return until;
    },
    remove: (id) => void waiting.delete(id),
  };
}
