import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
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
  // A server does not start on a folder whose shared memory somebody still has.
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
