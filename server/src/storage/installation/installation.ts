import type { Queryable, Session } from '../database.ts';

export type Installation = {
  createdAt: Date;
  masterKeyCheck: Buffer;
  demoWorkspaceId: string | null;
  clockOffsetMilliseconds: number;
  /** What the demo's ids and keys are made from; null of a demo that was made before this was kept. */
  encryptedDemoSeed: Buffer | null;
};

/** The one row of this installation, locked when `tx` is a transaction that goes on to change it. */
export async function findInstallation(tx: Queryable): Promise<Installation | undefined> {
  const [row] = await tx<Installation[]>`
    select created_at as "createdAt", master_key_check as "masterKeyCheck", demo_workspace_id as "demoWorkspaceId",
      clock_offset_ms as "clockOffsetMilliseconds", demo_seed_sealed as "encryptedDemoSeed"
    from installation`;
  return row;
}

/** Makes the row once; a second node finds it made. */
export async function insertInstallation(
  tx: Queryable,
  row: { createdAt: Date; masterKeyCheck: Buffer },
): Promise<void> {
  await tx`
    insert into installation (created_at, master_key_check) values (${row.createdAt}, ${row.masterKeyCheck})
    on conflict (only_row) do nothing`;
}

/** Locks the row until the transaction ends, so that two nodes seed the demo once. */
export async function lockInstallation(tx: Queryable): Promise<void> {
  await tx`select 1 from installation for update`;
}

export async function setDemoWorkspace(
  tx: Queryable,
  { workspaceId, encryptedSeed }: { workspaceId: string; encryptedSeed: Buffer },
): Promise<void> {
  await tx`update installation set demo_workspace_id = ${workspaceId}, demo_seed_sealed = ${encryptedSeed}`;
}

/** Moves the sandbox clock of all nodes. */
export async function setClockOffset(tx: Queryable, milliseconds: number): Promise<void> {
  await tx`update installation set clock_offset_ms = ${milliseconds}`;
}

export type DatabaseFacts = {
  /** As `server_version`: "18.4". */
  version: string;
  sizeBytes: number;
  /** Of this database. */
  connections: number;
  maxConnections: number;
  /** By the database's own clock, as all instants here are. */
  startedAt: Date;
};

/** What the database says of itself. Reads the catalogue only; the size costs a look at each file. */
export async function readDatabaseFacts(tx: Queryable): Promise<DatabaseFacts> {
  const [row] = await tx<DatabaseFacts[]>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as "sizeBytes",
      (select count(*) from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as "maxConnections", pg_postmaster_start_time() as "startedAt"`;
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

// The session that holds this advisory lock owns the embedded server's folder; a server without such a session is an
// orphan of a killed process. The number is arbitrary.
const ownershipLock = 7312844;

/** Waits until this session owns the embedded server; it does until it ends. */
export async function lockOwnership(session: Session): Promise<void> {
  await session`select pg_advisory_lock(${ownershipLock})`;
}

/** Which files a server serves, and since when: the two facts that its lock file states as well. */
export async function readServerIdentity(probe: Queryable): Promise<{ folder: string; startedAt: Date }> {
  const [row] = await probe<{ folder: string; startedAt: Date }[]>`
    select current_setting('data_directory') as folder, pg_postmaster_start_time() as "startedAt"`;
  return row!;
}

/** Whether nobody owned the embedded server; then the caller's session does until it ends. */
export async function takeOwnershipIfFree(probe: Queryable): Promise<boolean> {
  const [row] = await probe<{ isFree: boolean }[]>`select pg_try_advisory_lock(${ownershipLock}) as "isFree"`;
  return row!.isFree;
}

/**
 * Makes the role and the database of the application in an embedded server, each when it is missing.
 *
 * @param password base64url, so that it needs no quoting; DDL takes no parameters
 */
export async function makeApplicationDatabase(owner: Queryable, password: string): Promise<void> {
  const [role] = await owner`select 1 from pg_roles where rolname = 'carillon'`;
  if (!role) await owner.unsafe(`create role carillon login nosuperuser password '${password}'`);
  const [database] = await owner`select 1 from pg_database where datname = 'carillon'`;
  if (!database) await owner.unsafe(`create database carillon owner carillon`);
}
