import { dirname } from 'node:path';
import { findServerAccount } from './server-account.ts';
import type { ServerAccount } from './server-account.ts';
import { copyPostgres, findPackagedPostgres, makeRunnable } from './binaries.ts';
import type { PostgresBinaries } from './binaries.ts';

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
