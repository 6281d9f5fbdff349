import { execFile } from 'node:child_process';
import { mkdtemp, open, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startEmbeddedPostgres } from '../../src/start/embedded-postgres/embedded-postgres.ts';

export type KillableDatabase = {
  url: string;
  ownerUrl: string;
  /** SIGKILL to the postmaster and all its processes, then a start on the same folder and port. */
  killAndRestart(): Promise<void>;
  /** @returns whether it had ended by itself, and was started again */
  restartEnded(): Promise<boolean>;
  stop(): Promise<void>;
};

/** Real PostgreSQL with its durable settings untouched, owned by this process and not by the nodes. */
export async function startKillableDatabase(folder: string): Promise<KillableDatabase> {
  let server = await startEmbeddedPostgres({ folder });
  const { url, ownerUrl } = server;
  return {
    url,
    ownerUrl,
    async killAndRestart() {
      await killCluster(join(folder, 'cluster'));
      await server.exited;
      server = await startEmbeddedPostgres({ folder, port: Number(new URL(url).port) });
    },
    async restartEnded() {
      const pending = Symbol('pending');
      if ((await Promise.race([server.exited, Promise.resolve(pending)])) === pending) return false;
      server = await startEmbeddedPostgres({ folder, port: Number(new URL(url).port) });
      return true;
    },
    stop: () => server.stop(),
  };
}

/** SIGKILL to the postmaster of a cluster and to all its processes, none of which is left afterwards. */
export async function killCluster(cluster: string): Promise<void> {
  const lockFile = await readFile(join(cluster, 'postmaster.pid'), 'utf8');
  const postmaster = Number(lockFile.split('\n')[0]);
  // Halted first, it starts no others while those there are read; the parent dies first, or it would start the fallen ones again.
  kill(postmaster, 'SIGSTOP');
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  const processes = [postmaster, ...children.trim().split(' ').filter(Boolean).map(Number)];
  for (const pid of processes) kill(pid, 'SIGKILL');
  // A server does not start on a folder whose shared memory a process still has.
  const deadline = performance.now() + maxDyingMilliseconds;
  while (!(await Promise.all(processes.map(isDead))).every(Boolean)) {
    if (performance.now() > deadline) throw new Error(`processes of ${cluster} did not die of SIGKILL`);
    await setTimeout(5);
  }
}

const maxDyingMilliseconds = 30_000;

/** Gone, or a zombie, which holds nothing. */
async function isDead(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  return stat === undefined || stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z');
}

function kill(pid: number, signal: 'SIGSTOP' | 'SIGKILL'): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    // It ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

const run = promisify(execFile);

export type SmallDisk = {
  path: string;
  /** Until nothing can be written any more. */
  fill(): Promise<void>;
  empty(): Promise<void>;
  remove(): Promise<void>;
};

const piece = Buffer.alloc(1_048_576);

/** Mounts a file system of this many megabytes in memory. @returns why there can be none, if mounting is refused */
export async function startSmallDisk(megabytes: number): Promise<SmallDisk | { refused: string }> {
  const path = await mkdtemp(join(tmpdir(), 'carillon-disk-'));
  try {
    // Passable: as root the database runs as another account.
    await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'tmpfs', path]);
  } catch (error) {
    await rm(path, { recursive: true });
    return { refused: (error as Error).message.trim().replaceAll('\n', ' ') };
  }
  const filling = join(path, 'filling');
  return {
    path,
    async fill() {
      const file = await open(filling, 'a');
      try {
        // What is left of the last piece is written before the next is refused. A disk has an end, and so has this.
        for (;;) await file.write(piece);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
      } finally {
        await file.close();
      }
    },
    empty: () => rm(filling, { force: true }),
    async remove() {
      await run('umount', ['--lazy', path]);
      await rm(path, { recursive: true, force: true });
    },
  };
}
