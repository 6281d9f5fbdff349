import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';

const folder = import.meta.dirname;

/** Copies the sources of the Swift package into a package that builds on it, because it is in no index of packages. */
export async function copyIos(target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  await cp(join(folder, 'Sources'), target, { recursive: true });
}

if (process.argv[1] === import.meta.filename) await copyIos(join(folder, '..', '..', process.argv[2]!));
