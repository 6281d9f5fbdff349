import { join } from 'node:path';
import { prepareDatabase } from '../../../server/src/start/database/prepare-database.ts';
import { startEmbeddedPostgres } from '../../../server/src/start/embedded-postgres/embedded-postgres.ts';
import { openDatabase } from '../../../server/src/storage/database.ts';
import type { Database } from '../../../server/src/storage/database.ts';
import type { Bench } from './bench.ts';

/** A database with the product's tables and durable settings. */
export type BenchDatabase = {
  ownerUrl: string;
  /** As the owner of the tables. */
  owner: Database;
  /** As a node of the product: with the role that works across workspaces. */
  across: Database;
};

type Place = {
  /** Keeps the database there; it is in a temporary folder otherwise. */
  folder?: string | undefined;
  /** Uses this database instead of an embedded one. */
  url?: string | undefined;
};

/** Starts an embedded PostgreSQL and creates the tables. */
export async function startDatabase(
  bench: Pick<Bench, 'defer' | 'makeFolder'>,
  { folder, url }: Place = {},
): Promise<BenchDatabase> {
  const place = url === undefined ? (folder ?? join(await bench.makeFolder(), 'postgres')) : undefined;
  const embedded = place === undefined ? undefined : await startEmbeddedPostgres({ folder: place });
  bench.defer(() => embedded?.stop());
  const ownerUrl = embedded?.ownerUrl ?? url!;
  const owner = openDatabase({ url: ownerUrl, connections: 4, name: 'bench' });
  const role = embedded ? { url: embedded.url, acrossRole: 'carillon_app_across' } : { url: ownerUrl };
  const opened = openDatabase({ ...role, connections: 6, name: 'bench' });
  bench.defer(() => Promise.all([opened.end(), owner.end()]));
  const application = embedded ? 'carillon_app' : decodeURIComponent(new URL(ownerUrl).username);
  await prepareDatabase(ownerUrl, { application });
  return { ownerUrl, owner, across: opened.acrossWorkspaces() };
}
