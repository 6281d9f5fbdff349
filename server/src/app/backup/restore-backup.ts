import type { BackupManifest } from '../../domain/backup/backup-manifest.ts';
import { readBackupFacts, setSequence, storeRows, writePlainly } from '../../storage/backup/backup-tables.ts';
import { listCampaignsUnderWay } from '../../storage/backup/campaigns-under-way.ts';
import { closeTables, openTables, tieRows } from '../../storage/backup/restored-schema.ts';
import { inSchemaTransaction, withSession } from '../../storage/database.ts';
import type { Database, Transaction } from '../../storage/database.ts';
import { readDatabaseClock } from '../../storage/installation/database-clock.ts';
import { findInstallation } from '../../storage/installation/installation.ts';
import { endLeases } from '../../storage/installation/nodes.ts';
import { migrateInTransaction, refuseForeignBackup, withSchemaLock } from '../../storage/migrate.ts';
import { makeDay } from '../../storage/retention/day-partitions.ts';
import { changeInTransaction } from '../campaigns/change-campaign-state.ts';
import { BackupRefusedError, readRows } from './backup-files.ts';

/** The database holds something, and a backup is restored into an empty one. */
export class DatabaseNotEmptyError extends Error {
  override readonly name = 'DatabaseNotEmptyError';
}

export type RestoreRequest = {
  folder: string;
  manifest: BackupManifest;
  /**
   * What becomes of campaigns that were under way, or had something due since: `hold` pauses them, because what they sent
   * after the backup is not known; `resume` lets them go on, and they repeat it.
   */
  campaigns: 'hold' | 'resume';
  /** Of the migrations; tests have one with a migration more. */
  migrationsFolder?: string;
};

export type Restored = { held: { id: string; workspaceId: string; name: string }[]; migrations: string[] };

/**
 * Restores a backup into an empty database, in one transaction: all of it, brought to this version's schema, or nothing.
 *
 * @param owner the role that owns the tables
 * @throws BackupRefusedError, DatabaseNotEmptyError, SchemaTooNewError, SchemaTooOldError, MigrationChangedError
 */
export async function restoreBackup(owner: Database, request: RestoreRequest): Promise<Restored> {
  const { manifest } = request;
  await refuseForeignBackup(manifest.migrations, { folder: request.migrationsFolder });
  return withSession(owner, async (session) => {
    const restored = await withSchemaLock(session, () =>
      inSchemaTransaction(session, async (tx) => {
        await refuseFilled(tx);
        return restoreEverything(tx, request);
      }),
    );
    if (restored === 'locked')
      throw new DatabaseNotEmptyError('A node or a command is migrating this database just now.');
    return restored;
  });
}

async function refuseFilled(tx: Transaction): Promise<void> {
  const { tables, isCluster } = await readBackupFacts(tx);
  if (isCluster) throw new BackupRefusedError('A backup is not restored into a cluster; spread the tables afterwards.');
  if (tables > 0)
    throw new DatabaseNotEmptyError('The database is not empty; a backup is restored into one that holds nothing.');
}

async function restoreEverything(
  tx: Transaction,
  { folder, manifest, campaigns, migrationsFolder }: RestoreRequest,
): Promise<Restored> {
  const realAt = await readDatabaseClock(tx);
  await migrateInTransaction(tx, { last: manifest.migrations.at(-1)!.name, at: realAt, folder: migrationsFolder });
  for (const { day } of manifest.tables) if (day) await makeDay(tx, day);
  await openTables(tx);
  await writePlainly(tx);
  for (const table of manifest.tables) {
    const { name, columns } = table;
    await storeRows(tx, { name, columns, pieces: readRows(folder, table) });
  }
  for (const sequence of manifest.sequences) await setSequence(tx, sequence);
  await tieRows(tx);
  const migrations = await migrateInTransaction(tx, { last: undefined, at: realAt, folder: migrationsFolder });
  // Whoever had claimed something died with the database that was lost.
  await endLeases(tx, realAt);
  const held = campaigns === 'hold' ? await holdCampaigns(tx, realAt) : [];
  await closeTables(tx);
  return { held, migrations };
}

/** In the sandbox the restored clock may stand elsewhere. */
async function holdCampaigns(tx: Transaction, realAt: Date): Promise<Restored['held']> {
  const { clockOffsetMilliseconds, clockFrozenAt } = (await findInstallation(tx))!;
  const at = new Date((clockFrozenAt ?? realAt).getTime() + clockOffsetMilliseconds);
  const underWay = await listCampaignsUnderWay(tx, at);
  for (const { id, workspaceId } of underWay)
    await changeInTransaction(tx, { workspaceId, campaignId: id, action: 'pause', by: 'the restore of a backup' }, at);
  return underWay;
}
