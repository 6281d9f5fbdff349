import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifests = [
  ...['.', 'server', 'client', 'console', 'bench', 'sdk/web', 'sdk/react-native', 'sdk/capacitor'].map((folder) =>
    join(folder, 'package.json'),
  ),
  'client-php/composer.json',
];
/** Manifests that are not JSON, with the first place of the version in each. */
const others = [
  { path: 'client-python/pyproject.toml', pattern: /^version = "([^"]+)"$/m },
  { path: 'client-ruby/carillon-client.gemspec', pattern: /^ *gem\.version = "([^"]+)"$/m },
  { path: 'client-java/pom.xml', pattern: /<artifactId>carillon-client<\/artifactId>\s*<version>([^<]+)<\/version>/ },
];

/** Returns the obstacles to a release: manifests that disagree, or a changelog without the version. */
export function checkVersions(root: string): { version: string; faults: string[] } {
  const read = (path: string): string => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('server/package.json')) as { version: string };
  const faults: string[] = [];
  for (const path of manifests) {
    const found = (JSON.parse(read(path)) as { version?: string }).version;
    if (found !== version) faults.push(`${path} says ${found}, server/package.json ${version}`);
  }
  for (const { path, pattern } of others) {
    const [, found] = pattern.exec(read(path)) ?? [];
    if (found !== version) faults.push(`${path} says ${found}, server/package.json ${version}`);
  }

  const [first, ...earlier] = [...read('CHANGELOG.md').matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!);
  if (first !== `Unreleased (${version})`)
    faults.push(`CHANGELOG.md begins with "${first}", not "Unreleased (${version})"`);
  for (const heading of earlier)
    if (!/^\d+\.\d+\.\d+ \(\d{4}-\d\d-\d\d\)$/.test(heading))
      faults.push(`CHANGELOG.md has "${heading}", which is no version and day`);
  return { version, faults };
}
