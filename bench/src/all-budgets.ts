/**
 * Runs the measurements of all budgets with their peers, one after the other, and prints one table of the results: work, ours,
 * peer, ratio, goal, verdict. Nothing else should run on the machine meanwhile.
 *
 * Usage: npm run bench [-- --quick] [--record] [--only P1,P5]
 * `--quick` uses smaller sizes and two rounds: a preview, not a result. `--record` writes the measurements into the table of
 * docs/performance.md, where other budgets keep their rows, and the output into bench/results/.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Comparison } from './comparison.ts';
import { documentResults, presentComparisons } from './present-comparisons.ts';
import type { Results } from './present-comparisons.ts';

type Measurement = { budgets: string[]; name: string; words: string[]; quick: string[] };

const measurements: Measurement[] = [
  { budgets: ['P1'], name: 'transport', words: [], quick: ['--requests', '40000', '--rounds', '2'] },
  { budgets: ['P2'], name: 'web-push', words: [], quick: ['--messages', '1000', '--rounds', '2'] },
  { budgets: ['P3'], name: 'end-to-end', words: [], quick: ['--devices', '10000', '--rounds', '2'] },
  { budgets: ['P4'], name: 'accept', words: [], quick: ['--seconds', '2', '--rounds', '2'] },
  { budgets: ['P5'], name: 'tokens', words: [], quick: ['--seconds', '2', '--rounds', '2'] },
  {
    ...{ budgets: ['P6'], name: 'segment', words: [] },
    quick: ['--users', '200000', '--lines', '600000', '--matching', '80000', '--rounds', '2'],
  },
  { budgets: ['P7'], name: 'search', words: [], quick: ['--campaigns', '50000', '--pages', '10'] },
  { budgets: ['P8'], name: 'start', words: [], quick: ['--rounds', '2'] },
  {
    ...{ budgets: ['P9'], name: 'growth', words: ['--devices', '10000,100000,1000000,10000000'] },
    quick: ['--devices', '10000,50000', '--lines', '100000,1000000', '--sample', '50000'],
  },
  { budgets: ['P10'], name: 'latency', words: [], quick: ['--pushes', '100', '--devices', '20000'] },
];

const { values } = parseArgs({
  args: process.argv.slice(2).filter((word) => word !== 'all'),
  options: {
    quick: { type: 'boolean', default: false },
    record: { type: 'boolean', default: false },
    only: { type: 'string' },
  },
});
const refuse = (sentence: string): never => {
  process.stderr.write(`bench: ${sentence}\n`);
  process.exit(2);
};
const asked = values.only?.split(',') ?? measurements.flatMap(({ budgets }) => budgets);
const known = measurements.flatMap(({ budgets }) => budgets);
for (const budget of asked) if (!known.includes(budget)) refuse(`--only takes ${known.join(', ')}`);
if (values.record && values.quick) refuse('--record is of full sizes');

const root = join(import.meta.dirname, '..', '..');
const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-all-'));
const file = join(folder, 'comparisons');
let raw = '';
const failed: string[] = [];
try {
  await writeFile(file, '');
  for (const measurement of measurements.filter(({ budgets }) => budgets.some((budget) => asked.includes(budget))))
    await run(measurement);
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  const comparisons = lines.map((line) => JSON.parse(line) as Comparison);
  process.stdout.write(`\n${presentComparisons(comparisons)}\n`);
  if (values.record && failed.length === 0) await record(comparisons);
} finally {
  await rm(folder, { recursive: true, force: true });
}
for (const name of failed) process.stdout.write(`${name} ended with an error, and is not in the table\n`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function run({ name, words, quick }: Measurement): Promise<void> {
  const parameters = [name, ...(values.quick ? quick : words)];
  say(`\nnpm run bench -- ${parameters.join(' ')}\n`);
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'run.ts'), ...parameters],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, BENCH_COMPARISONS: file } },
  );
  child.stdout.setEncoding('utf8').on('data', say);
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) failed.push(name);
}

function say(text: string): void {
  raw += text;
  process.stdout.write(text);
}

async function record(comparisons: readonly Comparison[]): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const machine = `${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
  const measured = `${date}, at ${git.stdout.trim() || 'no commit'}, ${machine}`;
  const resultsPath = join(root, 'bench', 'results', 'comparisons.json');
  const results = JSON.parse(await readFile(resultsPath, 'utf8')) as Results;
  for (const budget of new Set(comparisons.map((comparison) => comparison.budget)))
    results[budget] = { measured, comparisons: comparisons.filter((comparison) => comparison.budget === budget) };
  await writeFile(resultsPath, `${JSON.stringify(results, null, 2)}\n`);
  const budgets = [...new Set(comparisons.map(({ budget }) => budget))].join('-');
  await writeFile(join(root, 'bench', 'results', `${date}-${budgets}.txt`), `${measured}\n${raw}`);
  const page = join(root, 'docs', 'performance.md');
  await writeFile(page, documentResults(await readFile(page, 'utf8'), results));
}
