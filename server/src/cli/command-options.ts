import { stat } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { StartError } from '../start/start-errors.ts';

/** `--workspace` for every command that works in one. */
export const workspaceOption = ['--workspace <id>', 'id of the workspace; default: the demo workspace'] as const;

/** `--json` for lists. */
export const jsonOption = ['--json', 'print each row as one line of JSON'] as const;

/** `--json` for commands that print a single object. */
export const jsonLineOption = ['--json', 'print one line of JSON'] as const;

/** @throws InvalidArgumentError */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('must be a whole number from 1 to 99,999,999');
  return Number(text);
}

/**
 * Checks that the path is not a folder. A folder can be opened like a file, and the later read error does not name it.
 *
 * @returns the path
 * @throws StartError SETTING_INVALID, and the file system's error if there is no such file
 */
export async function requireFile(path: string): Promise<string> {
  if ((await stat(path)).isDirectory())
    throw new StartError('SETTING_INVALID', `The file ${path} cannot be used: it is a folder.`);
  return path;
}
