import type { Queryable } from '../database.ts';

/**
 * Reads the database's clock. No other SQL statement reads the time. All nodes synchronise with this clock, so they agree
 * even if the clocks of their machines differ (fault F13).
 */
export async function readDatabaseClock(database: Queryable): Promise<Date> {
  const [row] = await database<{ instant: Date }[]>`select clock_timestamp() as instant`;
  return row!.instant;
}

/** Checks cheaply that the database responds, and whether it accepts writes. */
export async function pingDatabase(database: Queryable): Promise<{ isReadOnly: boolean }> {
  const [row] = await database<{ isReadOnly: boolean }[]>`
    select current_setting('transaction_read_only')::boolean as "isReadOnly"`;
  return row!;
}

export type StandbyState = {
  /** False once the standby was promoted to primary. */
  isStandby: boolean;
  /** Age of the newest transaction commit that it has replayed; undefined if it has none. */
  lagSeconds: number | undefined;
};

/**
 * Returns how far a standby is behind. Measures the time of the last replayed transaction, not log positions: a standby
 * that has lost its primary has replayed all that it received. The lag also grows while nothing is written, but a node
 * writes its report every five seconds. Reads no table.
 */
export async function readStandbyState(tx: Queryable): Promise<StandbyState> {
  const [row] = await tx<{ isStandby: boolean; lagSeconds: number | null }[]>`
    select pg_is_in_recovery() as "isStandby",
      extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp())::float8 as "lagSeconds"`;
  return { isStandby: row!.isStandby, lagSeconds: row!.lagSeconds ?? undefined };
}
