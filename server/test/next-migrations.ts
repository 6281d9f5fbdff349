import { cp, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const present = join(import.meta.dirname, '..', 'migrations');

export type NextMigrations = { folder: string; name: string; remove(): Promise<void> };

/** The migrations of a next version in a temporary folder: those of this version, and one more. */
export async function makeNextMigrations(text: string): Promise<NextMigrations> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-migrations-'));
  await cp(present, folder, { recursive: true });
  const name = await addNextMigration(folder, text);
  return { folder, name, remove: () => rm(folder, { recursive: true }) };
}

/** Adds a migration with the next number to a folder of migrations. @returns its name */
export async function addNextMigration(folder: string, text: string): Promise<string> {
  const number = (await readdir(folder)).length + 1;
  const name = `${String(number).padStart(6, '0')}_of_the_next_version.sql`;
  await writeFile(join(folder, name), text);
  return name;
}
