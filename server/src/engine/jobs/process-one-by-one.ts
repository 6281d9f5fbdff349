import { isDatabaseFault } from '../../domain/database-faults.ts';
import type { Logger } from '../../log.ts';

/** Claims up to `limit` due items, reports their ids to `onTaken`, and processes them in one transaction. @returns the number of processed items */
export type ProcessBatch = (batch: {
  limit: number;
  except: readonly string[];
  onTaken: (ids: readonly string[]) => void;
}) => Promise<number>;

type Fault = { id: string; error: unknown; retryAt: Date };
type Apart = { now: Date; limit: number; putOff: Backoff; onFault: (fault: Fault) => void };

/**
 * Processes items as a batch. If the batch throws, processes the items one by one, so that a failing item does not block the
 * others. The failing item is retried later.
 *
 * @returns the number of processed items
 * @throws an error that occurs before any item is claimed, and database faults, because no item causes them
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

/** Logs one line for each failing item. */
export function makeFaultLogger(log: Logger, what: 'run' | 'campaign'): Apart['onFault'] {
  return ({ id, error, retryAt }) =>
    log.error({ [`${what}Id`]: id, err: error, retryAt }, `${what} cannot be started; others go before it`);
}

/** The ids of items that could not be started, and when each is retried. Items behind them are processed meanwhile. */
export type Backoff = {
  /** Returns the ids that are not retried yet. */
  list(now: Date): string[];
  /** Records a failure. @returns when the item is retried */
  add(id: string, now: Date): Date;
  /** Records that the item was started. */
  remove(id: string): void;
};

type Waiting = { until: Date; failures: number };

const firstSeconds = 2;
const maxSeconds = 60;
/** Entries are deleted after this time, because an item stopped in the meantime never reports success. */
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
