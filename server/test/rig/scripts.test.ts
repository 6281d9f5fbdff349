import { globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const scripts = [
  ...['*/run.ts', 'deploy/debian/{run,play}.ts', 'citus/kill-coordinator.ts', 'nodes/lock-holder.ts'],
  ...['rig/{node,worker,collector-process}.ts', 'start/walk-places.ts'],
];

/** Files that are loaded with a file, and the packages that they import; types leave nothing. */
function load(file: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(file)) return seen;
  const imports = [
    ...readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b(?!\s+type\b)[^;]*?from '([^']+)'/gm),
  ].map(([, name]) => name!);
  seen.set(
    file,
    imports.filter((name) => !name.startsWith('.')),
  );
  for (const name of imports) if (name.startsWith('.')) load(join(dirname(file), name), seen);
  return seen;
}

test('no script of a rig loads vitest, which works in its own processes only', () => {
  const found = globSync(scripts, { cwd: root });
  expect(found.length).toBeGreaterThan(12);
  const wrong = found.flatMap((script) =>
    [...load(join(root, script))].flatMap(([file, packages]) =>
      packages.includes('vitest') ? [`${script} loads ${relative(root, file)}`] : [],
    ),
  );
  expect(wrong).toEqual([]);
});
