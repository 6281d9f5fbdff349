import type { Queryable } from '../database.ts';

/**
 * The database's own clock: the one place where SQL asks for the time. All nodes anchor to it, so they agree whatever
 * their machines believe (fault F13).
 */
export async function readDatabaseClock(database: Queryable): Promise<Date> {
  const [row] = await database<{ instant: Date }[]>`select clock_timestamp() as instant`;
  return row!.instant;
}

/** A cheap proof that the database answers. */
export async function pingDatabase(database: Queryable): Promise<void> {
  await database`select 1`;
}
