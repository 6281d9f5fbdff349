import { mkdir, readdir, readFile, rm, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import { manifestFile, parseManifest, findScheduledBackups, nameScheduledBackup } from '../domain/operations/backup.ts';
import type { ScheduledBackup } from '../domain/operations/backup.ts';
import type { Logger } from '../log.ts';
import { aloneWithBackups, noteBackup, noteBackupSchedule } from '../storage/backup.ts';
import type { Database } from '../storage/database.ts';
import type { Job } from './jobs/job.ts';

export type ScheduledBackupsDependencies = {
  database: Database;
  clock: Clock;
  log: Logger;
  folder: string;
  everyHours: number;
  kept: number;
  /** Makes a complete backup, or throws and leaves none. */
  backUp: (folder: string) => Promise<unknown>;
};

const intervalMilliseconds = 60_000;
/** The pause after a failed backup, which may have filled a disk that other processes need. */
const retryMilliseconds = 3_600_000;
/** The expected growth since the last backup. If a backup of that size does not fit, the disk counts as full. */
const growth = 1.25;

/** The disk has too little space for a backup. Raised before anything is written. */
export class NoSpaceForBackupError extends Error {
  override readonly name = 'NoSpaceForBackupError';
  readonly code = 'ENOSPC';
}

/**
 * The job that makes a backup when the newest one in its folder is old enough, and then removes the surplus. Only one of the
 * nodes that share the folder does so. After a failure, every run throws the same error until a backup succeeds, so that the
 * job is reported as failing.
 */
export function makeScheduledBackups(deps: ScheduledBackupsDependencies): Job {
  const { database, clock, folder, everyHours } = deps;
  let failed: { error: unknown; at: Date } | undefined;
  const isDue = async (): Promise<boolean> => {
    const [newest] = await listComplete(folder);
    return !newest || clock.realNow().getTime() - newest.madeAt.getTime() >= everyHours * 3_600_000;
  };
  return {
    name: 'make-backups',
    intervalMilliseconds,
    async runOnce() {
      try {
        return await runIfDue();
      } finally {
        // Recorded only after the run, so that no backup is reported as late while the first one is being made.
        await noteBackupSchedule(database, { everyHours, lookedAt: clock.realNow() });
      }
    },
  };

  async function runIfDue(): Promise<number> {
    if (failed && clock.realNow().getTime() - failed.at.getTime() < retryMilliseconds) throw failed.error;
    try {
      if (!(await isDue())) return await recordNewest();
      // Checked again under the lock, because another node may have made a backup in the meantime.
      await aloneWithBackups(database, async () => ((await isDue()) ? makeNext(deps) : undefined));
      return await recordNewest();
    } catch (error) {
      failed = { error, at: clock.realNow() };
      throw error;
    }
  }

  /** Records the newest backup. Every run does this, because a restored database does not know it. */
  async function recordNewest(): Promise<number> {
    failed = undefined;
    const [newest] = await listComplete(folder);
    if (newest) await noteBackup(database, newest.madeAt);
    return 0;
  }
}

async function makeNext({ clock, log, folder, kept, backUp }: ScheduledBackupsDependencies): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Leftovers of nodes that died during a backup. No other node is making a backup now.
  for (const name of await readdir(folder))
    if (/^carillon-\d{8}T\d{6}Z\./.test(name)) await rm(join(folder, name), { recursive: true, force: true });
  await requireSpace(folder);
  const name = nameScheduledBackup(clock.realNow());
  await backUp(join(folder, name));
  const removed = (await listComplete(folder)).slice(kept);
  for (const old of removed) await rm(join(folder, old.name), { recursive: true, force: true });
  log.info({ folder: join(folder, name), removed: removed.length }, 'backup made');
}

/** @throws NoSpaceForBackupError if a backup as large as the last one would not fit. The database may be on the same disk */
async function requireSpace(folder: string): Promise<void> {
  const [last] = await listComplete(folder);
  if (!last) return;
  const { tables } = parseManifest(await readFile(join(folder, last.name, manifestFile), 'utf8'));
  const needed = Math.ceil(tables.reduce((sum, { fileBytes }) => sum + fileBytes, 0) * growth);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= needed) return;
  throw new NoSpaceForBackupError(
    `${folder} has ${bavail * bsize} bytes left, and a backup takes about ${needed}. Free some space, or keep fewer backups.`,
  );
}

/** Newest first. A folder without a manifest is not a backup. */
async function listComplete(folder: string): Promise<ScheduledBackup[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const complete: ScheduledBackup[] = [];
  for (const backup of findScheduledBackups(names))
    if ((await readdir(join(folder, backup.name))).includes(manifestFile)) complete.push(backup);
  return complete;
}
