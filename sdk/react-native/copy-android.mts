import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';

const folder = import.meta.dirname;
const sdk = join(folder, '..', 'android');

/** Copies the sources of carillon-android into a package, because that SDK is not on Maven Central. */
export async function copyAndroid(target: string): Promise<void> {
  await rm(target, { recursive: true, force: true });
  for (const part of ['core', 'carillon'])
    await cp(join(sdk, part, 'src', 'main', 'kotlin'), join(target, 'kotlin'), { recursive: true });
  await cp(join(sdk, 'carillon', 'src', 'main', 'AndroidManifest.xml'), join(target, 'AndroidManifest.xml'));
}

if (process.argv[1] === import.meta.filename) await copyAndroid(join(folder, 'android', 'sdk'));
