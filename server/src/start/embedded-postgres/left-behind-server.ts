import { existsSync } from 'node:fs';
import { realpath, readFile, readlink } from 'node:fs/promises';
import { join, basename } from 'node:path';
import { openDatabase } from '../../storage/database.ts';
import { readServerIdentity, takeOwnershipIfFree } from '../../storage/installation/installation.ts';

/** Another running Carillon owns the data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError';
  override readonly message = 'Another Carillon is running on this data folder.';
}

/** A cluster, and the password of its superuser, which only its own server accepts. */
export type OwnCluster = { cluster: string; password: string };

export type LeftBehindServer = OwnCluster & { stopRequested: AbortSignal };

// A fast shutdown writes a checkpoint first; a minute is far beyond what the default settings need.
const maxShutdownMilliseconds = 60_000;

/**
 * Ends a server that a killed process left behind. Signals only a process that is proved to be that server, and never changes
 * the lock file: PostgreSQL's own check then decides.
 *
 * @returns a possible obstacle to the start, as a message for the operator
 * @throws DataFolderInUseError
 */
export async function endLeftBehindServer(own: LeftBehindServer): Promise<string | undefined> {
  const { cluster, stopRequested } = own;
  const file = await findLockFile(cluster);
  if (!file) return undefined;
  const holder = await findHolder(cluster, file);
  if (holder.kind === 'foreign') return adviceOn(cluster, { ...file, program: holder.program });
  // Its owner may not have taken the ownership lock yet.
  if (holder.kind === 'server' && holder.hasParent) throw new DataFolderInUseError();
  const answer = await askServer(own, file);
  if (answer === 'owned') throw new DataFolderInUseError();
  const isProved = (holder.kind === 'server' && holder.hasWrittenFile) || answer === 'left behind';
  if (!isProved) return adviceOn(cluster, { ...file, program: 'not known' });
  end(file.pid);
  const deadline = performance.now() + maxShutdownMilliseconds;
  while (isAlive(file.pid) && existsSync(join(cluster, 'postmaster.pid')) && performance.now() < deadline) {
    stopRequested.throwIfAborted();
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return undefined;
}

/** Returns the port of a running Carillon's server; undefined if there is none. */
export async function findOwnedPort(own: OwnCluster): Promise<number | undefined> {
  const file = await findLockFile(own.cluster);
  if (!file || (await findHolder(own.cluster, file)).kind === 'foreign') return undefined;
  return (await askServer(own, file)) === 'owned' ? file.port : undefined;
}

/**
 * Queries the server at the port of the lock file. `left behind`: the server is that of this cluster, wrote this file, and has
 * no owner. `silent`: there is no response, for example because the server is starting or stopping.
 */
async function askServer(
  { cluster, password }: OwnCluster,
  file: LockFile,
): Promise<'owned' | 'left behind' | 'another' | 'silent'> {
  const url = `postgres://postgres:${password}@127.0.0.1:${file.port}/postgres`;
  const probe = openDatabase({ url, connections: 1, name: 'carillon probe', connectMilliseconds: 2_000 });
  try {
    const { folder, startedAt } = await readServerIdentity(probe);
    const isThis = (await realpath(folder).catch(() => folder)) === (await realpath(cluster));
    if (!isThis) return 'another';
    if (!(await takeOwnershipIfFree(probe))) return 'owned';
    // The responding server wrote the file, so the process id in it is that server's.
    return isStartOf(file, startedAt.getTime() / 1000) ? 'left behind' : 'another';
  } catch {
    return 'silent';
  } finally {
    await probe.end({ timeoutSeconds: 1 }).catch(() => {});
  }
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGINT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function adviceOn(cluster: string, { pid, program }: { pid: number; program: string }): string {
  return (
    `${join(cluster, 'postmaster.pid')} names process ${pid}, which may not be this database (its program: ${program}); ` +
    'if no other machine or container uses this folder, remove that file'
  );
}

/** The contents of PostgreSQL's own lock file: process id, start time and port. */
type LockFile = { pid: number; startedAtSeconds: number; port: number };

/** Returns the lock file of a cluster if its process id is that of any living process. */
async function findLockFile(cluster: string): Promise<LockFile | undefined> {
  const lines = (await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  const [pid, startedAtSeconds, port] = [lines[0], lines[2], lines[3]].map(Number) as [number, number, number];
  // Above 1: a signal to 0 or a negative number would reach a whole group, and process 1 is never a database.
  return Number.isSafeInteger(pid) && pid > 1 && startedAtSeconds > 0 && port > 0 && isAlive(pid)
    ? { pid, startedAtSeconds, port }
    : undefined;
}

/**
 * The process that now has the process id of the lock file. After a power loss or a container restart the file remains, and its
 * process id is reused by an unrelated process.
 */
export type Holder =
  | { kind: 'foreign'; program: string }
  | {
      kind: 'server';
      /** True if the process started at the time in the file. False if the machine's clock was set in the meantime. */
      hasWrittenFile: boolean;
      /** True if its parent is a running Carillon, which may still be starting. */
      hasParent: boolean;
    }
  /** This system has no /proc. */
  | { kind: 'unknown' };

/** Compares the process's program, `-D` option and start time with the cluster and the lock file. */
async function findHolder(cluster: string, file: LockFile): Promise<Holder> {
  if (!existsSync('/proc/self/stat')) return { kind: 'unknown' };
  const words = await readWords(file.pid);
  const program = (await findProgram(file.pid)) ?? basename(words[0] ?? '(hidden)');
  const isPostgres = program === 'postgres' && basename(words[0] ?? '') === 'postgres';
  if (!isPostgres || !(await isSameFolder(words[words.indexOf('-D') + 1], cluster)))
    return { kind: 'foreign', program };
  const [stat, startOfMachineSeconds] = [await readStat(file.pid), await readStartOfMachine()];
  const startedAtSeconds = startOfMachineSeconds + stat.startTicks / ticksASecond;
  return {
    kind: 'server',
    hasWrittenFile: isStartOf(file, startedAtSeconds),
    hasParent: stat.parent > 1 && (await findProgram(stat.parent)) === basename(process.execPath),
  };
}

// The file is written once the server runs, which can take a while on a busy machine, so the process may be older than the file.
// A younger process has reused the process id; two seconds are the precision of the start times.
const earlySeconds = 60;
const lateSeconds = 2;

/** Returns true if a server that started at that time wrote the file. */
export function isStartOf(file: LockFile, startedAtSeconds: number): boolean {
  const difference = file.startedAtSeconds - startedAtSeconds;
  return difference >= -lateSeconds && difference <= earlySeconds;
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Returns the command line; empty if this account may not see it. */
async function readWords(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return text.split('\0').slice(0, -1);
}

/**
 * Returns the name of the program file; undefined if this account may not read it. In a container, even root may not read it for
 * the process of another account.
 */
async function findProgram(pid: number): Promise<string | undefined> {
  const path = await readlink(`/proc/${pid}/exe`).catch(() => undefined);
  // An update replaces the file of a running program.
  return path === undefined ? undefined : basename(path.replace(/ \(deleted\)$/, ''));
}

async function isSameFolder(named: string | undefined, cluster: string): Promise<boolean> {
  if (named === undefined) return false;
  const [one, other] = await Promise.all([named, cluster].map((path) => realpath(path).catch(() => path)));
  return one === other;
}

// USER_HZ, which Linux fixes at 100 for all values that programs see.
const ticksASecond = 100;

/** Reads fields 4 and 22. The second field is a name in brackets, which may contain any characters. */
async function readStat(pid: number): Promise<{ parent: number; startTicks: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { parent: Number(fields[1]), startTicks: Number(fields[19]) };
}

async function readStartOfMachine(): Promise<number> {
  return Number(/^btime (\d+)$/m.exec(await readFile('/proc/stat', 'utf8'))?.[1]);
}
