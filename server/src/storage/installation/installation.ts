import type { InstallationPurpose } from '../../domain/crypto/encryption.ts';
import type { ConnectionLimit } from '../../domain/operations/connection-budget.ts';
import type { Queryable, Session, Transaction } from '../database.ts';

export type Installation = {
  createdAt: Date;
  masterKeyCheck: Buffer;
  /** Id of the key that encrypts all values now. */
  masterKeyId: string;
  /** Id of the previous key during a rotation. */
  rotatingFromKeyId: string | null;
  encryptedSecrets: Record<InstallationPurpose, Buffer>;
  demoWorkspaceId: string | null;
  clockOffsetMilliseconds: number;
  /** The instant of real time at which the sandbox clock is frozen; null while it runs. */
  clockFrozenAt: Date | null;
  /** The seed of the demo's ids and keys; null without a demo. */
  encryptedDemoSeed: Buffer | null;
};

/** Returns the one row of this installation. A transaction that goes on to change it locks it with `lockInstallation`. */
export async function findInstallation(tx: Queryable): Promise<Installation | undefined> {
  type Row = Omit<Installation, 'encryptedSecrets'> & Record<InstallationPurpose, Buffer>;
  const [row] = await tx<Row[]>`
    select created_at as "createdAt", master_key_check as "masterKeyCheck", demo_workspace_id as "demoWorkspaceId",
      encode(substring(master_key_check from 2 for 4), 'hex') as "masterKeyId",
      rotating_from_key_id as "rotatingFromKeyId", interactions_secret_sealed as interactions,
      simulator_secret_sealed as simulator, clock_offset_ms as "clockOffsetMilliseconds",
      clock_frozen_at as "clockFrozenAt",
      demo_seed_sealed as "encryptedDemoSeed"
    from installation`;
  if (!row) return undefined;
  const { interactions, simulator, ...rest } = row;
  return { ...rest, encryptedSecrets: { interactions, simulator } };
}

/** True if a node has ever been started on this database, even if it is not migrated. */
export async function hasInstallation(tx: Queryable): Promise<boolean> {
  const [row] = await tx<{ isThere: boolean }[]>`select to_regclass('installation') is not null as "isThere"`;
  return row!.isThere;
}

/** Inserts the row once; a second node finds it present. */
export async function insertInstallation(
  tx: Queryable,
  row: { createdAt: Date; masterKeyCheck: Buffer; encryptedSecrets: Record<InstallationPurpose, Buffer> },
): Promise<void> {
  const { interactions, simulator } = row.encryptedSecrets;
  await tx`
    insert into installation (created_at, master_key_check, interactions_secret_sealed, simulator_secret_sealed)
    values (${row.createdAt}, ${row.masterKeyCheck}, ${interactions}, ${simulator})
    on conflict (only_row) do nothing`;
}

/** Makes every node encrypt under the key of this check from now on. The row must be locked. */
export async function beginKeyRotation(
  tx: Transaction,
  { masterKeyCheck, fromKeyId }: { masterKeyCheck: Buffer; fromKeyId: string },
): Promise<void> {
  await tx`update installation set master_key_check = ${masterKeyCheck}, rotating_from_key_id = ${fromKeyId}`;
}

/**
 * Ends the rotation because no value is left under the old key. Does nothing if a rotation back to it has begun
 * meanwhile.
 */
export async function endKeyRotation(tx: Queryable, masterKeyId: string): Promise<void> {
  await tx`
    update installation set rotating_from_key_id = null
    where substring(master_key_check from 2 for 4) = ${Buffer.from(masterKeyId, 'hex')}`;
}

/**
 * Lists the open transactions of this database that have written something; a snapshot would also contain those of the
 * server's other databases. Includes prepared transactions, which have no process.
 */
