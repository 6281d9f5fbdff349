import type { Queryable } from '../database.ts';

/** `madeAt` is null where none is known. */
export type NewestBackup = { madeAt: Date | null };

/** Notes that there is a whole backup as of then, unless a newer one is known. The installation's only row. */
export async function noteBackup(tx: Queryable, madeAt: Date): Promise<void> {
  await tx`
    update installation set backup_made_at = ${madeAt} where backup_made_at is null or backup_made_at < ${madeAt}`;
}

/** The newest that is known. The installation's only row. */
export async function findNewestBackup(tx: Queryable): Promise<NewestBackup> {
  const [row] = await tx<NewestBackup[]>`select backup_made_at as "madeAt" from installation`;
  return row ?? { madeAt: null };
}
