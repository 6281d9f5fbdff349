import { AsyncLocalStorage } from 'node:async_hooks';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keepInStep } from '../../clock.ts';
import type { Clock } from '../../clock.ts';
import { encryptionContext, makeEncryption, masterKeyWord } from '../../domain/crypto/encryption.ts';
import type { InstallationPurpose, Keyring, Encryption } from '../../domain/crypto/encryption.ts';
import type { Logger } from '../../log.ts';
import { keepsSessions, openDatabase } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { findInstallation, insertInstallation } from '../../storage/installation/installation.ts';
import type { Installation } from '../../storage/installation/installation.ts';
import { endLeasesOfPredecessors } from '../../storage/installation/nodes.ts';
import { defaultDataFolder } from '../config.ts';
import type { Config } from '../config.ts';
import { isInitialised } from '../embedded-postgres/cluster.ts';
import { assertWritable, findRunningPostgres, startEmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import type { EmbeddedPostgres } from '../embedded-postgres/embedded-postgres.ts';
import { StartError } from '../start-errors.ts';
import { readyDatabase } from './prepare-database.ts';

/**
 * Resources that every process of an installation shares: the migrated database, the encryption, and the clock anchored to it.
 */
export type OpenInstallation = {
  /** For work on behalf of a caller: reaches only the workspace of the enclosing `inWorkspace`, and no rows outside of one. */
  callDatabase: Database;
  inWorkspace<Result>(workspaceId: string, work: () => Result): Result;
  /** For work across workspaces: the engine, commands, finding the workspace of a credential. */
  acrossWorkspaces: Database;
  /** A standby, bound to workspaces like `callDatabase`; undefined if none is set. */
  standby: Database | undefined;
  /** The reason why row-level security does not separate the workspaces; undefined when it does. */
  wallFault: string | undefined;
  databaseUrl: string;
  /** The same URL, or that of the database itself behind a pooler: for work that needs a session. */
  sessionUrl: string;
  /** `embedded (folder)` or the host of the given database, for the start block. */
  databasePlace: string;
  dataFolder: string;
  encryption: Keyring;
  /** Returns a secret of this installation for one purpose. A rotation of the master key does not change it. */
  secretFor(purpose: InstallationPurpose): Buffer;
  embedded: EmbeddedPostgres | undefined;
  close(): Promise<void>;
};

export type OpenDependencies = {
  clock: Clock;
  log: Logger;
  /** For commands: use the embedded database of a running node if there is one. */
  reuse?: 'running node';
  /** Whether to create or reject a missing installation. */
  ifMissing?: 'make' | 'refuse';
  stopRequested?: AbortSignal;
  /** Called when settings and folder are valid and only the database is left to wait for. */
  onWaiting?: () => void;
};

/**
 * Opens the installation: starts the embedded database or connects to the given one, migrates it, checks the master key and
 * anchors the clock.
 *
 * @throws StartError and the errors that `toStartError` handles
 */
export async function openInstallation(
  config: Config,
  { clock, log, reuse, ifMissing = 'make', stopRequested = new AbortController().signal, onWaiting }: OpenDependencies,
): Promise<OpenInstallation> {
  const dataFolder = config.dataFolder ?? defaultDataFolder;
  const found = givenDatabase(config) ?? (reuse && (await findRunningPostgres(join(dataFolder, 'postgres'))));
  if (found === undefined && ifMissing === 'refuse') await refuseNewFolder(dataFolder);
  const embedded =
    found === undefined ? await startOwnDatabase(dataFolder, { log, stopRequested, onWaiting }) : undefined;
  const { url: databaseUrl, ownerUrl } = found ?? embedded!;
  const sessionUrl = config.databaseDirectUrl ?? databaseUrl;
  let database: Database | undefined;
  let standby: Database | undefined;
  const close = async (): Promise<void> => {
    await standby?.end({ timeoutSeconds: 1 });
    await database?.end({ timeoutSeconds: 5 });
    await embedded?.stop();
  };
  // A statement may wait for another node's lock, so a stop closes the connections.
  const breakOff = (): void => void database?.end({ timeoutSeconds: 0 });
  stopRequested.addEventListener('abort', breakOff);
  try {
    stopRequested.throwIfAborted();
    if (!embedded) await refusePooler(sessionUrl, config);
    onWaiting?.();
    const wall = await readyDatabase(sessionUrl, { ownerUrl, stopRequested, ifMissing });
    stopRequested.throwIfAborted();
    const callOf = new AsyncLocalStorage<string>();
    database = openDatabase({
      ...{ url: databaseUrl, connections: config.databaseConnections, name: 'carillon' },
      ...{ pooler: config.databasePooler, directUrl: config.databaseDirectUrl, acrossRole: wall.acrossRole },
    });
    const acrossWorkspaces = database.acrossWorkspaces();
    standby = openStandby(config, wall.acrossRole);
    await keepInStep(clock, () => readDatabaseClock(acrossWorkspaces));
    if (embedded) {
      // The owner of the database folder knows that no other node is connected.
      const freed = await endLeasesOfPredecessors(acrossWorkspaces, clock.realNow());
      if (Object.values(freed).some((count) => count > 0)) log.info(freed, 'work of a process that died is freed');
    }
    const isNew = (await findInstallation(acrossWorkspaces)) === undefined;
    const masterKey = await findMasterKey(config, { dataFolder, isNew });
    const keys = { masterKey, nextMasterKey: config.nextMasterKey };
    const { encryption, secrets } = await checkMasterKey(acrossWorkspaces, { ...keys, at: clock.now() });
    return {
      callDatabase: database.forWorkspace(() => callOf.getStore()),
      inWorkspace: (workspaceId, work) => callOf.run(workspaceId, work),
      acrossWorkspaces,
      standby: standby?.forWorkspace(() => callOf.getStore()),
      wallFault: wall.fault,
      databaseUrl,
      sessionUrl,
      databasePlace: embedded ? `embedded PostgreSQL in ${dataFolder}` : new URL(databaseUrl).host,
      dataFolder,
      encryption,
      secretFor: (purpose) => secrets[purpose],
      embedded,
      close,
    };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  } finally {
    stopRequested.removeEventListener('abort', breakOff);
  }
}

// Enough for two users who view lists at once. A user waits two seconds before the primary is queried instead.
const standbyConnections = 5;
const standbyMilliseconds = 2_000;

function openStandby({ databaseStandbyUrl: url }: Config, acrossRole: string | undefined): Database | undefined {
  if (url === undefined) return undefined;
  const options = { connections: standbyConnections, connectMilliseconds: standbyMilliseconds, name: 'carillon' };
  return openDatabase({ ...options, url, acrossRole, access: 'read only' });
}

/** @throws StartError */
async function refuseNewFolder(dataFolder: string): Promise<void> {
  if (await isInitialised(join(dataFolder, 'postgres', 'cluster'))) return;
  throw new StartError(
    'NOTHING_INSTALLED',
    `There is no Carillon in ${dataFolder}; name its data folder with --data-dir, or set DATABASE_URL.`,
  );
}

/**
 * Rejects a pooler in transaction mode: statements, locks and settings would be lost between two transactions, some of them
 * without an error.
 */
async function refusePooler(sessionUrl: string, { databaseDirectUrl }: Config): Promise<void> {
  if (await keepsSessions(sessionUrl)) return;
  throw new StartError(
    'DATABASE_POOLED',
    databaseDirectUrl === undefined
      ? 'DATABASE_URL goes through a pooler in transaction mode; set CARILLON_DATABASE_POOLER=transaction and CARILLON_DATABASE_DIRECT_URL.'
      : 'CARILLON_DATABASE_DIRECT_URL goes through a pooler in transaction mode; it must name the database itself.',
  );
}

function givenDatabase({ databaseUrl, databaseOwnerUrl }: Config) {
  return databaseUrl === undefined ? undefined : { url: databaseUrl, ownerUrl: databaseOwnerUrl };
}

/** Starts the embedded database of a data folder, creating it if it is missing. */
export async function startOwnDatabase(
  dataFolder: string,
  { log, stopRequested, onWaiting }: { log: Logger; stopRequested: AbortSignal; onWaiting: (() => void) | undefined },
): Promise<EmbeddedPostgres> {
  await makeDataFolder(dataFolder);
  return startEmbeddedPostgres({
    folder: join(dataFolder, 'postgres'),
    onLine: (line) => log.debug({ line }, 'database'),
    stopRequested,
    ...(onWaiting && { onWaiting }),
  });
}

async function makeDataFolder(dataFolder: string): Promise<void> {
  try {
    await assertWritable(dataFolder);
  } catch (error) {
    throw new StartError(
      'DATA_FOLDER_UNUSABLE',
      `The data folder ${dataFolder} cannot be written: ${(error as Error).message}; choose another with --data-dir.`,
      error,
    );
  }
}

/**
 * Returns the given key, or in sandbox mode one that is generated once next to the data. Production requires a given key, so
 * that it is stored separately.
 */
async function findMasterKey(
  config: Config,
  { dataFolder, isNew }: { dataFolder: string; isNew: boolean },
): Promise<Buffer> {
  if (config.masterKey) return config.masterKey;
  if (config.mode === 'production') {
    throw new StartError(
      'MASTER_KEY_WRONG',
      `Production mode needs CARILLON_MASTER_KEY; this is a fresh one: ${randomBytes(32).toString('base64')}`,
    );
  }
  const path = join(dataFolder, 'master.key');
  if (!isNew && !existsSync(path))
    throw new StartError(
      'MASTER_KEY_WRONG',
      `The master key of this database is not in ${path}; name its data folder with --data-dir, or set CARILLON_MASTER_KEY.`,
    );
  await makeDataFolder(dataFolder);
  // `wx`: if two processes start together, one writes the key and the other reads it.
  if (!existsSync(path))
    await writeFile(path, randomBytes(32).toString('base64'), { mode: 0o600, flag: 'wx' }).catch(() => {});
  return Buffer.from(await readFile(path, 'utf8'), 'base64');
}

export type GivenKeys = { masterKey: Buffer; nextMasterKey: Buffer | undefined };

export type CheckedKeys = { encryption: Keyring; secrets: Record<InstallationPurpose, Buffer> };

/**
 * Creates the installation with its secrets, or checks the given keys against the existing one. The database records the key
 * that encrypts everything, and during a rotation also the other key that is needed.
 *
 * @throws DecryptionError, StartError
 */
export async function checkMasterKey(
  database: Database,
  { masterKey, nextMasterKey, at }: GivenKeys & { at: Date },
): Promise<CheckedKeys> {
  const encryption = makeEncryption(masterKey, nextMasterKey);
  await insertInstallation(database, {
    createdAt: at,
    masterKeyCheck: encryption.encrypt(masterKeyWord, encryptionContext.masterKeyCheck()),
    encryptedSecrets: makeSecrets(encryption),
  });
  const installation = (await findInstallation(database))!;
  encryption.decrypt(installation.masterKeyCheck, encryptionContext.masterKeyCheck());
  encryption.encryptUnder(installation.masterKeyId);
  requireOldKey(encryption, installation);
  return { encryption, secrets: decryptSecrets(encryption, installation) };
}

function requireOldKey(encryption: Keyring, { masterKeyId, rotatingFromKeyId }: Installation): void {
  if (rotatingFromKeyId === null || encryption.masterKeyIds().includes(rotatingFromKeyId)) return;
  throw new StartError(
    'MASTER_KEY_WRONG',
    `The rotation from the master key ${rotatingFromKeyId} to ${masterKeyId} has not ended; give both keys (CARILLON_MASTER_KEY, CARILLON_MASTER_KEY_NEXT) and run: carillon master-key rotate.`,
  );
}

function decryptSecrets(
  encryption: Encryption,
  { encryptedSecrets }: Installation,
): Record<InstallationPurpose, Buffer> {
  const decrypt = (purpose: InstallationPurpose): Buffer =>
    encryption.decrypt(encryptedSecrets[purpose], encryptionContext.installationSecret(purpose));
  return { interactions: decrypt('interactions'), simulator: decrypt('simulator') };
}

function makeSecrets(encryption: Encryption): Record<InstallationPurpose, Buffer> {
  const make = (purpose: InstallationPurpose): Buffer =>
    encryption.encrypt(randomBytes(32), encryptionContext.installationSecret(purpose));
  return { interactions: make('interactions'), simulator: make('simulator') };
}
