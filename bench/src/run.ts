/**
 * Runs one case, or those of all budgets one after the other, and prints one table of the results: work, ours, peer, ratio,
 * goal, verdict. Nothing else should run on the machine meanwhile.
 *
 * Usage: npm run bench -- <case> [options of that case], or npm run bench [-- --quick] [--record] [--only P1,P5]
 * `--quick` uses smaller sizes and two rounds: a preview, not a result. `--record` writes the measurements into the table of
 * docs/performance.md, where other budgets keep their rows, and the output into bench/results/. `--help` lists the cases, and
 * after a case its options.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCase } from './kit/bench.ts';
import { UsageError, caseTable, describeCase, listCases, programs, readCaseOptions } from './kit/case-table.ts';
import type { CaseName, CaseRow } from './kit/case-table.ts';
import { documentResults, presentComparisons } from './kit/comparisons.ts';
import type { Comparison, Results } from './kit/comparisons.ts';

const root = join(import.meta.dirname, '..', '..');
const rows: [CaseName, CaseRow][] = Object.entries(caseTable) as [CaseName, CaseRow][];
const machine = `${cpus().length} × ${cpus()[0]!.model}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
const [first = '', ...words] = process.argv.slice(2);

try {
  if (first === '--help') process.stdout.write(listCases());
  else if (first === '' || first.startsWith('--')) await runBudgets(process.argv.slice(2));
  else await runOne(first, words);
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`bench: ${error.message}\n`);
  process.exitCode = 2;
}

async function runOne(name: string, given: readonly string[]): Promise<void> {
  if (!Object.hasOwn(caseTable, name)) throw new UsageError(`there is no case ${name}; --help lists them`);
  const known = name as CaseName;
  if (given.includes('--help')) return void process.stdout.write(describeCase(known));
  const options = readCaseOptions(known, given);
  for (const program of (caseTable[known] as CaseRow).needs ?? [])
    if (!existsSync(program))
      throw new UsageError(`${name} needs ${program} (Debian: apt install ${programs[program]})`);
  if ((caseTable[known] as CaseRow).kind !== 'tool') process.stdout.write(`machine: ${machine}\n`);
  await runCase(known, options);
}

async function runBudgets(given: readonly string[]): Promise<void> {
  const { quick, record, only } = readBudgetOptions(given);
  const folder = await mkdtemp(join(tmpdir(), 'carillon-bench-all-'));
  const file = join(folder, 'comparisons');
  const failed: string[] = [];
  let printed = '';
  const say = (text: string): void => {
    printed += text;
    process.stdout.write(text);
  };
  try {
    await writeFile(file, '');
    for (const [name, { budget, ofAll }] of rows) {
      if (!ofAll || !only.includes(budget!)) continue;
      const options = Object.entries(quick ? ofAll.quick : ofAll.full).flatMap(([option, value]) => [
        `--${option}`,
        `${value}`,
      ]);
      say(`\nnpm run bench -- ${[name, ...options].join(' ')}\n`);
      if (!(await runChild([name, ...options], { file, say }))) failed.push(name);
    }
    const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
    const comparisons = lines.map((line) => JSON.parse(line) as Comparison);
    process.stdout.write(`\n${presentComparisons(comparisons)}\n`);
    if (record && failed.length === 0) await recordResults(comparisons, printed);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  for (const name of failed) process.stdout.write(`${name} ended with an error, and is not in the table\n`);
  process.exitCode = failed.length > 0 ? 1 : 0;
}

function readBudgetOptions(args: readonly string[]): { quick: boolean; record: boolean; only: readonly string[] } {
  const options = { quick: { type: 'boolean' }, record: { type: 'boolean' }, only: { type: 'string' } } as const;
  const known = rows.flatMap(([, { budget, ofAll }]) => (ofAll ? [budget!] : []));
  let values;
  try {
    ({ values } = parseArgs({ args: [...args], options }));
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { quick = false, record = false } = values;
  const only = values.only?.split(',') ?? known;
  if (only.some((budget) => !known.some((one) => one === budget)))
    throw new UsageError(`--only takes ${known.join(', ')}`);
  if (quick && record) throw new UsageError('--record needs the full sizes, not --quick');
  return { quick, record, only };
}

/** Runs a case in a separate process. @returns false if it failed */
async function runChild(
  parameters: readonly string[],
  { file, say }: { file: string; say: (text: string) => void },
): Promise<boolean> {
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', import.meta.filename, ...parameters],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, BENCH_COMPARISONS: file },
    },
  );
  child.stdout.setEncoding('utf8').on('data', say);
  const [code] = (await once(child, 'close')) as [number | null];
  return code === 0;
}

async function recordResults(comparisons: readonly Comparison[], printed: string): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  const git = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: root, encoding: 'utf8' });
  const measured = `${date}, at ${git.stdout.trim() || 'no commit'}, ${machine}`;
  const resultsPath = join(root, 'bench', 'results', 'comparisons.json');
  const results = JSON.parse(await readFile(resultsPath, 'utf8')) as Results;
  const budgets = [...new Set(comparisons.map(({ budget }) => budget))];
  for (const budget of budgets)
    results[budget] = { measured, comparisons: comparisons.filter((comparison) => comparison.budget === budget) };
  await writeFile(resultsPath, `${JSON.stringify(results, null, 2)}\n`);
  await writeFile(join(root, 'bench', 'results', `${date}-${budgets.join('-')}.txt`), `${measured}\n${printed}`);
  const page = join(root, 'docs', 'performance.md');
  await writeFile(page, documentResults(await readFile(page, 'utf8'), results));
}
