import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const ownManifests = join(import.meta.dirname, 'tools');
const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache');

/**
 * Installs what only FULL=1 tries with (generators, a mock server, older versions of Node), as its lockfile says, once for
 * all runs. Two at the same moment install twice, and the second one's is thrown away.
 *
 * @param manifests folder of a package.json and its lockfile
 * @returns its `node_modules`
 */
export async function installTools(manifests = ownManifests): Promise<string> {
  const digest = createHash('sha256')
    .update(await readFile(join(manifests, 'package-lock.json')))
    .digest('hex');
  const folder = join(cache, `client-tools-${digest.slice(0, 16)}`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const fresh = await mkdtemp(join(cache, 'client-tools-new-'));
    for (const name of ['package.json', 'package-lock.json']) await copyFile(join(manifests, name), join(fresh, name));
    const quiet = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['ci', '--include=optional', ...quiet], { cwd: fresh, timeout: 600_000 });
    await rename(fresh, folder).catch(() => rm(fresh, { recursive: true, force: true }));
  }
  return join(folder, 'node_modules');
}
