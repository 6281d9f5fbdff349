/**
 * Returns the Node binary of a platform such as `linux-arm64`: this one, or the package of the lockfile, whose digest is
 * verified.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/** @throws Error if the package is not in the lockfile or has another digest, or the registry cannot be reached */
export function readNodeOf(platform: string): Buffer {
  if (platform === `${process.platform}-${process.arch}`) return readFileSync(process.execPath);
  const name = `node-${platform}`;
  const lockfile = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string } | undefined>;
  };
  const locked = lockfile.packages[`node_modules/${name}`];
  if (locked === undefined) throw new Error(`package-lock.json has no ${name}`);
  if (`v${locked.version}` !== process.version)
    throw new Error(`${name} is ${locked.version}, this Node ${process.version}`);
  const folder = mkdtempSync(join(tmpdir(), 'carillon-node-'));
  try {
    const words = ['pack', `${name}@${locked.version}`, '--json', '--loglevel', 'error'];
    const [{ filename }] = JSON.parse(execFileSync('npm', words, { cwd: folder, encoding: 'utf8' })) as [
      { filename: string },
    ];
    const tarball = readFileSync(join(folder, filename));
    if (`sha512-${createHash('sha512').update(tarball).digest('base64')}` !== locked.integrity)
      throw new Error(`${name} does not have the digest of package-lock.json`);
    execFileSync('tar', ['xzf', filename, 'package/bin/node'], { cwd: folder });
    return readFileSync(join(folder, 'package', 'bin', 'node'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