export async function listOpenTransactions(tx: Queryable): Promise<string[]> {
  const rows = await tx<{ id: string }[]>`
    select locks.transactionid::text as id
    from pg_locks as locks left join pg_stat_activity as sessions on sessions.pid = locks.pid
    where locks.locktype = 'transactionid' and locks.mode = 'ExclusiveLock' and locks.granted
      and (locks.pid is null or sessions.datname = current_database()) and locks.pid is distinct from pg_backend_pid()`;
  return rows.map(({ id }) => id);
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

/** Freezes the sandbox clock of all nodes, or lets it run. */
export async function setSandboxClock(
  tx: Queryable,
  { offsetMilliseconds, frozenAt }: { offsetMilliseconds: number; frozenAt: Date | null },
): Promise<void> {
  await tx`update installation set clock_offset_ms = ${offsetMilliseconds}, clock_frozen_at = ${frozenAt}`;
}

export type DatabaseFacts = {
  /** As `server_version`: "18.4". */
  version: string;
  sizeBytes: number;
  /** Connections to this database. */
  connections: number;
  maxConnections: number;
  /** By the database's own clock, like all instants here. */
  startedAt: Date;
  /** True if each page has a checksum, so that PostgreSQL reports a page that the disk changed. */
  hasPageChecksums: boolean;
};

/** Returns facts about the database. Reads the catalogue only; the size requires a look at each file. */
export async function readDatabaseFacts(tx: Queryable): Promise<DatabaseFacts> {
  const [row] = await tx<DatabaseFacts[]>`
    select current_setting('server_version') as version, pg_database_size(current_database()) as "sizeBytes",
      (select count(*) from pg_stat_activity where datname = current_database()) as connections,
      current_setting('max_connections')::int as "maxConnections", pg_postmaster_start_time() as "startedAt",
      current_setting('data_checksums') = 'on' as "hasPageChecksums"`;
  return row!;
}

/** Returns whether each page has a checksum. Reads one setting, which only initdb and pg_checksums change. */
export async function hasPageChecksums(tx: Queryable): Promise<boolean> {
  const [row] = await tx<{ isOn: boolean }[]>`select current_setting('data_checksums') = 'on' as "isOn"`;
  return row!.isOn;
}

/** Returns how many connections this login may open. Reads the settings and the catalogue only. */
export async function readConnectionLimit(tx: Queryable): Promise<ConnectionLimit> {
  const [row] = await tx<ConnectionLimit[]>`
    select current_setting('max_connections')::int as "maxConnections",
      -- The second exists in PostgreSQL 16 and later.
      current_setting('superuser_reserved_connections')::int
        + coalesce(current_setting('reserved_connections', true)::int, 0) as reserved,
      nullif(pg_roles.rolconnlimit, -1) as "ofRole", nullif(pg_database.datconnlimit, -1) as "ofDatabase"
    from pg_roles, pg_database
    where pg_roles.rolname = session_user and pg_database.datname = current_database()`;
  return row!;
}

export type Replica = { state: string; lagBytes: number | null };

/** Lists the replicas of this database and their lag; empty if the account may not see them. */
export async function listReplicas(tx: Queryable): Promise<Replica[]> {
  return tx<Replica[]>`
    select state, pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)::bigint as "lagBytes"
    from pg_stat_replication where state is not null order by pid limit 100`;
}

export type AppliedMigration = { name: string; appliedAt: Date };

/** Lists migrations, newest first. A table of tens of rows. */
export async function listAppliedMigrations(tx: Queryable): Promise<AppliedMigration[]> {
  return tx<AppliedMigration[]>`
    select name, applied_at as "appliedAt" from schema_migrations order by name desc limit 1000`;
}

// The session that holds this advisory lock owns the embedded server's folder. A server without such a session is an
// orphan of a killed process. The number is arbitrary.
const ownershipLock = 7312844;

/** Waits until this session owns the embedded server. Ownership ends with the session. */
export async function lockOwnership(session: Session): Promise<void> {
  await session`select pg_advisory_lock(${ownershipLock})`;
}

/** Returns which files a server serves and when it started: the two facts that its lock file also states. */
export async function readServerIdentity(probe: Queryable): Promise<{ folder: string; startedAt: Date }> {
  const [row] = await probe<{ folder: string; startedAt: Date }[]>`
    select current_setting('data_directory') as folder, pg_postmaster_start_time() as "startedAt"`;
  return row!;
}

/**
 * Takes ownership of the embedded server if no session owns it; it ends with the caller's session.
 *
 * @returns true if it was free
 */
export async function takeOwnershipIfFree(probe: Queryable): Promise<boolean> {
  const [row] = await probe<{ isFree: boolean }[]>`select pg_try_advisory_lock(${ownershipLock}) as "isFree"`;
  return row!.isFree;
}

/**
 * Creates the missing roles and the database in an embedded server: `carillon` owns the tables, `carillon_app` owns
 * nothing.
 *
 * @param passwords base64url, so that they need no quoting; DDL takes no parameters
 */
export async function makeApplicationDatabase(
  superuser: Queryable,
  passwords: { owner: string; application: string },
): Promise<void> {
  const found = await superuser<{ name: string }[]>`select rolname as name from pg_roles`;
  const isMissing = (role: string): boolean => !found.some(({ name }) => name === role);
  if (isMissing('carillon'))
    await superuser.unsafe(`create role carillon login nosuperuser password '${passwords.owner}'`);
  if (isMissing('carillon_app_across')) await superuser.unsafe('create role carillon_app_across nologin bypassrls');
  if (isMissing('carillon_app')) {
    // One transaction: a role without the other would be refused at every start.
    await superuser.unsafe(`create role carillon_app login noinherit password '${passwords.application}';
      grant carillon_app_across to carillon_app`);
  }
  const [database] = await superuser`select 1 from pg_database where datname = 'carillon'`;
  if (!database) await superuser.unsafe(`create database carillon owner carillon`);
}

/** Extensions that make searches fast; a migration creates them where it may. */
export const usefulExtensions = ['pg_trgm', 'btree_gin'] as const;

export type Extension = { name: string; isAvailable: boolean; isInstalled: boolean };

/**
 * Returns which of them the database has, and which the server offers. Reads the catalogue and a folder of the server.
 */
export async function readUsefulExtensions(tx: Queryable): Promise<Extension[]> {
  return tx<Extension[]>`
    select wanted.name, available.name is not null as "isAvailable", available.installed_version is not null as "isInstalled"
    from unnest(${[...usefulExtensions]}::text[]) with ordinality as wanted (name, place)
    left join pg_available_extensions as available on available.name = wanted.name
    order by wanted.place`;
}

/**
 * Creates a copy of a database to which there are no connections. Copies files: the default, through the write-ahead
 * log, takes four times the CPU time. Not in a transaction. Two copies of the same template cannot run concurrently.
 *
 * @param copy names of letters, digits and underscores: DDL takes no parameters
 */
export async function cloneDatabase(server: Queryable, copy: { name: string; template: string }): Promise<void> {
  await server.unsafe(`create database ${copy.name} template ${copy.template} strategy file_copy`);
}

/** Drops a database and ends its sessions. Not in a transaction. */
export async function dropDatabase(server: Queryable, name: string): Promise<void> {
  await server.unsafe(`drop database ${name} with (force)`);
}
