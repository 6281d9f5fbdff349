import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultDataFolder } from '../../start/config.ts';
import type { Config } from '../../start/config.ts';
import { readMachine } from '../../start/read-machine.ts';
import { diagnosing, showBytes } from './diagnosis.ts';
import type { Diagnosis } from './diagnosis.ts';

const folder = diagnosing('data folder');
const disk = diagnosing('disk');
// PostgreSQL stops when its disk is full, and a day of a large ledger takes gigabytes.
const fullBytes = 500e6;
const lowBytes = 5e9;
const lowShare = 0.1;

/** Rights and space of the data folder: where the database is embedded, or the master key was generated. */
export async function checkFolder(config: Config): Promise<Diagnosis[]> {
  const path = config.dataFolder ?? defaultDataFolder;
  const isNeeded = config.databaseUrl === undefined || (config.masterKey === undefined && config.mode === 'sandbox');
  if (!isNeeded) return [folder.good('None is needed: the database and the master key are given.')];
  const found = await stat(path).catch(() => undefined);
  if (!found?.isDirectory())
    return [
      folder.wrong(`There is no folder ${path}.`, 'Name the one of the node with --data-dir; a first start makes it.'),
    ];
  return [await checkRights(path), ...(await checkDisk(path))];
}

async function checkRights(path: string): Promise<Diagnosis> {
  const isWritable = await access(path, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
  if (!isWritable)
    return folder.wrong(`${path} cannot be written by this account.`, 'Give it to the account that runs the node.');
  const key = await stat(join(path, 'master.key')).catch(() => undefined);
  if (key && process.platform !== 'win32' && (key.mode & 0o077) !== 0)
    return folder.attention(`Others can read ${join(path, 'master.key')}.`, `chmod 600 ${join(path, 'master.key')}`);
  return folder.good(`${path} is there and can be written.`);
}

async function checkDisk(path: string): Promise<Diagnosis[]> {
  const { disk: space } = await readMachine(path);
  if (!space) return [];
  const { freeBytes, totalBytes } = space;
  const found = `${showBytes(freeBytes)} of ${showBytes(totalBytes)} are free where ${path} lies.`;
  const todo = 'Free some, or shorten how long records are kept (docs/retention.md).';
  if (freeBytes < fullBytes) return [disk.wrong(found, todo)];
  return [freeBytes < lowBytes && freeBytes < totalBytes * lowShare ? disk.attention(found, todo) : disk.good(found)];
}
