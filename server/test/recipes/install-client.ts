import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';

const client = join(import.meta.dirname, '..', '..', '..', 'client');

/** The client in `node_modules` of a folder, as its tarball has it: built, by taking the types out. */
export async function installClient(folder: string): Promise<void> {
  const target = join(folder, 'node_modules', '@carillon', 'client');
  await mkdir(join(target, 'dist'), { recursive: true });
  await mkdir(join(target, 'browser'));
  await copyFile(join(client, 'package.json'), join(target, 'package.json'));
  for (const name of await readdir(join(client, 'browser')))
    await copyFile(join(client, 'browser', name), join(target, 'browser', name));
  for (const name of await readdir(join(client, 'src'), { recursive: true })) {
    if (!name.endsWith('.ts')) continue;
    const path = join(target, 'dist', name.replace(/\.ts$/, '.js'));
    const text = stripTypeScriptTypes(await readFile(join(client, 'src', name), 'utf8'));
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(path, text.replace(/((?:from |import\()'\.[^']*)\.ts(?=')/g, '$1.js'));
  }
}
