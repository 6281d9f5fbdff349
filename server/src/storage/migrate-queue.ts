import { runMigrations } from 'graphile-worker';

/** Brings the job queue's own schema (`graphile_worker`) up to date; several nodes may do so at once. */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  await runMigrations({ connectionString: databaseUrl, maxPoolSize: 2 });
}
