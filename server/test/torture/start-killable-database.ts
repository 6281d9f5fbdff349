import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

/** SIGKILL to the postmaster of a cluster and to all its processes. */
export async function killCluster(cluster: string): Promise<void> {
  const lockFile = await readFile(join(cluster, 'postmaster.pid'), 'utf8');
  const postmaster = Number(lockFile.split('\n')[0]);
  const children = await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8');
  // The parent first: it would start the fallen ones again.
  for (const pid of [postmaster, ...children.trim().split(' ').map(Number)]) kill(pid);
}

function kill(pid: number): void {
  try {
    if (pid > 0) process.kill(pid, 'SIGKILL');
  } catch (error) {
    // It ended by itself in the meantime.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
