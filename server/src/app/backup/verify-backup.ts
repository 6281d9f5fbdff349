import type { BackupManifest } from '../../domain/backup/backup-manifest.ts';
import { openBackup, readRows } from './backup-files.ts';

/** Reads all of a backup, as a restore would, and stores nothing. @throws BackupRefusedError that names the first file that is torn */
export async function verifyBackup(folder: string): Promise<BackupManifest> {
  const manifest = await openBackup(folder);
  for (const table of manifest.tables) for await (const _piece of readRows(folder, table));
  return manifest;
}
