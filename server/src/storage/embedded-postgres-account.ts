import type { SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Whom the database server runs as. PostgreSQL refuses to run as root, so root lends it another account. */
export type ServerAccount =
  | { kind: 'own' }
  | {
      kind: 'other';
      uid: number;
      gid: number;
      /** A folder above is closed to that account (`/root`). */ hidden: boolean;
    };

const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));

/** @param folders what the server must be able to reach */
export async function findServerAccount(folders: string[]): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) return { kind: 'own' };
  const accounts = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const account = accounts.find(([name]) => name === 'postgres') ?? accounts.find(([name]) => name === 'nobody');
  if (!account) throw new Error('As root, PostgreSQL needs another account to run as: postgres or nobody.');
  const reachable = await Promise.all(folders.map((folder) => isReachable(folder)));
  return { kind: 'other', uid: Number(account[2]), gid: Number(account[3]), hidden: reachable.includes(false) };
}

async function isReachable(folder: string): Promise<boolean> {
  // Search permission for "others" all the way up is what the lent account has.
  for (let path = folder; ; path = dirname(path)) {
    const { mode } = await stat(path);
    if ((mode & 0o001) === 0) return false;
    if (path === dirname(path)) return true;
  }
}

export type Command = { file: string; arguments: string[]; options: SpawnOptions };

/**
 * The command line that runs `file` as the account. With setpriv (util-linux) the kernel also ends the server when we
 * are killed, and a server below a closed folder such as /root keeps the one capability that lets it pass.
 */
export function commandAs(account: ServerAccount, file: string, parameters: string[]): Command {
  // The file system root is a folder every account may stand in.
  const options: SpawnOptions = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
  if (!setpriv) {
    if (account.kind === 'own') return { file, arguments: parameters, options };
    return { file, arguments: parameters, options: { ...options, uid: account.uid, gid: account.gid } };
  }
  const privileges = ['--pdeathsig', 'INT'];
  if (account.kind === 'other') {
    privileges.push('--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups');
    if (account.hidden) privileges.push('--inh-caps', '+dac_override', '--ambient-caps', '+dac_override');
  }
  return { file: setpriv, arguments: [...privileges, file, ...parameters], options };
}
