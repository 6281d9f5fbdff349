import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile, open, readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createGunzip, createGzip } from 'node:zlib';
import {
  manifestFile,
  writeManifest,
  leftOutTables,
  ManifestError,
  parseManifest,
} from '../../domain/operations/backup.ts';
import type { BackupManifest, BackupTable } from '../../domain/operations/backup.ts';
import {
  copyRows,
  holdTables,
  listSequences,
  listStoredTables,
  readBackupFacts,
  writePlainly,
  setSequence,
  storeRows,
  listCampaignsUnderWay,
  closeTables,
  openTables,
  tieRows,
} from '../../storage/backup.ts';
import type { StoredTable } from '../../storage/backup.ts';
import { inSnapshot, inSchemaTransaction, withSession } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { makeDay } from '../../storage/day-partitions.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { endLeases } from '../../storage/installation/nodes.ts';
import { hasTokenEpoch, raiseTokenEpoch } from '../../storage/keys/token-secrets.ts';
import {
  holdMigrationsOff,
  readApplied,
  migrateInTransaction,
  refuseForeignBackup,
  withSchemaLock,
} from '../../storage/migrate.ts';
import { changeInTransaction } from '../campaigns/change-campaign-state.ts';

export type BackupRequest = {
  /** Created by the backup; must not exist. */
  folder: string;
  carillonVersion: string;
  /** Aborts the backup with the reason of the signal and removes everything. */
  signal?: AbortSignal;
};

/**
 * Writes the stored data, as of one instant, into a folder. The database serves meanwhile, and nothing of the data is held in
 * memory. The backup is created next to its place and gets its name when all of it is on the disk.
 *
 * @param database across workspaces
 * @throws BackupRefusedError, and errors of the file system
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

/** This account cannot write to the folder, or its disk is full; nothing of the backup stays. */
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

/** The ending of a folder's name until the backup is complete. */
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

/**
 * Reads a whole backup, as a restore would, and stores nothing.
 *
 * @throws BackupRefusedError that names the first damaged file
 */
export async function verifyBackup(folder: string): Promise<BackupManifest> {
  const manifest = await openBackup(folder);
  for (const table of manifest.tables) for await (const _piece of readRows(folder, table));
  return manifest;
}

/** The database is not empty; a backup is only restored into an empty one. */
export class DatabaseNotEmptyError extends Error {
  override readonly name = 'DatabaseNotEmptyError';
}

export type RestoreRequest = {
  folder: string;
  manifest: BackupManifest;
  /**
   * What happens to campaigns that were under way, or had something due since then. `hold` pauses them, because messages that
   * they sent after the backup are not known. `resume` continues them, and they repeat these messages.
   */
  campaigns: 'hold' | 'resume';
  /** The migrations' folder; tests have one with an additional migration. */
  migrationsFolder?: string;
};

export type Restored = { held: { id: string; workspaceId: string; name: string }[]; migrations: string[] };

/**
 * Restores a backup into an empty database in one transaction: all of it, migrated to this version's schema, or nothing.
 *
 * @param owner the role that owns the tables
 * @throws BackupRefusedError, DatabaseNotEmptyError, SchemaTooNewError, SchemaTooOldError, MigrationChangedError
 */
export async function restoreBackup(owner: Database, request: RestoreRequest): Promise<Restored> {
  const { manifest } = request;
  await refuseForeignBackup(manifest.migrations, { folder: request.migrationsFolder });
  return withSession(owner, async (session) => {
    const restored = await withSchemaLock(session, () =>
      inSchemaTransaction(session, async (tx) => {
        await refuseFilled(tx);
        return restoreEverything(tx, request);
      }),
    );
    if (restored === 'locked')
      throw new DatabaseNotEmptyError('A node or a command is migrating this database just now.');
    return restored;
  });
}

async function refuseFilled(tx: Transaction): Promise<void> {
  const { tables, isCluster } = await readBackupFacts(tx);
  if (isCluster) throw new BackupRefusedError('A backup is not restored into a cluster; spread the tables afterwards.');
  if (tables > 0)
    throw new DatabaseNotEmptyError('The database is not empty; a backup is restored into one that holds nothing.');
}

async function restoreEverything(
  tx: Transaction,
  { folder, manifest, campaigns, migrationsFolder }: RestoreRequest,
): Promise<Restored> {
  const realAt = await readDatabaseClock(tx);
  await migrateInTransaction(tx, { last: manifest.migrations.at(-1)!.name, at: realAt, folder: migrationsFolder });
  for (const { day } of manifest.tables) if (day) await makeDay(tx, day);
  await openTables(tx);
  await writePlainly(tx);
  for (const table of manifest.tables) {
    const { name, columns } = table;
    await storeRows(tx, { name, columns, pieces: readRows(folder, table) });
  }
  for (const sequence of manifest.sequences) await setSequence(tx, sequence);
  await tieRows(tx);
  const migrations = await migrateInTransaction(tx, { last: undefined, at: realAt, folder: migrationsFolder });
  // Every worker with a claim died with the lost database.
  await endLeases(tx, realAt);
  // Tokens that were revoked since the backup stay dead, and the numbers of keys may be given again.
  if (await hasTokenEpoch(tx)) await raiseTokenEpoch(tx, { at: realAt });
  const held = campaigns === 'hold' ? await holdCampaigns(tx, realAt) : [];
  await closeTables(tx);
  return { held, migrations };
}

