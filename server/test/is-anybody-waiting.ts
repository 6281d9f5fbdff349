import { inject } from 'vitest';
import type { Database } from '../src/storage/database.ts';

/** Whether a session of this database waits for a lock; of a cluster, on any of its nodes. */
export async function isAnybodyWaiting(database: Database): Promise<boolean> {
  const look = `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  if (inject('workerUrls') === null) return (await database.unsafe(look))[0]!.count > 0;
  const nodes = await database<{ result: string }[]>`select result from run_command_on_all_nodes(${look})`;
  return nodes.some(({ result }) => Number(result) > 0);
}
