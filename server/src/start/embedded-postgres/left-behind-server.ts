import { existsSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { openDatabase } from '../../storage/database.ts';
import { readServerIdentity, takeOwnershipIfFree } from '../../storage/installation/installation.ts';
import { findHolder, findLockFile, isAlive, isStartOf } from './server-process.ts';
import type { LockFile } from './server-process.ts';

/** Another living Carillon owns the data folder. */
export class DataFolderInUseError extends Error {
  override readonly name = 'DataFolderInUseError';
  override readonly message = 'Another Carillon is running on this data folder.';
}

/** A cluster, and the password of its superuser: only its own server takes it. */
export type OwnCluster = { cluster: string; password: string };

export type LeftBehindServer = OwnCluster & { stopRequested: AbortSignal };

// A fast shutdown writes a checkpoint first; a minute is far beyond what the default settings need.
const maxShutdownMilliseconds = 60_000;

/**
 * Ends a server that a killed process left behind. No signal goes to a process that is not proved to be that server, and
 * the lock file is never touched: PostgreSQL's own look at it decides then.
 *
 * @returns what may keep the server from starting, for a person
 * @throws DataFolderInUseError
 */
export async function endLeftBehindServer(own: LeftBehindServer): Promise<string | undefined> {
  const { cluster, stopRequested } = own;
  const file = await findLockFile(cluster);
  if (!file) return undefined;
  const holder = await findHolder(cluster, file);
  if (holder.kind === 'foreign') return adviceOn(cluster, { ...file, program: holder.program });
  // Its owner may not have come to the point of saying so.
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

/** Where the server of a living Carillon listens; undefined when there is none. */
export async function findOwnedPort(own: OwnCluster): Promise<number | undefined> {
  const file = await findLockFile(own.cluster);
  if (!file || (await findHolder(own.cluster, file)).kind === 'foreign') return undefined;
  return (await askServer(own, file)) === 'owned' ? file.port : undefined;
}

/**
 * Asks the server at the port of the lock file. `left behind`: it is that of this cluster, wrote this file, and nobody
 * owns it. `silent` also while it starts or stops.
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
    // The file was written by the server that answers, so its number is that server's.
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
    `${join(cluster, 'postmaster.pid')} names process ${pid}, which is not known to be this database (its program: ${program}); ` +
    'when no other machine or container uses this folder, remove that file'
  );
}
