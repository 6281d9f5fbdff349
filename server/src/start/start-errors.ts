import { createServer } from 'node:net';
import { BackupRefusedError, BackupNotWrittenError, DatabaseNotEmptyError } from '../app/system/backup.ts';
import { WorkspaceRefusedError } from '../app/workspaces.ts';
import { ProviderKeyError } from '../domain/providers/key-fields.ts';
import { DecryptionError } from '../domain/crypto/encryption.ts';
import { isOutage } from '../domain/database-faults.ts';
import { ApplicationRolesError } from '../storage/installation/database-roles.ts';
import { MigrationChangedError, SchemaTooNewError, SchemaTooOldError } from '../storage/migrate.ts';
import { ConfigError } from './config.ts';
import { NoEmbeddedPostgresError, UnusableFolderError } from './embedded-postgres/binaries.ts';
import { EmbeddedPostgresFailedError, OtherMajorVersionError } from './embedded-postgres/cluster.ts';
import { DataFolderInUseError } from './embedded-postgres/left-behind-server.ts';

/** Exit codes of a failed start with their meanings; docs/operations.md shows this table. */
export const exitCodes = {
  UNEXPECTED: { code: 1, meaning: 'An unexpected fault; the message and the log describe it.' },
  SETTING_INVALID: {
    code: 2,
    meaning: 'A setting, option or file is invalid, or no part of a command’s work succeeded.',
  },
  REPLIES_DIFFER: { code: 3, meaning: '`carillon check` ran, and a reply differs from the recorded one.' },
  PORT_TAKEN: { code: 10, meaning: 'The port is in use, or this account may not use it.' },
  DATA_FOLDER_UNUSABLE: {
    code: 11,
    meaning:
      'The data folder cannot be created or written, the account of its database cannot enter it, or packages must be installed and the project is not writable.',
  },
  DATABASE_UNREACHABLE: {
    code: 12,
    meaning:
      "The database does not respond, rejects the credentials, or did not start. For the embedded database, the message begins with PostgreSQL's reason.",
  },
  SCHEMA_TOO_NEW: { code: 13, meaning: 'The database was migrated by a newer Carillon, or by an edited migration.' },
  DATA_FOLDER_IN_USE: { code: 14, meaning: 'Another Carillon is running on this data folder.' },
  NO_EMBEDDED_DATABASE: { code: 15, meaning: 'No embedded PostgreSQL exists for this platform; set DATABASE_URL.' },
  MASTER_KEY_WRONG: { code: 16, meaning: 'The master key is missing or does not match this database.' },
  NOT_FOR_PRODUCTION: { code: 17, meaning: 'Production mode rejects demo data and a generated master key.' },
  DATABASE_POOLED: {
    code: 18,
    meaning: 'The database is behind a pooler in transaction mode, and the setting for it is missing.',
  },
  DATABASE_NOT_PREPARED: {
    code: 19,
    meaning: 'The database is not migrated and this role may not migrate it, or the roles lack required properties.',
  },
  NOTHING_INSTALLED: {
    code: 20,
    meaning: 'The data folder or the database contains no installation, and the command does not create one.',
  },
  DATABASE_NOT_DISTRIBUTABLE: {
    code: 21,
    meaning: 'The database cannot be distributed over a cluster; the message says what is missing.',
  },
  BACKUP_REFUSED: {
    code: 22,
    meaning: 'A backup is damaged or incomplete, or this database cannot be backed up; the message names the file.',
  },
  DATABASE_NOT_EMPTY: {
    code: 23,
    meaning: 'The database is not empty; restore a backup into an empty one.',
  },
  BACKUP_NOT_WRITTEN: { code: 24, meaning: 'The folder of a backup is not writable, or its disk is full.' },
  DATABASE_OF_OTHER_MAJOR: {
    code: 25,
    meaning:
      'The embedded database was created by another major version of PostgreSQL; [upgrading](upgrade.md) describes the migration.',
  },
  SCHEMA_TOO_OLD: {
    code: 26,
    meaning: 'A version before 0.1.0 created the database or the backup; start with an empty database.',
  },
} as const;

