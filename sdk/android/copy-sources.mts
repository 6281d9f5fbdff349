import { copyFile, cp, rm } from 'node:fs/promises';
import { join } from 'node:path';

const folder = import.meta.dirname;

/** Copies the sources of carillon-android into a package that builds on it, because that SDK is not on Maven Central. */
export async function copyAndroid(target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  for (const part of ['core', 'carillon'])
    await cp(join(folder, part, 'src', 'main', 'kotlin'), join(target, 'kotlin'), { recursive: true });
  await cp(join(folder, 'carillon', 'src', 'main', 'AndroidManifest.xml'), join(target, 'AndroidManifest.xml'));
}

if (process.argv[1] === import.meta.filename) {
  const root = join(folder, '..', '..');
  const target = join(root, process.argv[2]!);
  await copyAndroid(target);
  await copyFile(join(root, 'LICENSE'), join(target, '..', '..', 'LICENSE'));
}
