import { spawn } from 'node:child_process';
import type { SpawnOptions } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** Lets an account pass folders that are closed to it. Containers leave the second one to root. */
type Capability = 'dac_read_search' | 'dac_override';

/** The account that the database server runs as. PostgreSQL refuses to run as root, so root lends it another account. */
export type ServerAccount =
  { kind: 'own' } | { kind: 'lent'; name: string; uid: number; gid: number; capability: Capability | undefined };

export type NamedAccount = { name: string; uid: number; gid: number };

const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path));

/**
 * Returns the account with the least power that can enter these folders. It is tested by entering them, because modes alone do
 * not show access lists, network file systems or a container's limits.
 */
export async function findServerAccount(
  folders: string[],
): Promise<ServerAccount | { kind: 'none'; name: string; refusal: string }> {
  if (process.getuid?.() !== 0) return { kind: 'own' };
  const named = await findNamedAccount();
  if (!named) return { kind: 'none', name: 'postgres or nobody', refusal: 'no such line in /etc/passwd' };
  let refusal: string | undefined;
  for (const capability of [undefined, 'dac_read_search', 'dac_override'] as const) {
    const account: ServerAccount = { kind: 'lent', ...named, capability };
    const answer = await tryToEnter(folders, account);
    if (answer === undefined) return account;
    // The plain account's refusal is the useful one; the others only say that the system grants no capability.
    refusal ??= answer;
    if (!setpriv) break;
  }
  return { kind: 'none', name: named.name, refusal: refusal! };
}

/** Returns `postgres`, else `nobody`, if this machine has such an account. */
export async function findNamedAccount(): Promise<NamedAccount | undefined> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n').map((line) => line.split(':'));
  const line = lines.find(([name]) => name === 'postgres') ?? lines.find(([name]) => name === 'nobody');
  return line && { name: line[0]!, uid: Number(line[2]), gid: Number(line[3]) };
}

/** Returns undefined if the account can enter all folders, else the system's message. */
async function tryToEnter(folders: string[], account: ServerAccount): Promise<string | undefined> {
  const command = commandAs(account, '/bin/sh', [
    '-c',
    'for folder do cd -- "$folder" || exit; done',
    'sh',
    ...folders,
  ]);
  const child = spawn(command.file, command.arguments, { ...command.options, stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr!.on('data', (piece) => (said += piece));
  return new Promise((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code) => resolve(code === 0 ? undefined : said.trim() || `exit code ${code}`));
  });
}

export type Command = { file: string; arguments: string[]; options: SpawnOptions };

/**
 * Returns the command line that runs `file` as the account. With setpriv (util-linux) the kernel also ends the server when this
 * process is killed, and a server below a closed folder such as /root keeps the one capability that lets it pass.
 */
export function commandAs(account: ServerAccount, file: string, parameters: string[]): Command {
  // Every account may enter the file system root.
  const options: SpawnOptions = { cwd: '/', env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' } };
  if (!setpriv) {
    if (account.kind === 'own') return { file, arguments: parameters, options };
    return { file, arguments: parameters, options: { ...options, uid: account.uid, gid: account.gid } };
  }
  const privileges = ['--pdeathsig', 'INT'];
  if (account.kind === 'lent') {
    privileges.push('--reuid', String(account.uid), '--regid', String(account.gid), '--clear-groups');
    if (account.capability) {
      privileges.push('--inh-caps', `+${account.capability}`, '--ambient-caps', `+${account.capability}`);
      // initdb and postgres check their own files by access(2), which ignores the capabilities of any account but root unless
      // this bit is set.
      privileges.push('--securebits', '+no_setuid_fixup');
    }
  }
  return { file: setpriv, arguments: [...privileges, file, ...parameters], options };
}
