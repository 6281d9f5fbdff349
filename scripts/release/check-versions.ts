import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifests = ['.', 'server', 'client', 'console', 'bench'].map((folder) => join(folder, 'package.json'));

/** Returns the obstacles to a release: manifests that disagree, or a changelog without the version. */
export function checkVersions(root: string): { version: string; faults: string[] } {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('server/package.json')) as { version: string };
  const faults: string[] = [];
  for (const path of manifests) {
    const found = (JSON.parse(read(path)) as { version?: string }).version;
    if (found !== version) faults.push(`${path} says ${found}, server/package.json ${version}`);
  }
  const [, python] = /^version = "([^"]+)"$/m.exec(read('client-python/pyproject.toml')) ?? [];
  if (python !== version) faults.push(`client-python/pyproject.toml says ${python}, server/package.json ${version}`);

  const [first, ...others] = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!);
  if (first !== `Unreleased (${version})`)
    faults.push(`CHANGELOG.md begins with "${first}", not "Unreleased (${version})"`);
  for (const heading of others)
    if (!/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/.test(heading))
      faults.push(`CHANGELOG.md has "${heading}", which is no version and day`);
  return { version, faults };
}
