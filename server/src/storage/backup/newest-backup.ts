import type { BackupFacts } from '../../domain/backup/late-backup.ts';
import type { Queryable } from '../database.ts';

/** Notes that there is a whole backup as of then, unless a newer one is known. The installation's only row. */
export async function noteBackup(tx: Queryable, madeAt: Date): Promise<void> {
  await tx`
    update installation set backup_made_at = ${madeAt} where backup_made_at is null or backup_made_at < ${madeAt}`;
}

/** Notes how often a node makes backups by itself, and that it was at it. The installation's only row. */
export async function noteBackupSchedule(
  tx: Queryable,
  { everyHours, lookedAt }: NonNullable<BackupFacts['schedule']>,
): Promise<void> {
  await tx`update installation set backup_hours = ${everyHours}, backup_looked_at = ${lookedAt}`;
}

/** What is known of backups. The installation's only row; without it nothing is. */
export async function findNewestBackup(tx: Queryable): Promise<BackupFacts> {
  const [row] = await tx<(Omit<BackupFacts, 'schedule'> & { everyHours: number | null; lookedAt: Date | null })[]>`
    select backup_made_at as "madeAt", created_at as "installedAt", backup_hours as "everyHours",
      backup_looked_at as "lookedAt"
    from installation`;
  if (!row) return { madeAt: null, installedAt: null, schedule: null };
  const { everyHours, lookedAt, ...backup } = row;
  return { ...backup, schedule: everyHours !== null && lookedAt !== null ? { everyHours, lookedAt } : null };
}
