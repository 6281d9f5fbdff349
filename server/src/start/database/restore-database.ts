import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openBackup, restoreBackup } from '../../app/system/backup.ts';
import type { Restored, RestoreRequest } from '../../app/system/backup.ts';
import { masterKeyIdOf } from '../../domain/crypto/encryption.ts';
import type { BackupManifest } from '../../domain/operations/backup.ts';
import type { Logger } from '../../log.ts';
import { openDatabase } from '../../storage/database.ts';
import { defaultDataFolder } from '../config.ts';
import type { Config } from '../config.ts';
import { findRunningPostgres } from '../embedded-postgres/embedded-postgres.ts';
import { StartError } from '../start-errors.ts';
import { startOwnDatabase } from './open-installation.ts';
import { prepareDatabase } from './prepare-database.ts';

export type RestoreOptions = Pick<RestoreRequest, 'folder' | 'campaigns'> & {
  /** A file that contains the master key, for an embedded database in a sandbox. */
  keyFile: string | undefined;
  log: Logger;
};

export type RestoredDatabase = Restored & { manifest: BackupManifest };

/**
 * Restores a backup into the empty database of the settings, as the owner of its tables, and grants the application its rights.
 * Creates the embedded database first if there is none.
 *
 * @throws StartError and the errors of restoreBackup and prepareDatabase
 */
export async function restoreDatabase(
  config: Config,
  { folder, campaigns, keyFile, log }: RestoreOptions,
): Promise<RestoredDatabase> {
  const manifest = await openBackup(folder);
  const key = await readKey(config, keyFile);
  if (key !== undefined) refuseOtherKey([key, ...(config.nextMasterKey ? [config.nextMasterKey] : [])], manifest);
  const target = await openTarget(config, log);
  try {
    const owner = openDatabase({ url: target.ownerUrl, connections: 2, name: 'carillon restore' });
    let restored: Restored;
    try {
      restored = await restoreBackup(owner, { folder, manifest, campaigns });
    } finally {
      await owner.end({ timeoutSeconds: 5 });
    }
    await prepareDatabase(target.ownerUrl, { application: target.application });
    if (config.databaseUrl === undefined && config.mode === 'sandbox' && key !== undefined) await keepKey(config, key);
    return { ...restored, manifest };
  } finally {
    await target.close();
  }
}

async function readKey({ masterKey }: Config, keyFile: string | undefined): Promise<Buffer | undefined> {
  if (keyFile === undefined) return masterKey;
  const text = await readFile(keyFile, 'utf8').catch((error: unknown) => {
    throw new StartError('SETTING_INVALID', `The key file ${keyFile} cannot be read.`, error);
  });
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length !== 32) throw new StartError('SETTING_INVALID', `${keyFile} holds no master key: 32 bytes in base64.`);
  return key;
}

/** Rejects a wrong key: the restore would succeed, but no node would start on it. */
function refuseOtherKey(keys: readonly Buffer[], { masterKeyIds }: BackupManifest): void {
  const given = keys.map(masterKeyIdOf);
  const missing = masterKeyIds.filter((id) => !given.includes(id));
  if (missing.length === 0) return;
  throw new StartError(
    'MASTER_KEY_WRONG',
    `The backup is encrypted under the master key ${missing.join(' and ')}, and what was given is ${given.join(' and ')}.`,
  );
}

type Target = { ownerUrl: string; application: string; close(): Promise<void> };

async function openTarget(config: Config, log: Logger): Promise<Target> {
  const { databaseUrl, databaseOwnerUrl, databaseDirectUrl } = config;
  if (databaseUrl !== undefined)
    return targetOf({ url: databaseUrl, ownerUrl: databaseOwnerUrl ?? databaseDirectUrl ?? databaseUrl });
  const dataFolder = config.dataFolder ?? defaultDataFolder;
  // A running database belongs to a node and so is not empty; the restore rejects it with its own message.
  const running = await findRunningPostgres(join(dataFolder, 'postgres'));
  if (running) return targetOf(running);
  const stopRequested = new AbortController().signal;
  const embedded = await startOwnDatabase(dataFolder, { log, stopRequested, onWaiting: undefined });
  return { ...targetOf(embedded), close: () => embedded.stop() };
}

function targetOf({ url, ownerUrl }: { url: string; ownerUrl: string }): Target {
  return { ownerUrl, application: decodeURIComponent(new URL(url).username), async close() {} };
}

/** Stores the key where a sandbox looks for its generated one. */
async function keepKey(config: Config, key: Buffer): Promise<void> {
  const path = join(config.dataFolder ?? defaultDataFolder, 'master.key');
  if (!existsSync(path)) await writeFile(path, key.toString('base64'), { mode: 0o600, flag: 'wx' });
}
