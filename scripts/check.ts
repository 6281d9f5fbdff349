/**
 * The whole check of this repository, in the order that fails fastest: types, format, lint, then every test (layers,
 * units, HTTP, database, browser). One command, on a clone with nothing but Node: `npm test`.
 *
 * Options: `--only <step>`, `--write` (format), and after `--` the arguments of the test runner
 * (`npm test -- --only test -- server/test/push`).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const node = process.execPath;
const bin = (name: string, file: string): string => join(root, 'node_modules', name, file);

const [parameters, testParameters] = splitAtDashes(process.argv.slice(2));
const onlyIndex = parameters.indexOf('--only');
const only = onlyIndex === -1 ? undefined : parameters[onlyIndex + 1];
const formatMode = parameters.includes('--write') ? '--write' : '--check';

const steps: Record<string, string[]> = {
  types: [bin('typescript', 'bin/tsc'), '-p', 'tsconfig.json'],
  'console types': [bin('typescript', 'bin/tsc'), '-p', 'console/tsconfig.json'],
  format: [bin('prettier', 'bin/prettier.cjs'), formatMode, '--log-level', 'warn', '.'],
  lint: [bin('eslint', 'bin/eslint.js'), '--max-warnings', '0', '.'],
  test: [bin('vitest', 'vitest.mjs'), 'run', ...testParameters],
};

if (only !== undefined && !(only in steps)) {
  process.stderr.write(`check: --only takes one of ${Object.keys(steps).join(', ')}\n`);
  process.exit(2);
}

for (const [name, command] of Object.entries(steps)) {
  if (only !== undefined && only !== name) continue;
  if (name === 'test') installSystemPackages();
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

/**
 * Some tests need what comes from Debian: Chromium for the console, nghttpd as an HTTP/2 server that is not ours. They
 * are installed where that is possible without asking (root on a machine with apt); elsewhere those tests skip and say so.
 */
function installSystemPackages(): void {
  const programs = { chromium: '/usr/bin/chromium', nghttp2: '/usr/sbin/nghttpd' };
  const missing = Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  if (missing.length === 0 || !existsSync('/usr/bin/apt-get') || process.getuid?.() !== 0) return;
  process.stdout.write(`\n== packages (${missing.join(', ')})\n`);
  const apt = (...words: string[]): boolean =>
    spawnSync('apt-get', ['-qq', ...words], { stdio: ['ignore', 'ignore', 'inherit'], timeout: 600_000 }).status === 0;
  const install = ['install', '-y', '--no-install-recommends', ...missing];
  if (!apt(...install) && !(apt('update') && apt(...install)))
    process.stdout.write(`${missing.join(', ')} could not be installed; the tests that need it will skip\n`);
}

function splitAtDashes(words: string[]): [string[], string[]] {
  const at = words.indexOf('--');
  return at === -1 ? [words, []] : [words.slice(0, at), words.slice(at + 1)];
}
