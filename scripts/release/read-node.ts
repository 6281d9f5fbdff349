/** Reads Node binaries of packages whose digest is known. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..');

/**
 * The Node of the executable, which must start on a machine where nothing can be installed. Node 26 needs libatomic.so.1, which
 * minimal systems do not have; 24 needs only the C and C++ libraries.
 */
const nodeOfExecutable = {
  version: '24.21.0',
  integrity: {
    'linux-x64': 'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
    'linux-arm64': 'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  },
};
export type ExecutablePlatform = keyof typeof nodeOfExecutable.integrity;
export const executablePlatforms = Object.keys(nodeOfExecutable.integrity) as ExecutablePlatform[];

/**
 * Returns the Node binary of a platform such as `linux-arm64`: this one, or that of the lockfile.
 * @throws Error if the package is not in the lockfile or has another digest, or the registry cannot be reached
 */
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
  return download({ name, ...locked });
}

/** @throws Error if the package has another digest, or the registry cannot be reached */
export function readNodeOfExecutable(platform: ExecutablePlatform): Buffer {
  const { version, integrity } = nodeOfExecutable;
  return download({ name: `node-${platform}`, version, integrity: integrity[platform] });
}

function download({ name, version, integrity }: { name: string; version: string; integrity: string }): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-node-'));
  try {
    const words = ['pack', `${name}@${version}`, '--json', '--loglevel', 'error'];
    const [{ filename }] = JSON.parse(execFileSync('npm', words, { cwd: folder, encoding: 'utf8' })) as [
      { filename: string },
    ];
    const tarball = readFileSync(join(folder, filename));
    if (`sha512-${createHash('sha512').update(tarball).digest('base64')}` !== integrity)
      throw new Error(`${name} ${version} does not have the expected digest`);
    execFileSync('tar', ['xzf', filename, 'package/bin/node'], { cwd: folder });
    return readFileSync(join(folder, 'package', 'bin', 'node'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
