import type { Queryable } from '../pool.ts';

export type DatabaseFacts = {
  /** As `server_version`: "18.4". */
  version: string;
  sizeBytes: number;
  /** Of this database. */
  connections: number;
  mostConnections: number;
  /** By the database's own clock, as all instants here are. */
  startedAt: Date;
};

/** What the database says of itself. Reads the catalogue only; the size costs a look at each file. */
export async function readDatabaseFacts(tx: Queryable): Promise<DatabaseFacts> {
  const [row] = await tx<DatabaseFacts[]>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as "sizeBytes",
      (select count(*) from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as "mostConnections", pg_postmaster_start_time() as "startedAt"`;
  return row!;
}

export type Replica = { state: string; lagBytes: number | null };

/** Copies that follow this database, with how far they are behind; none where the account may not see them. */
export async function listReplicas(tx: Queryable): Promise<Replica[]> {
  return tx<Replica[]>`
    select state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint as "lagBytes"
    from pg_stat_replication where state is not null order by pid limit 100`;
}

export type AppliedMigration = { name: string; appliedAt: Date };

/** Newest first. A table of tens of rows. */
export async function listAppliedMigrations(tx: Queryable): Promise<AppliedMigration[]> {
  return tx<AppliedMigration[]>`
    select name, applied_at as "appliedAt" from schema_migrations order by name desc limit 1000`;
}
