import { stat } from 'node:fs/promises';
import { InvalidArgumentError } from 'commander';
import { StartError } from '../start/start-errors.ts';

/** `--workspace` as every command has it that works in one. */
export const workspaceOption = ['--workspace <id>', 'workspace; default: the demo workspace'] as const;

/** `--json` as every list has it. */
export const jsonOption = ['--json', 'each row as one line of JSON'] as const;

/** `--json` as every command has it that tells of one thing. */
export const jsonLineOption = ['--json', 'as one line of JSON'] as const;

/** @throws InvalidArgumentError */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('a whole number from 1 to 99,999,999');
  return Number(text);
}

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
