import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..', '..');
const { workspaces } = readJson<{ workspaces: string[] }>(join(root, 'package.json'));

function readJson<T>(path: string): T {
  return JSON.parse(readFileSync(path, 'utf8')) as T;
}

/** What code and scripts of a package import, by the file that does; the project itself has scripts and settings. */
function importsOf(workspace: string): { path: string; name: string }[] {
  const folder = join(root, workspace);
  const inFolders = ['src', 'test', 'scripts']
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .flatMap((path) => readdirSync(path, { recursive: true, encoding: 'utf8' }).map((name) => join(path, name)));
  const beside = readdirSync(folder).map((name) => join(folder, name));
  return [...inFolders, ...beside]
    .filter((path) => /\.(ts|tsx|js)$/.test(path))
    .flatMap((path) =>
      [...readFileSync(path, 'utf8').matchAll(/^(?:import|export)\b[^;]*?from\s+'([^']+)'|^import '([^']+)'/gm)].map(
        (match) => ({ path: relative(root, path), name: (match[1] ?? match[2])! }),
      ),
    );
}

test.each(['.', ...workspaces])('%s declares every package it imports', (workspace) => {
  const own = readJson<Record<string, Record<string, string> | undefined>>(join(root, workspace, 'package.json'));
  const declared = new Set(
    [own.dependencies, own.devDependencies, own.optionalDependencies].flatMap((names) => Object.keys(names ?? {})),
  );
  const imports = importsOf(workspace);
  expect(imports.length).toBeGreaterThan(3);
  const undeclared = imports
    // `virtual:` is what the console's own build makes.
    .filter(({ name }) => /^[@a-z]/.test(name) && !isBuiltin(name) && !name.startsWith('virtual:'))
    .map(({ path, name }) => ({ path, name: name.split('/', name.startsWith('@') ? 2 : 1).join('/') }))
    .filter(({ name }) => !declared.has(name));
  expect(undeclared).toEqual([]);
});