/** In the sandbox the restored clock may differ from real time. */
async function holdCampaigns(tx: Transaction, realAt: Date): Promise<Restored['held']> {
  const { clockOffsetMilliseconds, clockFrozenAt } = (await findInstallation(tx))!;
  const at = new Date((clockFrozenAt ?? realAt).getTime() + clockOffsetMilliseconds);
  const clock = { now: () => at, realNow: () => realAt };
  const actor = { kind: 'system', name: 'the restore of a backup' } as const;
  const underWay = await listCampaignsUnderWay(tx, at);
  for (const { id, workspaceId } of underWay)
    await changeInTransaction(tx, { workspaceId, campaignId: id, action: 'pause', actor }, clock);
  return underWay;
}

/** The backup is incomplete, or this version or database cannot restore it; the message names the file. */
export class BackupRefusedError extends Error {
  override readonly name = 'BackupRefusedError';
}

export type WrittenFile = Pick<BackupTable, 'rows' | 'textBytes' | 'fileBytes' | 'sha256'>;

const pieceBytes = 1 << 18;
const lineFeed = 10;

/**
 * Compresses PostgreSQL's copy output into a file that is on the disk when this resolves. The lowest level takes a third of the
 * CPU time of the usual one, for files that are a tenth larger.
 */
async function writeRows(path: string, bytes: AsyncIterable<Buffer>): Promise<WrittenFile> {
  const written = { rows: 0, textBytes: 0, fileBytes: 0 };
  const digest = createHash('sha256');
  await pipeline(
    bytes,
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        written.rows += countLines(piece);
        written.textBytes += piece.length;
        yield piece;
      }
    },
    createGzip({ level: constants.Z_BEST_SPEED, chunkSize: pieceBytes }),
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        digest.update(piece);
        written.fileBytes += piece.length;
        yield piece;
      }
    },
    createWriteStream(path, { mode: 0o600, flags: 'wx', flush: true }),
  );
  return { ...written, sha256: digest.digest('hex') };
}

/**
 * Yields the rows of a table as they were copied. At the end it throws if the file differs from the manifest, so callers store
 * the rows in a transaction.
 *
 * @throws BackupRefusedError
 */
async function* readRows(folder: string, table: BackupTable): AsyncGenerator<Buffer> {
  const read = { rows: 0, textBytes: 0 };
  const digest = createHash('sha256');
  const torn = (why: string): BackupRefusedError => new BackupRefusedError(`${join(folder, table.file)} ${why}.`);
  const file = createReadStream(join(folder, table.file), { highWaterMark: pieceBytes });
  const text = createGunzip({ chunkSize: pieceBytes });
  const copied = pipeline(
    file,
    async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        digest.update(piece);
        yield piece;
      }
    },
    text,
  );
  // Reported where the bytes are read, below.
  copied.catch(() => {});
  try {
    for await (const piece of text as AsyncIterable<Buffer>) {
      read.rows += countLines(piece);
      read.textBytes += piece.length;
      yield piece;
    }
    await copied;
  } catch (error) {
    throw torn(`is torn (${(error as Error).message})`);
  } finally {
    file.destroy();
  }
  if (digest.digest('hex') !== table.sha256) throw torn('is not the file that was written: its SHA-256 differs');
  if (read.rows !== table.rows || read.textBytes !== table.textBytes) throw torn('has other rows than were written');
}

function countLines(piece: Buffer): number {
  let lines = 0;
  for (let at = piece.indexOf(lineFeed); at !== -1; at = piece.indexOf(lineFeed, at + 1)) lines += 1;
  return lines;
}

/**
 * Returns the manifest of a folder after checking that every file exists with its original size. File contents are not read
 * yet.
 *
 * @throws BackupRefusedError
 */
export async function openBackup(folder: string): Promise<BackupManifest> {
  const path = join(folder, manifestFile);
  const text = await readFile(path, 'utf8').catch(() => {
    throw new BackupRefusedError(`${folder} holds no whole backup: there is no ${manifestFile} in it.`);
  });
  let manifest: BackupManifest;
  try {
    manifest = parseManifest(text);
  } catch (error) {
    if (error instanceof ManifestError) throw new BackupRefusedError(`${path} ${error.message}.`);
    throw error;
  }
  for (const { file, fileBytes } of manifest.tables) {
    const found = await stat(join(folder, file)).catch(() => undefined);
    if (!found?.isFile()) throw new BackupRefusedError(`${join(folder, file)} is missing.`);
    if (found.size !== fileBytes)
      throw new BackupRefusedError(`${join(folder, file)} is torn: ${found.size} bytes instead of ${fileBytes}.`);
  }
  return manifest;
}

/** Flushes a folder, so that its entries survive a power failure. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
