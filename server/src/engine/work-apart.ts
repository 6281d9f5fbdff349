import { isDatabaseFault } from '../domain/outage.ts';
import type { Logger } from '../log.ts';
import type { PutOff } from './put-off.ts';

/** Takes at most as many items that are due, tells which, and works them in one transaction. @returns how many */
export type WorkBatch = (batch: {
  limit: number;
  except: readonly string[];
  onTaken: (ids: readonly string[]) => void;
}) => Promise<number>;

type Fault = { id: string; error: unknown; retryAt: Date };
type Apart = { now: Date; limit: number; putOff: PutOff; onFault: (fault: Fault) => void };

/**
 * Works a batch together; one that throws is worked item by item, so that the item at fault keeps none of the others back. It is
 * tried again later.
 *
 * @returns how many were worked
 * @throws what took none throws, and a fault of the database, which is no item's
 */
export async function workApart(work: WorkBatch, { now, limit, putOff, onFault }: Apart): Promise<number> {
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
export function makeTellFault(log: Logger, what: 'run' | 'campaign'): Apart['onFault'] {
  return ({ id, error, retryAt }) =>
    log.error({ [`${what}Id`]: id, err: error, retryAt }, `${what} cannot be started; others go before it`);
}
