import { setTimeout } from 'node:timers/promises';
import { enqueueFanOut } from '../../engine/enqueue.ts';
import type { Database } from '../../storage/database.ts';

// Under load fifty times a second; the first after a pause immediately.
const pauseMilliseconds = 20;

/**
 * Makes a function that tells the workers that something stored waits for them: once for all that was stored while they were
 * told last. In the transactions of the pushes the same job would cost as much as storing them, and each batch would wait for
 * the commit of the one before, which holds the job. A process that dies between the commit and this costs a second, no run:
 * every worker also looks for itself.
 */
export function makeWakeFanOut({ database }: { database: Database }): () => void {
  let isTelling = false;
  let isAskedAgain = false;

  async function tell(): Promise<void> {
    isTelling = true;
    do {
      isAskedAgain = false;
      // A database that is away is told of where it is next asked.
      await enqueueFanOut(database).catch(() => {});
      await setTimeout(pauseMilliseconds, undefined, { ref: false });
    } while (isAskedAgain);
    isTelling = false;
  }

  return () => {
    isAskedAgain = true;
    if (!isTelling) void tell();
  };
}
