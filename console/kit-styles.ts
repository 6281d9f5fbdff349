import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const name = 'virtual:kit-styles.css';
const kit = dirname(fileURLToPath(import.meta.resolve('@mantine/core/styles.css')));
const always = ['default-css-variables', 'baseline', 'global'];

/**
 * The component kit's styles of the components that are used, and of those that these are made of: its one file for all of
 * them weighs as much again before the first screen stands. Nobody keeps a list: what the sources import is looked up.
 */
export function kitStyles(): Plugin {
  let sources = '';
  return {
    name: 'kit-styles',
    configResolved({ root }) {
      sources = join(root, 'src');
    },
    resolveId: (id) => (id === name ? `\0${name}` : null),
    load: async (id) => (id === `\0${name}` ? readKitStyles(sources) : null),
  };
}

async function readKitStyles(sources: string): Promise<string> {
  const used = new Set(always);
  const modules = await readExports();
  for (const component of await listImported(sources)) {
    const path = modules.get(component);
    if (path !== undefined) await followImports(path, { used, seen: new Set() });
  }
  const all = await readFile(join(kit, 'styles.css'), 'utf8');
  const parts: { text: string; place: number }[] = [];
  for (const file of await readdir(join(kit, 'styles'))) {
    if (!used.has(basename(file, '.css'))) continue;
    const text = (await readFile(join(kit, 'styles', file), 'utf8')).trim();
    parts.push({ text, place: all.indexOf(text) });
  }
  // A later rule of the same weight wins, so their order is that of the file of all.
  return parts
    .toSorted((one, other) => one.place - other.place)
    .map(({ text }) => text)
    .join('\n');
}

/** The names that the sources import from the kit. */
async function listImported(sources: string): Promise<Set<string>> {
  const entries = await readdir(sources, { recursive: true, withFileTypes: true });
  const names = new Set<string>();
  for (const { parentPath, name: file } of entries.filter((entry) => /\.tsx?$/.test(entry.name))) {
    const text = await readFile(join(parentPath, file), 'utf8');
    for (const [, list] of text.matchAll(/import \{([^}]*)\} from '@mantine\/core'/g))
      for (const word of list!.split(',')) names.add(word.trim().split(' ')[0]!);
  }
  return names;
}

/** Which module of the kit each of its names comes from. */
async function readExports(): Promise<Map<string, string>> {
  const index = await readFile(join(kit, 'esm', 'index.mjs'), 'utf8');
  const modules = new Map<string, string>();
  for (const [, list, path] of index.matchAll(/import \{([^}]*)\} from "(\.[^"]*)"/g))
    for (const word of list!.split(',')) modules.set(word.trim().split(' ')[0]!, join(kit, 'esm', path!));
  return modules;
}

/** A component's styles have the name of its module. */
async function followImports(path: string, { used, seen }: { used: Set<string>; seen: Set<string> }): Promise<void> {
  if (seen.has(path)) return;
  seen.add(path);
  used.add(basename(path, '.mjs'));
  const text = await readFile(path, 'utf8');
  for (const [, next] of text.matchAll(/from "(\.[^"]*)"/g))
    await followImports(join(dirname(path), next!), { used, seen });
}
