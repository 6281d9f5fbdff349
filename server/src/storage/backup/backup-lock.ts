import { withSession } from '../database.ts';
import type { Database } from '../database.ts';

/** Arbitrary; it only has to be the same on every node. */
const backupLock = 7_312_847;

/** Does work that only one node does at a time; ends with the node. @returns `locked` when another is at it */
export function aloneWithBackups<Result>(database: Database, work: () => Promise<Result>): Promise<Result | 'locked'> {
  return withSession(database, async (session) => {
    const [row] = await session<{ isLocked: boolean }[]>`select pg_try_advisory_lock(${backupLock}) as "isLocked"`;
    if (!row!.isLocked) return 'locked';
    try {
      return await work();
    } finally {
      // The server ends a closed session a moment later, in which the next to ask would be told "locked". One that is lost has no lock.
      await session`select pg_advisory_unlock(${backupLock})`.catch(() => {});
    }
  });
}
