import type { Queryable } from '../database.ts';

/**
 * The database's own clock: the one place where SQL asks for the time. All nodes anchor to it, so they agree whatever
 * their machines believe (fault F13).
 */
export async function readDatabaseClock(database: Queryable): Promise<Date> {
  const [row] = await database<{ instant: Date }[]>`select clock_timestamp() as instant`;
  return row!.instant;
}

/** A cheap proof that the database answers, and whether it takes writes at all. */
export async function pingDatabase(database: Queryable): Promise<{ isReadOnly: boolean }> {
  const [row] = await database<{ isReadOnly: boolean }[]>`
    select current_setting('transaction_read_only')::boolean as "isReadOnly"`;
  return row!;
}
