import { readFile } from 'node:fs/promises';
import type { ValuesFile } from './cluster-values.ts';

/** Reads the recorded measurements. */
export async function readValuesFile(path: string): Promise<ValuesFile> {
  return JSON.parse(await readFile(path, 'utf8')) as ValuesFile;
}
