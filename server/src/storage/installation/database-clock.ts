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

export type StandbyState = {
  /** Not any more, once it was made the primary. */
  isStandby: boolean;
  /** How long ago the newest transaction that it knows was committed; undefined when it knows none. */
  lagSeconds: number | undefined;
};

/**
 * How far a standby is behind. By the time of what it has replayed, not by positions in the log: a standby that has lost its primary
 * has replayed all that it received. Where nothing is written this grows too; a node writes its report every five seconds.
 * Reads no table.
 */
export async function readStandbyState(tx: Queryable): Promise<StandbyState> {
  const [row] = await tx<{ isStandby: boolean; lagSeconds: number | null }[]>`
    select pg_is_in_recovery() as "isStandby",
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as "lagSeconds"`;
  return { isStandby: row!.isStandby, lagSeconds: row!.lagSeconds ?? undefined };
}
