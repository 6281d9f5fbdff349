import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export type Component = {
  'bom-ref': string;
  name: string;
  version: string;
  licenses?: { license?: { id?: string; name?: string }; expression?: string }[];
  hashes?: { alg: string; content: string }[];
};
/** The part of a CycloneDX bill of materials that is read here. */
export type Bom = { specVersion: string; components: Component[] };

type Manifest = Record<string, Record<string, string> | undefined>;
const workspaces = ['server', 'client', 'console', 'bench'];

/**
 * Returns the components of the packed server, as npm reads them from the lockfile: its dependencies, the packages built into
 * the console and the documentation, and the Node that it contains. npm leaves out packages that the checks use too, so it is
 * asked about a project without checks.
 */
export function listComponents(root: string): Bom {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-components-'));
  const project = join(folder, 'carillon');
  try {
    for (const name of ['', ...workspaces]) {
      mkdirSync(join(project, name), { recursive: true });
      const path = join(name, 'package.json');
      writeFileSync(join(project, path), JSON.stringify(keepShipped(name, read(root, path))));
    }
    const lockfile = read(root, 'package-lock.json') as unknown as { packages: Record<string, Manifest> };
    for (const name of ['', ...workspaces]) lockfile.packages[name] = keepShipped(name, lockfile.packages[name]!);
    writeFileSync(join(project, 'package-lock.json'), JSON.stringify(lockfile));
    const words = [
      'sbom',
      '--sbom-format',
      'cyclonedx',
      '--sbom-type',
      'application',
      '--omit',
      'dev',
      '--package-lock-only',
    ];
    const which = ['--workspace', 'server', '--workspace', 'console', '--loglevel', 'error'];
    const printed = execFileSync('npm', [...words, ...which], {
      cwd: project,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    return JSON.parse(printed) as Bom;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Packages that are built into the pages of the documentation. */
const ofDocumentation = ['minisearch'];

function keepShipped(name: string, manifest: Manifest): Manifest {
  const { devDependencies = {}, optionalDependencies = {}, scripts: _scripts, ...rest } = manifest;
  if (name !== '') return { ...rest, optionalDependencies };
  const nodes = Object.entries(optionalDependencies).filter(([other]) => other.startsWith('node-'));
  const built = Object.entries(devDependencies).filter(([other]) => ofDocumentation.includes(other));
  return { ...rest, dependencies: Object.fromEntries(built), optionalDependencies: Object.fromEntries(nodes) };
}

function read(root: string, path: string): Manifest {
  return JSON.parse(readFileSync(join(root, path), 'utf8')) as Manifest;
}
