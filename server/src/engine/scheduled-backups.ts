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
  /** Makes one, or nothing. */
  backUp: (folder: string) => Promise<unknown>;
};

const intervalMilliseconds = 60_000;
/** A backup that fails may have filled a disk that others need. */
const retryMilliseconds = 3_600_000;
/** What a backup takes beyond the last one before the disk is called full. */
const growth = 1.25;

/** What stands in the way of a backup, told before anything is written. */
export class NoSpaceForBackupError extends Error {
  override readonly name = 'NoSpaceForBackupError';
  readonly code = 'ENOSPC';
}

/**
 * The job that makes a backup when the newest in its folder is old enough, and then removes those that are too many. Of the
 * nodes that share the folder one does. A fault is told at every look until a backup is made, so it stays a failing job.
 */
export function makeScheduledBackups(deps: ScheduledBackupsDependencies): Job {
  const { database, clock, folder, everyHours } = deps;
  let failed: { error: unknown; at: Date } | undefined;
  const isDue = async (): Promise<boolean> => {
    const [newest] = await listWhole(folder);
    return !newest || clock.realNow().getTime() - newest.madeAt.getTime() >= everyHours * 3_600_000;
  };
  return {
    name: 'make-backups',
    intervalMilliseconds,
    async runOnce() {
      try {
        return await look();
      } finally {
        // Only now: nobody is told that a backup is late while the first one is being made.
        await noteBackupSchedule(database, { everyHours, lookedAt: clock.realNow() });
      }
    },
  };

  async function look(): Promise<number> {
    if (failed && clock.realNow().getTime() - failed.at.getTime() < retryMilliseconds) throw failed.error;
    try {
      if (!(await isDue())) return await settle();
      // Looked at again: another node may have made one meanwhile.
      await aloneWithBackups(database, async () => ((await isDue()) ? makeNext(deps) : undefined));
      return await settle();
    } catch (error) {
      failed = { error, at: clock.realNow() };
      throw error;
    }
  }

  /** The newest is noted at each look, so that the database knows it again after it was restored. */
  async function settle(): Promise<number> {
    failed = undefined;
    const [newest] = await listWhole(folder);
    if (newest) await noteBackup(database, newest.madeAt);
    return 0;
  }
}

async function makeNext({ clock, log, folder, kept, backUp }: ScheduledBackupsDependencies): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  // Of nodes that died in the middle; nobody else is at it now.
  for (const name of await readdir(folder))
    if (/^carillon-\d{8}T\d{6}Z\./.test(name)) await rm(join(folder, name), { recursive: true, force: true });
  await requireSpace(folder);
  const name = nameScheduledBackup(clock.realNow());
  await backUp(join(folder, name));
  const removed = (await listWhole(folder)).slice(kept);
  for (const old of removed) await rm(join(folder, old.name), { recursive: true, force: true });
  log.info({ folder: join(folder, name), removed: removed.length }, 'backup made');
}

/** @throws NoSpaceForBackupError when the last one would not fit again: a disk that is filled may be the database's too */
async function requireSpace(folder: string): Promise<void> {
  const [last] = await listWhole(folder);
  if (!last) return;
  const { tables } = parseManifest(await readFile(join(folder, last.name, manifestFile), 'utf8'));
  const needed = Math.ceil(tables.reduce((sum, { fileBytes }) => sum + fileBytes, 0) * growth);
  const { bavail, bsize } = await statfs(folder);
  if (bavail * bsize >= needed) return;
  throw new NoSpaceForBackupError(
    `${folder} has ${bavail * bsize} bytes left, and a backup takes about ${needed}; make space, or keep fewer.`,
  );
}

/** Newest first; a folder without a manifest is no backup. */
async function listWhole(folder: string): Promise<ScheduledBackup[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const whole: ScheduledBackup[] = [];
  for (const backup of findScheduledBackups(names))
    if ((await readdir(join(folder, backup.name))).includes(manifestFile)) whole.push(backup);
  return whole;
}
