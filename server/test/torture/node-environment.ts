import type { KillableDatabase } from './start-killable-database.ts';

/** What a node of a long proof is started with: of this machine's settings its paths alone. */
export function nodeEnvironment(
  folder: string,
  postgres?: Pick<KillableDatabase, 'url' | 'ownerUrl'>,
): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    ...(postgres && { DATABASE_URL: postgres.url, CARILLON_DATABASE_OWNER_URL: postgres.ownerUrl }),
    CARILLON_DATA_DIR: folder,
    // Files and callbacks are this process's.
    CARILLON_ALLOWED_NETWORKS: '127.0.0.0/8',
    CARILLON_LOG_LEVEL: process.env.DEBUG_LEVEL ?? 'error',
  };
}
