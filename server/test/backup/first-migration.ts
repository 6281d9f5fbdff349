import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A backup of a database of migration 1: the files of its folder by name, those of its tables in base64. */
const fixture = join(import.meta.dirname, '..', 'fixtures', 'migration-1.json');

/** The key that the backup is encrypted under. */
export const fixtureKey = Buffer.alloc(32, 7);

/** Writes the files of the fixture into a temporary folder, as `carillon backup` left them. */
export async function unpackFixture(): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), 'carillon-migration-1-'));
  const files = JSON.parse(await readFile(fixture, 'utf8')) as Record<string, string>;
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), content, encodingOf(name));
  }
  return { folder, remove: () => rm(folder, { recursive: true }) };
}

/** Makes the fixture of the folder of a backup. */
export async function packFixture(folder: string): Promise<void> {
  const names = (await readdir(folder, { recursive: true })).filter((name) => /\.(?:json|gz)$/.test(name)).sort();
  const files = await Promise.all(
    names.map(async (name) => [name, await readFile(join(folder, name), encodingOf(name))] as const),
  );
  await writeFile(fixture, `${JSON.stringify(Object.fromEntries(files), null, 2)}\n`);
}

function encodingOf(name: string): BufferEncoding {
  return name.endsWith('.gz') ? 'base64' : 'utf8';
}
