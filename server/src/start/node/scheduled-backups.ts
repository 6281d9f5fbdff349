import { makeBackup } from '../../app/system/backup.ts';
import { startJob } from '../../engine/jobs/job.ts';
import type { JobBook } from '../../engine/jobs/job.ts';
import { makeScheduledBackups } from '../../engine/scheduled-backups.ts';
import { carillonVersion } from '../carillon-version.ts';
import type { Config } from '../config.ts';
import type { Composition } from './composition.ts';

/** Starts backups by this node if the settings name a folder. A stop discards a backup that is under way. */
export function startScheduledBackups({ config, clock, log, installation, started }: Composition, book: JobBook): void {
  const { backupFolder: folder, backupHours: everyHours, backupsKept: kept } = config;
  if (folder === undefined) return;
  const database = installation.acrossWorkspaces;
  const stopping = new AbortController();
  const backUp = (made: string) => makeBackup(database, { folder: made, carillonVersion, signal: stopping.signal });
  const job = startJob(makeScheduledBackups({ database, clock, log, folder, everyHours, kept, backUp }), {
    ...{ clock, log, book },
  });
  started.push({
    async stop() {
      stopping.abort(new Error('the node stops'));
      await job.stop();
    },
  });
}

/** Returns the age in seconds at which a node with these settings replaces the newest backup; undefined if it makes none. */
export function backupIntervalOf({ backupFolder, backupHours, role }: Config): number | undefined {
  return backupFolder === undefined || role === 'api' ? undefined : backupHours * 3600;
}
