import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { placeServer } from '../../src/start/embedded-postgres/binaries.ts';
import { commandAs } from '../../src/start/embedded-postgres/server-account.ts';
import { openDatabase, withSession } from '../../src/storage/database.ts';
import type { Database } from '../../src/storage/database.ts';
import { findFreePort } from '../find-free-port.ts';

export type StandbyServer = {
  /** The same address there. */
  urlOf(primaryUrl: string): string;
  /** Of a superuser, to stop and go on with what it replays. */
  superuser: Database;
  stop(): Promise<void>;
};

/** A standby that follows a running primary, whose cluster lies in `folder`, from a copy of its files in `standbyFolder`. */
export async function startStandby(
  primaryUrl: string,
  folders: { folder: string; standbyFolder: string },
): Promise<StandbyServer> {
  const { folder, standbyFolder } = folders;
  const cluster = join(standbyFolder, 'cluster');
  await copyCluster(primaryUrl, { from: join(folder, 'cluster'), to: cluster });
  const { binaries, account } = await placeServer(standbyFolder);
  const port = await findFreePort();
  const urlOf = (url: string): string => Object.assign(new URL(url), { port: String(port) }).href;
  const { password, port: primaryPort } = new URL(primaryUrl);
  const settings = {
    ...{ listen_addresses: '127.0.0.1', port, unix_socket_directories: '', fsync: 'off', shared_buffers: '16MB' },
    primary_conninfo: `host=127.0.0.1 port=${primaryPort} user=postgres password=${password}`,
    wal_retrieve_retry_interval: '100ms',
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = commandAs(account, binaries.postgres, ['-D', cluster, ...words]);
  const child = spawn(command.file, command.arguments, { ...command.options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.setEncoding('utf8').on('data', (piece) => (said += piece));
  const exited = once(child, 'close');
  const superuser = openDatabase({ url: urlOf(primaryUrl), connections: 1, name: 'standby', access: 'read only' });
  for (let left = 200; ; left -= 1) {
    const isThere = await superuser`select 1`.then(
      () => true,
      () => false,
    );
    if (isThere) break;
    if (left === 0 || child.exitCode !== null) throw new Error(`the standby did not start: ${said}`);
    await wait(50);
  }
  return {
    ...{ urlOf, superuser },
    async stop() {
      await superuser.end({ timeoutSeconds: 1 });
      child.kill('SIGINT');
      await exited;
    },
  };
}

/** As pg_basebackup does it, which is not packaged (PostgreSQL, "Making a Base Backup Using the Low Level API"). */
async function copyCluster(primaryUrl: string, { from, to }: { from: string; to: string }): Promise<void> {
  const primary = openDatabase({ url: primaryUrl, connections: 1, name: 'copy' });
  try {
    const label = await withSession(primary, async (session) => {
      await session`select pg_backup_start('standby', true)`;
      await promisify(execFile)('cp', ['-a', from, to]);
      const [row] = await session<{ label: string }[]>`select labelfile as label from pg_backup_stop(false)`;
      return row!.label;
    });
    const { uid, gid } = await stat(join(from, 'PG_VERSION'));
    await rm(join(to, 'postmaster.pid'), { force: true });
    for (const [name, text] of [
      ['backup_label', label],
      ['standby.signal', ''],
    ] as const) {
      await writeFile(join(to, name), text, { mode: 0o600 });
      await chown(join(to, name), uid, gid);
    }
  } finally {
    await primary.end();
  }
}
