import type { Database } from './database.ts';
import type { PoolUse } from './postgres/connection-pool.ts';

/** How the connections are used from which this database's statements take theirs. */
export function readPoolUse({ reach }: Database): PoolUse {
  return reach.pool.countUse();
}
