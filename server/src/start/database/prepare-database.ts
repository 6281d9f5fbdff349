import { openDatabase } from '../../storage/database.ts';
import type { Database } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { acrossRoleOf, grantRights, readLoginRights } from '../../storage/installation/database-roles.ts';
import type { LoginRights } from '../../storage/installation/database-roles.ts';
import { hasInstallation } from '../../storage/installation/installation.ts';
import { findMissingMigrations, migrate } from '../../storage/migrate.ts';
import { StartError } from '../start-errors.ts';

/**
 * Migrates as the owner of the tables, and grants the application its rights.
 *
 * @param application the application's role; the owner's if one role is both
 * @returns the names of the migrations applied by this call
 * @throws SchemaTooNewError, SchemaTooOldError, MigrationChangedError, ApplicationRolesError
 */
export async function prepareDatabase(
  ownerUrl: string,
  { application, stopRequested = new AbortController().signal }: { application: string; stopRequested?: AbortSignal },
): Promise<string[]> {
  return withConnections({ url: ownerUrl, stopRequested }, async (owner) => {
    const missing = await findMissingMigrations(owner);
    const applied = missing.length === 0 ? [] : await migrate(owner, { at: await readDatabaseClock(owner) });
    stopRequested.throwIfAborted();
    await grantRights(owner, application);
    return applied;
  });
}

/** Row-level security as a second separation of workspaces, in addition to the conditions of the statements. */
export type Wall = { acrossRole: string; fault: undefined } | { acrossRole: undefined; fault: string };

/**
 * Makes the database ready for this node. It is migrated with the owner's URL, or by the application's role if that owns the
 * tables. A role that owns nothing starts only on a migrated database.
 *
 * @throws StartError DATABASE_NOT_PREPARED and the errors of prepareDatabase
 */
export async function readyDatabase(
  url: string,
  {
    ownerUrl,
    stopRequested,
    ifMissing,
  }: { ownerUrl: string | undefined; stopRequested: AbortSignal; ifMissing: 'make' | 'refuse' },
): Promise<Wall> {
  return withConnections({ url, stopRequested }, async (database) => {
    if (ifMissing === 'refuse') await refuseEmpty(database);
    const { role, mayMigrate } = await readLoginRights(database);
    if (ownerUrl !== undefined) await prepareDatabase(ownerUrl, { application: role, stopRequested });
    else if (mayMigrate) await prepareDatabase(url, { application: role, stopRequested });
    else await refuseUnmigrated(database, role);
    return wallOf(await readLoginRights(database));
  });
}

async function refuseEmpty(database: Database): Promise<void> {
  if (await hasInstallation(database)) return;
  throw new StartError(
    'NOTHING_INSTALLED',
    'There is no Carillon in this database; a node, or "carillon workspaces create", makes one.',
  );
}

async function refuseUnmigrated(database: Database, role: string): Promise<void> {
  const missing = await findMissingMigrations(database);
  if (missing.length === 0) return;
  throw new StartError(
    'DATABASE_NOT_PREPARED',
    `The database lacks ${missing.length} migrations, and the role ${role} may not change it; ` +
      'run `carillon migrate` with CARILLON_DATABASE_OWNER_URL, or give that setting to the node.',
  );
}

function wallOf({ role, fault, acrossRole }: LoginRights): Wall {
  if (fault !== undefined) return { acrossRole: undefined, fault: `${role} ${sentences[fault]}` };
  if (acrossRole !== undefined) return { acrossRole, fault: undefined };
  throw new StartError(
    'DATABASE_NOT_PREPARED',
    `The role ${role} may not take on the role ${acrossRoleOf(role)}; run \`carillon migrate\`, which says what is missing.`,
  );
}

const sentences = {
  superuser: 'is a superuser',
  'bypasses row security': 'bypasses row security',
  'owns the tables': 'owns the tables',
  'inherits the rights across': 'has the rights of all workspaces without asking for them',
} as const;

async function withConnections<Result>(
  { url, stopRequested }: { url: string; stopRequested: AbortSignal },
  work: (database: Database) => Promise<Result>,
): Promise<Result> {
  const database = openDatabase({ url, connections: 2, name: 'carillon start' });
  // A migration may take minutes or wait for another node's. Closing the connections rolls its transaction back.
  const breakOff = (): void => void database.end({ timeoutSeconds: 0 });
  stopRequested.addEventListener('abort', breakOff);
  try {
    return await work(database);
  } finally {
    stopRequested.removeEventListener('abort', breakOff);
    await database.end({ timeoutSeconds: 5 });
  }
}
