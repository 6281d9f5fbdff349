import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { manifestFile, writeManifest } from '../../domain/backup/backup-manifest.ts';
import type { BackupManifest, BackupTable } from '../../domain/backup/backup-manifest.ts';
import { leftOutTables } from '../../domain/backup/left-out-tables.ts';
import {
  copyRows,
  holdTables,
  listSequences,
  listStoredTables,
  readBackupFacts,
  writePlainly,
} from '../../storage/backup/backup-tables.ts';
import type { StoredTable } from '../../storage/backup/backup-tables.ts';
import { inSnapshot } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { holdMigrationsOff, readApplied } from '../../storage/migrate.ts';
import { BackupRefusedError, flushFolder, writeRows } from './backup-files.ts';

export type BackupRequest = {
  /** Made by this; must not be there. */
  folder: string;
  carillonVersion: string;
  /** Ends it with the reason of the signal; nothing of it stays. */
  signal?: AbortSignal;
};

/**
 * Writes what is stored, as it was at one instant, into a folder: the database serves meanwhile, and nothing of it is held
 * in memory. It is made beside its place and gets its name when all of it is on the disk.
 *
 * @param database across workspaces
 * @throws BackupRefusedError, and what the file system says
 */
export async function makeBackup(database: Database, request: BackupRequest): Promise<BackupManifest> {
  const { signal } = request;
  const folder = resolve(request.folder);
  if (await stat(folder).catch(() => undefined))
    throw new BackupRefusedError(`${folder} is there already; name a folder that is to be made.`);
  const unfinished = `${folder}${unfinishedEnding}`;
  await rm(unfinished, { recursive: true, force: true });
  try {
    await mkdir(join(unfinished, 'tables'), { recursive: true, mode: 0o700 });
    const manifest = await inSnapshot(database, (tx) => writeTables(tx, { ...request, folder: unfinished }));
    signal?.throwIfAborted();
    await writeFile(join(unfinished, manifestFile), writeManifest(manifest), { mode: 0o600, flush: true });
    await flushFolder(join(unfinished, 'tables'));
    await flushFolder(unfinished);
    await rename(unfinished, folder);
    await flushFolder(dirname(folder));
    return manifest;
  } catch (error) {
    await rm(unfinished, { recursive: true, force: true }).catch(() => {});
    throw isOfFileSystem(error)
      ? new BackupNotWrittenError(`${folder} cannot be written: ${error.message}.`, { cause: error })
      : error;
  }
}

/** The folder is closed to this account, or its disk is full; nothing of the backup stays. */
export class BackupNotWrittenError extends Error {
  override readonly name = 'BackupNotWrittenError';
}

const fileSystemCodes = new Set([
  'ENOSPC',
  'EDQUOT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOENT',
  'ENOTDIR',
  'EIO',
  'EFBIG',
  'EMFILE',
]);

function isOfFileSystem(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && fileSystemCodes.has((error as NodeJS.ErrnoException).code ?? '');
}

/** What a folder is called until it is a backup. */
export const unfinishedEnding = '.unfinished';

async function writeTables(
  tx: Transaction,
  { folder, carillonVersion, signal }: BackupRequest,
): Promise<BackupManifest> {
  const madeAt = await readDatabaseClock(tx);
  if (!(await holdMigrationsOff(tx)))
    throw new BackupRefusedError('The database is being migrated; make the backup when that has ended.');
  const { postgresVersion, isCluster } = await readBackupFacts(tx);
  if (isCluster)
    throw new BackupRefusedError(
      'A cluster is backed up node by node (docs/backup.md): its shards have no instant in common that one reader sees.',
    );
  const installation = await findInstallation(tx);
  if (!installation) throw new BackupRefusedError('There is no installation in this database yet.');
  const stored = (await listStoredTables(tx)).filter(({ name }) => !Object.hasOwn(leftOutTables, name));
  await holdTables(
    tx,
    stored.map(({ name }) => name),
  );
  await writePlainly(tx);
  const migrations = await readApplied(tx);
  const tables: BackupTable[] = [];
  for (const table of stored) {
    signal?.throwIfAborted();
    tables.push(await writeTable(tx, { table, folder, signal }));
  }
  const { masterKeyId, rotatingFromKeyId } = installation;
  return {
    format: 1,
    ...{ madeAt, carillonVersion, postgresVersion },
    migrations: migrations.map(({ name, digest }) => ({ name, digest })),
    masterKeyIds: rotatingFromKeyId === null ? [masterKeyId] : [masterKeyId, rotatingFromKeyId],
    tables,
    sequences: await listSequences(tx),
  };
}

async function writeTable(
  tx: Transaction,
  { table, folder, signal }: { table: StoredTable; folder: string; signal: AbortSignal | undefined },
): Promise<BackupTable> {
  const file = `tables/${table.name}.copy.gz`;
  const { name, columns } = table;
  const written = await copyRows(tx, {
    ...{ name, columns },
    read: (bytes) => writeRows(join(folder, file), untilAborted(bytes, signal)),
  });
  return { name, day: table.day, columns, file, ...written };
}

async function* untilAborted(bytes: AsyncIterable<Buffer>, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  for await (const piece of bytes) {
    signal?.throwIfAborted();
    yield piece;
  }
}