export type StartErrorName = keyof typeof exitCodes;

/** A start that cannot continue, with one clear sentence and one exit code. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly code: StartErrorName;

  constructor(code: StartErrorName, sentence: string, cause?: unknown) {
    super(sentence, cause === undefined ? undefined : { cause });
    this.code = code;
  }
}

// Connection failures other than an outage: the connection was closed here, the login was rejected, or the database name is
// unknown.
const databaseCodes = new Set(['CONNECTION_ENDED', '28P01', '28000', '3D000']);

/** Returns the message and the exit code for any error that ended the start. */
export function toStartError(error: unknown): StartError {
  if (error instanceof StartError) return error;
  const { message, code } = error as Error & { code?: string };
  if (error instanceof ConfigError || error instanceof ProviderKeyError || error instanceof WorkspaceRefusedError)
    return new StartError('SETTING_INVALID', message, error);
  if (error instanceof UnusableFolderError) return new StartError('DATA_FOLDER_UNUSABLE', message, error);
  if (error instanceof DataFolderInUseError) return new StartError('DATA_FOLDER_IN_USE', message, error);
  if (error instanceof NoEmbeddedPostgresError) {
    return new StartError('NO_EMBEDDED_DATABASE', `${message} Set DATABASE_URL to a PostgreSQL 15 or newer.`, error);
  }
  if (error instanceof OtherMajorVersionError) return new StartError('DATABASE_OF_OTHER_MAJOR', message, error);
  if (error instanceof EmbeddedPostgresFailedError) return new StartError('DATABASE_UNREACHABLE', message, error);
  if (error instanceof SchemaTooNewError) {
    return new StartError('SCHEMA_TOO_NEW', `${message} Start that version, or restore a backup.`, error);
  }
  if (error instanceof SchemaTooOldError) {
    return new StartError(
      'SCHEMA_TOO_OLD',
      `${message} Start with an empty database, and load users, devices and campaigns again (\`carillon import\`, \`carillon import-campaigns\`).`,
      error,
    );
  }
  if (error instanceof ApplicationRolesError) return new StartError('DATABASE_NOT_PREPARED', message, error);
  if (error instanceof BackupRefusedError) return new StartError('BACKUP_REFUSED', message, error);
  if (error instanceof DatabaseNotEmptyError) return new StartError('DATABASE_NOT_EMPTY', message, error);
  if (error instanceof BackupNotWrittenError) return new StartError('BACKUP_NOT_WRITTEN', message, error);
  if (error instanceof MigrationChangedError) return new StartError('SCHEMA_TOO_NEW', message, error);
  if (error instanceof DecryptionError) {
    return new StartError('MASTER_KEY_WRONG', 'The master key does not match this database.', error);
  }
  if (isOutage(error) || (code !== undefined && databaseCodes.has(code))) {
    return new StartError('DATABASE_UNREACHABLE', `The database cannot be reached: ${message}.`, error);
  }
  return new StartError('UNEXPECTED', `Carillon could not start: ${message}`, error);
}

/** Converts the error of an unusable port to PORT_TAKEN; returns any other error unchanged. */
export async function toPortTaken(
  error: unknown,
  { host, port, flag }: { host: string; port: number; flag: string },
): Promise<unknown> {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') {
    const free = await findFreePort({ host, above: port });
    const another =
      free === undefined ? `another with ${flag}` : `another with ${flag}, such as ${flag} ${free}, which is free`;
    return new StartError('PORT_TAKEN', `Port ${port} on ${host} is in use; choose ${another}.`, error);
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return new StartError('PORT_TAKEN', `Port ${port} on ${host} cannot be used: ${message}.`, error);
  return error;
}

const tries = 20;

/** Returns the next free port above this one; undefined if none of the next 20 is free. */
export async function findFreePort({ host, above }: { host: string; above: number }): Promise<number | undefined> {
  for (let port = above + 1; port <= Math.min(65_535, above + tries); port += 1)
    if (await isFree({ host, port })) return port;
  return undefined;
}

function isFree(at: { host: string; port: number }): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(at, () => server.close(() => resolve(true)));
  });
}
