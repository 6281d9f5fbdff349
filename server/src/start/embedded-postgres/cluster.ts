import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { chown, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { UnusableFolderError } from './binaries.ts';
import { DataFolderInUseError, isAlive } from './left-behind-server.ts';
import { commandAs, findNamedAccount } from './server-account.ts';
import type { Command, ServerAccount } from './server-account.ts';

/** The database server did not start; the message contains its last lines. */
export class EmbeddedPostgresFailedError extends Error {
  override readonly name = 'EmbeddedPostgresFailedError';
}

/** The files belong to another major version of PostgreSQL than the packaged one. They were not changed. */
export class OtherMajorVersionError extends Error {
  override readonly name = 'OtherMajorVersionError';
}

/**
 * Rejects files of another major version early. PostgreSQL would reject them too, but only after a left-behind server was
 * ended, and with its own message.
 *
 * @throws OtherMajorVersionError, UnusableFolderError
 */
export async function refuseOtherMajor(cluster: string, packaged: string): Promise<void> {
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch((error: unknown) => {
    throw unreadable(cluster, error);
  });
  const made = text.trim();
  if (made === packaged) return;
  throw new OtherMajorVersionError(
    `The database in ${cluster} was made by PostgreSQL ${made}, and this Carillon brings ${packaged}. Nothing was changed. ` +
      'Make a backup with the version of Carillon that ran on it and restore that into a new --data-dir (docs/upgrade.md).',
  );
}

/** @throws UnusableFolderError when the folder cannot be read */
export async function isInitialised(cluster: string): Promise<boolean> {
  try {
    await stat(join(cluster, 'PG_VERSION'));
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    // Must not count as "not yet": the next step would create a new cluster.
    throw unreadable(cluster, error);
  }
}

type Initialisation = {
  initdb: string;
  cluster: string;
  account: ServerAccount;
  password: string;
  /** `unsynced` for the cluster of a test, which need not survive a crash of the machine. */
  durability: 'synced' | 'unsynced';
  stopRequested: AbortSignal;
  onWaiting?: () => void;
};

/**
 * Creates the files of a new database next to their final path until they are complete, because initdb writes PG_VERSION first.
 *
 * @throws EmbeddedPostgresFailedError, UnusableFolderError, DataFolderInUseError, or the reason of the stop
 */
export async function initialiseCluster(initialisation: Initialisation): Promise<void> {
  const { cluster, account, password, durability } = initialisation;
  const unfinished = `${cluster}.${process.pid}.new`;
  await removeLeftovers(cluster);
  await mkdir(unfinished, { mode: 0o700 });
  const passwordFile = `${unfinished}.password`;
  try {
    await writeFile(passwordFile, password, { mode: 0o600 });
    await giveTo(account, [unfinished, passwordFile]);
    await readdir(unfinished).catch((error: unknown) => {
      throw unreadable(cluster, error);
    });
    await runInitdb(initialisation, [
      `--pgdata=${unfinished}`,
      '--username=postgres',
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-locale',
      // The default of PostgreSQL 18; named, so that no other build or version leaves it out.
      '--data-checksums',
      ...(durability === 'unsynced' ? ['--no-sync'] : []),
    ]);
    await putInPlace(unfinished, { cluster, durability });
  } finally {
    await rm(passwordFile, { force: true });
    await rm(unfinished, { recursive: true, force: true });
  }
}

/**
 * Removes the files of interrupted initialisations, but not those of initialisations that other processes are still running.
 */
async function removeLeftovers(cluster: string): Promise<void> {
  for (const name of await readdir(dirname(cluster))) {
    const pid = new RegExp(`^${basename(cluster)}\\.(\\d+)\\.new(\\.password)?$`).exec(name)?.[1];
    if (pid === undefined || (Number(pid) !== process.pid && isAlive(Number(pid)))) continue;
    await rm(join(dirname(cluster), name), { recursive: true, force: true });
  }
}

async function putInPlace(
  unfinished: string,
  { cluster, durability }: Pick<Initialisation, 'cluster' | 'durability'>,
): Promise<void> {
  try {
    // Replaces an empty folder only.
    await rename(unfinished, cluster);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code!)) throw error;
    // Two starts in an empty folder: the other one finished first.
    if (await isInitialised(cluster)) throw new DataFolderInUseError();
    // An initialisation in place was interrupted before it wrote anything of value.
    await rm(cluster, { recursive: true, force: true });
    await rename(unfinished, cluster);
  }
  if (durability === 'unsynced') return;
  const folder = await open(dirname(cluster));
  await folder.sync().finally(() => folder.close());
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

