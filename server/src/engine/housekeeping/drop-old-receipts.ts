import type { Clock } from '../../clock.ts';
import { deleteReceiptsBefore, readOldestTransaction } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import type { Job } from '../job.ts';

// An outcome is asked for within half a minute, and a transaction whose connection is lost ends within one.
const keptMinutes = 10;

/**
 * The job that forgets receipts of transactions (docs/decisions/0029) whose outcome nobody asks for any more. Each look
 * notes which transaction was the oldest then; ten minutes later all before it are old. What this forgets with its
 * process is noted again by the next one.
 */
export function makeDropOldReceipts({ database, clock }: { database: Database; clock: Clock }): Job {
  let looks: { at: number; oldest: string }[] = [];
  return {
    name: 'drop-old-receipts',
    intervalMilliseconds: 30_000,
    async runOnce() {
      // What the sandbox moves is the time of campaigns, not that of connections.
      const at = clock.realNow().getTime();
      looks.push({ at, oldest: await readOldestTransaction(database) });
      const passed = looks.findLast((look) => look.at <= at - keptMinutes * 60_000);
      if (passed === undefined) return 0;
      looks = looks.slice(looks.indexOf(passed));
      return (await deleteReceiptsBefore(database, passed.oldest)) >= 10_000 ? 1 : 0;
    },
  };
}
