import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { commandAs, findNamedAccount } from './server-account.ts';
import type { Command, ServerAccount } from './server-account.ts';
import { UnusableFolderError } from './place.ts';

/** The database server did not start; the message holds its last lines. */
export class EmbeddedPostgresFailedError extends Error {
  override readonly name = 'EmbeddedPostgresFailedError';
}

/** @throws UnusableFolderError when that cannot be seen */
export async function isInitialised(cluster: string): Promise<boolean> {
  try {
    await stat(join(cluster, 'PG_VERSION'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    // Never taken for "not yet": the next step would make a new one.
    throw unreadable(cluster, error);
  }
}

type Initialisation = {
  initdb: string;
  cluster: string;
  account: ServerAccount;
  password: string;
  /** The cluster of a test need not survive the machine. */
  durability: 'synced' | 'unsynced';
};

/**
 * Makes the files of a new database.
 *
 * @throws EmbeddedPostgresFailedError, UnusableFolderError
 */
export async function initialiseCluster(initialisation: Initialisation): Promise<void> {
  const { initdb, cluster, account, password, durability } = initialisation;
  // A cluster without PG_VERSION is an initialisation that was cut off; initdb wants an empty folder.
  await rm(cluster, { recursive: true, force: true });
  await mkdir(cluster, { mode: 0o700 });
  const passwordFile = `${cluster}.password`;
  await writeFile(passwordFile, password, { mode: 0o600 });
  try {
    await giveTo(account, [cluster, passwordFile]);
    await readdir(cluster).catch((error: unknown) => {
      throw unreadable(cluster, error);
    });
    await runInitdb(account, initdb, [
      `--pgdata=${cluster}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-locale',
      ...(durability === 'unsynced' ? ['--no-sync'] : []),
    ]);
  } finally {
    await rm(passwordFile, { force: true });
  }
}

async function giveTo(account: ServerAccount, paths: string[]): Promise<void> {
  if (account.kind === 'own') return;
  try {
    for (const path of paths) await chown(path, account.uid, account.gid);
  } catch (error) {
    throw new UnusableFolderError(
      `As root, the database runs as the account ${account.name}, and its files cannot be given to it: ` +
        `${(error as Error).message}; choose another folder with --data-dir, or set DATABASE_URL.`,
      { cause: error },
    );
  }
}

/** Root in a container that took its power over files (CAP_DAC_OVERRIDE) could start a database once, and never again. */
function unreadable(cluster: string, error: unknown): UnusableFolderError {
  return new UnusableFolderError(
    `${cluster} belongs to the account that the database runs as, and this process may not read it: ` +
      `${(error as Error).message}; start as the owner, or set DATABASE_URL.`,
    { cause: error },
  );
}

async function runInitdb(account: ServerAccount, initdb: string, parameters: string[]): Promise<void> {
  const isNamed = account.kind === 'lent' || hasName();
  const plain = commandAs(account, initdb, parameters);
  const command = isNamed ? plain : await withName(plain);
  const child = spawn(command.file, command.arguments, { ...command.options, stdio: ['ignore', 'ignore', 'pipe'] });
  const lines: string[] = [];
  createInterface({ input: child.stderr! }).on('line', (line) => lines.push(line));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  if (code === 0) return;
  const advice = isNamed
    ? ''
    : `; initdb wants a name for the user ${process.getuid!()}: add a line to /etc/passwd, or set DATABASE_URL`;
  throw new EmbeddedPostgresFailedError(`initdb ended with ${code}: ${lines.slice(-5).join(' / ')}${advice}`);
}

function hasName(): boolean {
  try {
    userInfo();
    return true;
  } catch {
    return false;
  }
}

/**
 * A container may run under a number that has no name, and initdb, unlike the server, refuses that. Where the kernel
 * lets it, initdb is shown the number of a named account; the files it makes are the caller's all the same.
 */
async function withName(command: Command): Promise<Command> {
  const account = await findNamedAccount();
  if (!account || process.platform !== 'linux') return command;
  const map = ['--user', `--map-user=${account.uid}`, `--map-group=${account.gid}`, '--'];
  return { ...command, file: 'unshare', arguments: [...map, command.file, ...command.arguments] };
}
