import { stat } from 'node:fs/promises';
import { StartError } from '../start/start-errors.ts';

/**
 * A folder opens as a file does, and when it is read the fault names it no more.
 *
 * @returns the path
 * @throws StartError SETTING_INVALID, and what the file system says of a file that is not there
 */
export async function requireFile(path: string): Promise<string> {
  if ((await stat(path)).isDirectory())
    throw new StartError('SETTING_INVALID', `The file ${path} cannot be used: it is a folder.`);
  return path;
}
