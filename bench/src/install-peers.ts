import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

/** Folders of packages that only a measurement needs: the peers, and the tool that checks the console. */
type PeerFolder = 'peers' | 'lighthouse';

/** Returns the folder of the packages, installed at the first call: the product needs none of them. */
export function installPeers(name: PeerFolder = 'peers'): string {
  const folder = join(import.meta.dirname, '..', name);
  if (!existsSync(join(folder, 'node_modules', '.package-lock.json'))) {
    const how = ['ci', '--no-audit', '--no-fund', '--ignore-scripts'];
    const { status } = spawnSync('npm', how, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], timeout: 300_000 });
    if (status !== 0) throw new Error(`npm ci in ${folder} ended with ${status}`);
  }
  return folder;
}

/** Loads a peer's package. */
export function requirePeer(name: string): unknown {
  return createRequire(join(installPeers(), 'package.json'))(name);
}
