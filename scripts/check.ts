/**
 * The whole check of this repository, in the order that fails fastest: types, format, lint, then every test (layers,
 * units, HTTP, database). One command, on a clone with nothing but Node: `npm test`.
 *
 * Options: `--only types|format|lint|schema|docs|test`, `--write` (format).
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const node = process.execPath;
const bin = (name: string, file: string): string => join(root, 'node_modules', name, file);

const parameters = process.argv.slice(2);
const onlyIndex = parameters.indexOf('--only');
const only = onlyIndex === -1 ? undefined : parameters[onlyIndex + 1];
const formatMode = parameters.includes('--write') ? '--write' : '--check';

const steps: Record<string, string[]> = {
  types: [bin('typescript', 'bin/tsc'), '-p', 'tsconfig.json'],
  'console types': [bin('typescript', 'bin/tsc'), '-p', 'console/tsconfig.json'],
  format: [bin('prettier', 'bin/prettier.cjs'), formatMode, '--log-level', 'warn', '.'],
  lint: [bin('eslint', 'bin/eslint.js'), '--max-warnings', '0', '.'],
  test: [bin('vitest', 'vitest.mjs'), 'run'],
};

if (only !== undefined && !(only in steps)) {
  process.stderr.write(`check: --only takes one of ${Object.keys(steps).join(', ')}\n`);
  process.exit(2);
}

for (const [name, command] of Object.entries(steps)) {
  if (only !== undefined && only !== name) continue;
  process.stdout.write(`\n== ${name}\n`);
  const { status } = spawnSync(node, ['--disable-warning=ExperimentalWarning', ...command], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) {
    process.stderr.write(`check: ${name} failed\n`);
    process.exit(status ?? 1);
  }
}
