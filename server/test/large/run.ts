/**
 * Proves at their published size what CI proves smaller (`proofSize` in full-test.ts): a hundred thousand users, statements and so on.
 * Prints the runner's report. `--record` writes what passed, and how long it took, to docs/reports/large.txt. Ends with 1 if a
 * proof failed.
 *
 * Usage: npm run test:large -- --record
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readCommit } from '../read-commit.ts';
import { reportFolder } from '../rig/report.ts';

type Assertion = { fullName: string; status: string; duration?: number };
type Results = { testResults: { name: string; assertionResults: Assertion[] }[] };

/** The tests with a size. Their files have others, which CI runs as they are. */
const titles = [
  'figures ',
  'shares are what was asked',
  'in 95 of 100 seeds',
  'run side by side',
  'interleaved on one connection',
  'at any time of the start',
];
const root = join(import.meta.dirname, '..', '..', '..');
const { values } = parseArgs({ options: { record: { type: 'boolean', default: false } } });
const files = globSync('server/test/**/*.test.ts', { cwd: root }).filter((file) =>
  readFileSync(join(root, file), 'utf8').includes('proofSize('),
);
const folder = mkdtempSync(join(tmpdir(), 'carillon-large-'));
const resultsFile = join(folder, 'results.json');
const runner = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const words = ['run', '--configLoader', 'native', '-t', titles.join('|'), ...files];
const { status } = spawnSync(
  process.execPath,
  [runner, ...words, '--reporter=default', '--reporter=json', `--outputFile.json=${resultsFile}`],
  { cwd: root, stdio: 'inherit', env: { ...process.env, FULL: '1', LARGE: '1' } },
);
const { testResults } = JSON.parse(readFileSync(resultsFile, 'utf8')) as Results;
rmSync(folder, { recursive: true });
const proofs = testResults
  .flatMap(({ assertionResults }) => assertionResults)
  .filter(({ status: result }) => result === 'passed' || result === 'failed')
  .sort((left, right) => (left.fullName < right.fullName ? -1 : 1));
const missing = titles.filter((title) => !proofs.some(({ fullName }) => fullName.includes(title)));
for (const title of missing) process.stdout.write(`not found: ${title}\n`);
const isProved = status === 0 && missing.length === 0;
if (values.record && isProved) {
  const lines = proofs.map(
    ({ fullName, duration = 0 }) => `${(duration / 1_000).toFixed(0).padStart(5)} s  ${fullName}`,
  );
  const head = [
    'npm run test:large -- --record',
    '',
    `Commit ${readCommit()}. Each of these tests passed at its full size.`,
  ];
  writeFileSync(join(reportFolder, 'large.txt'), `${[...head, '', ...lines].join('\n')}\n`);
}
process.exit(isProved ? 0 : 1);
