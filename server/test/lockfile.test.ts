import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';

type Package = { resolved?: string; integrity?: string; license?: string; link?: boolean; hasInstallScript?: boolean };

/** Licences that ask for little more than to be named with the work. */
const licences = new Set([
  ...[
    'Apache-2.0',
    'MIT',
    'MIT-0',
    'ISC',
    'BSD-2-Clause',
    'BSD-3-Clause',
    '0BSD',
    'BlueOak-1.0.0',
    'Unlicense',
    'Python-2.0',
    'PSF-2.0',
  ],
  ...['(MIT OR CC0-1.0)', '(BSD-3-Clause OR GPL-2.0)'],
  // Asks for its own files to stay open; none of them is changed here.
  'MPL-2.0',
  // Of typefaces: they may be shipped with any work, but not sold alone.
  'OFL-1.1',
]);

/** Packages that name their licence only in its file. */
const licenceFiles: Record<string, string> = { 'node_modules/node-adm': 'Apache-2.0' };

// Without an address a package comes from the registry that npm is told to use; the digest holds it to the published one.
test('every package comes from the registry with its digest, under a licence of the list (fault 3.12 check 56)', async () => {
  const lockfile = join(import.meta.dirname, '..', '..', 'package-lock.json');
  const { packages } = JSON.parse(await readFile(lockfile, 'utf8')) as { packages: Record<string, Package> };
  const others = Object.entries(packages).filter(([path, { link }]) => path.includes('node_modules/') && !link);
  expect(others.length).toBeGreaterThan(300);
  const wrong = others.flatMap(([path, { resolved, integrity, license = licenceFiles[path] }]) => [
    ...(resolved === undefined || resolved.startsWith('https://registry.npmjs.org/')
      ? []
      : [`${path} comes from ${resolved}`]),
    ...(/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '') ? [] : [`${path} has the digest ${integrity}`]),
    ...(license !== undefined && licences.has(license) ? [] : [`${path} has the licence ${license}`]),
  ]);
  expect(wrong).toEqual([]);
});
