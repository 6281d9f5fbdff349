import { inTransaction } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { countWithinLimit } from '../../storage/limits/limit-marks.ts';
import type { LimitCount, LimitGrant } from '../../storage/limits/limit-marks.ts';

export type UseGrant = LimitGrant & { limit: number };

/**
 * Counts what a request asks for if there is room for all of it, else none. A refusal says when there would be room for
 * all. Every statement works under the lock of the workspace's counters, taken in the order given, so nothing changes
 * between them; callers give them in one order.
 *
 * @returns the grant of the limit that has the least left
 */
export async function countUses(database: Database, counts: LimitCount[]): Promise<UseGrant> {
  return inTransaction(database, async (tx) => {
    const [first] = counts;
    // One thing is granted or not in one look.
    if (first && counts.length === 1 && first.wanted === 1)
      return { ...(await countWithinLimit(tx, first)), limit: first.limit };
    for (const count of counts) {
      const refusal = await findRefusal(tx, count);
      if (refusal) return refusal;
    }
    const grants: UseGrant[] = [];
    for (const count of counts) grants.push({ ...(await countWithinLimit(tx, count)), limit: count.limit });
    return grants.reduce((least, grant) => (grant.remaining < least.remaining ? grant : least));
  });
}

/** Room for one under a limit that is lower by the others is room for all. */
async function findRefusal(tx: Transaction, count: LimitCount): Promise<UseGrant | undefined> {
  const { wanted, limit } = count;
  const quota = await countWithinLimit(tx, { ...count, wanted: 0, limit: limit - wanted + 1 });
  if (quota.remaining > 0) return undefined;
  const { remaining } = await countWithinLimit(tx, { ...count, wanted: 0 });
  return { granted: 0, remaining, retryAfterSeconds: Math.max(1, quota.retryAfterSeconds), limit };
}

/** The state of a limit, without counting anything. */
export async function peekUse(database: Database, count: LimitCount): Promise<UseGrant> {
  return inTransaction(database, async (tx) => ({
    ...(await countWithinLimit(tx, { ...count, wanted: 0 })),
    limit: count.limit,
  }));
}
