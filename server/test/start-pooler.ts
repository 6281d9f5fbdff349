import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/storage/database.ts';
import type { Database } from '../src/storage/database.ts';
import { findFreePort } from './find-free-port.ts';

const program = '/usr/sbin/pgbouncer';
export const isPoolerInstalled = existsSync(program);

export type Pooler = { url: string; stop(): Promise<void> };

export type PoolerOptions = {
  mode: string;
  /** Sessions are given in turn, not the last one used first. */
  roundRobin: boolean;
  /** How many there are of the database, for all who come. */
  sessions?: number;
};

/** PgBouncer in front of a database. */
export async function startPooler(url: string, { mode, roundRobin, sessions = 2 }: PoolerOptions): Promise<Pooler> {
  const target = new URL(url);
  const port = await findFreePort();
  const folder = await mkdtemp(join(tmpdir(), 'carillon-pooler-'));
  const settings = join(folder, 'pgbouncer.ini');
  const database = target.pathname.slice(1);
  // It refuses one that is empty, as of a server that trusts its own machine.
  const password = target.password === '' ? '' : ` password=${target.password}`;
  await writeFile(
    settings,
    `[databases]
${database} = host=${target.hostname} port=${target.port} user=${target.username}${password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = ${sessions}
max_client_conn = 200
server_round_robin = ${roundRobin ? 1 : 0}
`,
  );
  // It refuses to run as root, and its other account must read this.
  await chmod(folder, 0o755);
  const asOther = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child: ChildProcess = spawn(program, [...asOther, settings], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  const own = new URL(url);
  own.port = String(port);
  const probe = openDatabase({ url: own.href, connections: 1, name: 'probe', pooler: 'transaction' });
  await untilReached(probe);
  await probe.end();
  return {
    url: own.href,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const startMilliseconds = 10_000;

async function untilReached(database: Database): Promise<void> {
  const until = performance.now() + startMilliseconds;
  for (;;) {
    try {
      await database`select 1`;
      return;
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
