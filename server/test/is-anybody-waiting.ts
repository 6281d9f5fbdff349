import { inject } from 'vitest';
import type { Database } from '../src/storage/database.ts';

/** Whether a session of this database waits for a lock; of a cluster, on any of its nodes. */
export async function isAnybodyWaiting(database: Database): Promise<boolean> {
  return (await countWaiting(database)) > 0;
}

/** How many do. */
export async function countWaiting(database: Database): Promise<number> {
  const look = `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  if (inject('workerUrls') === null) return Number((await database.unsafe(look))[0]!.count);
  const nodes = await database<{ result: string }[]>`select result from run_command_on_all_nodes(${look})`;
  return nodes.reduce((sum, { result }) => sum + Number(result), 0);
}
