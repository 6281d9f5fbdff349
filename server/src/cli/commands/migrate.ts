import type { Command } from 'commander';
import { prepareDatabase } from '../../start/database/prepare-database.ts';
import { StartError } from '../../start/start-errors.ts';
import { readSettings } from '../command-context.ts';

/** `carillon migrate`: migrates the database of `DATABASE_URL`, as the role that owns its tables. */
export function registerMigrate(program: Command): void {
  program
    .command('migrate')
    .description(
      'Migrate the database of DATABASE_URL, as the owner of its tables, and grant the application its rights',
    )
    .action(() => migrateDatabase(program));
}

async function migrateDatabase(program: Command): Promise<void> {
  const { databaseUrl, databaseOwnerUrl, databaseDirectUrl } = readSettings(program);
  if (databaseUrl === undefined)
    throw new StartError(
      'SETTING_INVALID',
      'DATABASE_URL is not set. The embedded database is migrated when a node starts.',
    );
  const ownerUrl = databaseOwnerUrl ?? databaseDirectUrl ?? databaseUrl;
  const application = decodeURIComponent(new URL(databaseUrl).username);
  const applied = await prepareDatabase(ownerUrl, { application });
  for (const name of applied) process.stdout.write(`applied ${name}\n`);
  process.stdout.write(`The database is migrated, and ${application} has the rights it needs.\n`);
}