/** For root in a container without its power over files (CAP_DAC_OVERRIDE): it could start a database once, and never again. */
function unreadable(cluster: string, error: unknown): UnusableFolderError {
  return new UnusableFolderError(
    `${cluster} belongs to the account that the database runs as, and this process may not read it: ` +
      `${(error as Error).message}; start as the owner, or set DATABASE_URL.`,
    { cause: error },
  );
}

async function runInitdb(
  { account, initdb, stopRequested, onWaiting }: Initialisation,
  parameters: string[],
): Promise<void> {
  const isNamed = account.kind === 'lent' || hasName();
  const plain = commandAs(account, initdb, parameters);
  const command = isNamed ? plain : await withName(plain);
  stopRequested.throwIfAborted();
  const child = spawn(command.file, command.arguments, {
    ...command.options,
    stdio: ['ignore', 'ignore', 'pipe'],
    // A process group with the servers that it starts: Ctrl-C does not reach it, and a stop ends all of them.
    detached: true,
  });
  onWaiting?.();
  const stop = (): void => endGroup(child);
  stopRequested.addEventListener('abort', stop);
  const serverLog = makeServerLog();
  createInterface({ input: child.stderr! }).on('line', serverLog.add);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    // Waits for its child processes too, because they hold its standard error.
    child.on('close', resolve);
  }).finally(() => stopRequested.removeEventListener('abort', stop));
  stopRequested.throwIfAborted();
  if (code === 0) return;
  const advice = isNamed
    ? ''
    : `; initdb wants a name for the user ${process.getuid!()}: add a line to /etc/passwd, or set DATABASE_URL`;
  throw new EmbeddedPostgresFailedError(`initdb ended with ${code}: ${serverLog.explain()}${advice}`);
}

function endGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
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
 * Runs initdb under a named user id. A container may run under a user id without a name, which initdb rejects, unlike the
 * server. If the kernel permits it, initdb sees the id of a named account, but the files still belong to the caller.
 */
async function withName(command: Command): Promise<Command> {
  const account = await findNamedAccount();
  if (!account || process.platform !== 'linux') return command;
  const map = ['--user', `--map-user=${account.uid}`, `--map-group=${account.gid}`, '--'];
  return { ...command, file: 'unshare', arguments: [...map, command.file, ...command.arguments] };
}

const maxLastLines = 3;
const maxNotes = 3;

// `%m [%p] `, the prefix that PostgreSQL puts before each line by default.
const prefix = /^[\d-]+ [\d:.]+ [A-Z]+ \[\d+\] /;
/** Lines that concern one client: it connected too early, as our own port probe does, or its connection was ended. */
const ofClient = /^FATAL: +(the database system is |terminating connection |password authentication failed )/;

/**
 * Collects the standard error of PostgreSQL or initdb in bounded memory, and extracts the reason why it ended. The lines after
 * the reason only report the shutdown.
 */
export function makeServerLog() {
  let reason: { line: string; isPanic: boolean; notes: string[]; isOpen: boolean } | undefined;
  const lastLines: string[] = [];

  return {
    add(given: string): void {
      const line = given.replace(prefix, '');
      if (lastLines.push(line) > maxLastLines) lastLines.shift();
      const isPanic = line.startsWith('PANIC:');
      const isFatal = line.startsWith('FATAL:') && !ofClient.test(line);
      const isReason = isPanic || isFatal || line.startsWith('initdb: error:');
      // The first panic ends the server; an earlier fatal line may have been for a client.
      if (isReason && !reason?.isPanic) {
        reason = { line, isPanic, notes: [], isOpen: true };
      } else if (reason?.isOpen) {
        const isNote = /^(DETAIL|HINT|CONTEXT):/.test(line) && reason.notes.length < maxNotes;
        if (isNote) reason.notes.push(line);
        else reason.isOpen = false;
      }
    },

    /** Returns the line with the reason and its details, else the last lines. */
    explain: (): string => (reason ? [reason.line, ...reason.notes] : lastLines).join(' / '),

    /** True when PostgreSQL refused to start because of the lock file of the cluster. */
    hasRefusedLockFile: (): boolean => /lock file "postmaster\.pid" already exists/.test(reason?.line ?? ''),
  };
}

export type ServerLog = ReturnType<typeof makeServerLog>;
